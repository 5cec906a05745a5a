package braid_test

import (
	"context"
	"fmt"
	"time"

	"github.com/openbraid/braid"
)

// "Tell me when a message arrived": the handler says so on a channel. The program sleeps in between, and so does the library. Nobody
// calls Progress.
func ExampleWorker_HandleAM() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	ln, err := braid.Listen("127.0.0.1:0")
	check(err)
	defer ln.Close()
	arrived := make(chan string, 16) // room, so that the handler need not wait for who reads it
	ln.Worker().HandleAM(1, func(m *braid.Message) {
		select {
		case arrived <- string(m.Payload()): // the payload is copied: it is the library's after the handler
		case <-ctx.Done():
		}
	})

	ep, err := braid.Dial(ctx, ln.Addr())
	check(err)
	check(ep.SendAM(ctx, 1, nil, []byte("wake up")))
	select {
	case text := <-arrived:
		fmt.Println(text)
	case <-ctx.Done():
		fmt.Println(ctx.Err())
	}
	check(ep.Close(ctx))

	// Output: wake up
}

// A server whose worker is owned by one goroutine, and that sleeps while it has nothing to do.
func ExampleWorker_Sleep() {
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

	for !over {
		for w.Progress() > 0 {
		}
		if !over {
			check(w.Sleep(ctx))
		}
	}

	// Output: got a message
}

// send is the other program.
func send(ctx context.Context, addr, text string) {
	ep, err := braid.Dial(ctx, addr)
	check(err)
	check(ep.SendAM(ctx, 1, nil, []byte(text)))
	_ = ep.Close(ctx) // the server may have gone first
}
