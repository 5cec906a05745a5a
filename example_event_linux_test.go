package braid_test

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid"
)

// An event loop of one's own, with other descriptors in it. Arm comes right before each sleep.
func ExampleWorker_EventFD() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	server, err := braid.Open(braid.Options{Owned: true})
	check(err)
	defer server.Close()
	w, err := server.NewWorker()
	check(err)
	over := false
	w.HandleAM(1, func(m *braid.Message) {
		fmt.Println("got", string(m.Payload()))
		over = true
	})
	ln, err := w.Listen("127.0.0.1:0")
	check(err)
	go send(ctx, ln.Addr(), "a message")

	set, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	check(err)
	defer unix.Close(set)
	fd, err := w.EventFD()
	check(err)
	check(unix.EpollCtl(set, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}))
	// ... and whatever else the program waits for

	for {
		for w.Progress() > 0 {
		}
		if over {
			break
		}
		if !w.Arm() {
			continue // something came meanwhile
		}
		var events [8]unix.EpollEvent
		if _, err := unix.EpollWait(set, events[:], -1); err != unix.EINTR {
			check(err)
		}
	}

	// Output: got a message
}
