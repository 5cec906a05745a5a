//go:build linux

package shm

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/transport"
)

// diary is a sink that notes what it is told.
type diary struct {
	plain
	told []string
}

func (d *diary) Frame(*transport.Incoming) { d.told = append(d.told, "frame") }
func (d *diary) Executed(_ uint64, err error) {
	if err != nil {
		d.told = append(d.told, err.Error())
		return
	}
	d.told = append(d.told, "executed")
}

func (d *diary) OnError(error) transport.Decision {
	d.told = append(d.told, "lost")
	return transport.Complete
}

func (d *diary) want(t *testing.T, when string, told ...string) {
	t.Helper()
	if !slices.Equal(d.told, told) {
		t.Fatalf("%s: told %q, want %q", when, d.told, told)
	}
	d.told = nil
}

// answered has the client post a frame, and the peer answer with one that acknowledges it; the client has not looked.
func answered(t *testing.T, s *shop, client *diary, server *endpoint) {
	t.Helper()
	f := transport.Frame{ID: 9, Payload: []byte("question"), Done: client}
	if got := client.ep.Post(&f); got != transport.Done {
		t.Fatal(got)
	}
	s.borrow.Flush()
	before := server.recv.accepted
	s.until("the question", func() bool { return server.recv.accepted > before })
	f = transport.Frame{ID: 9, Payload: []byte("answer")}
	if got := server.Post(&f); got != transport.Done {
		t.Fatal(got)
	}
	s.own.Flush()
}

// readable says whether an interface has something for who sleeps.
func readable(f *iface) bool {
	n, _ := unix.Poll([]unix.PollFd{{Fd: int32(f.EventFD()), Events: unix.POLLIN}}, 0)
	return n == 1
}

// TestHeard: who polls takes the answer first and the end of what it answers in the next turn; who sleeps, or loses the peer, leaves nothing for later.
func TestHeard(t *testing.T) {
	s := newShop(t, 4096)
	client := &diary{}
	var err error
	if client.ep, err = s.borrow.Dial("", s.l.Addr(), transport.Options{}, client); err != nil {
		t.Fatal(err)
	}
	s.until("a connection", func() bool { return client.up && s.server.ep != nil })
	server := s.server.ep.(*endpoint)
	client.ep.Admit(maxFrame, true)
	server.Admit(maxFrame, true)
	s.own.Watch(false)

	s.borrow.Watch(false)
	answered(t, s, client, server)
	s.borrow.Progress()
	client.want(t, "who polls, at once", "frame")
	if n := s.borrow.Progress(); n == 0 {
		t.Error("the turn that ends what was acknowledged says that it did nothing")
	}
	client.want(t, "who polls, then", "executed")

	answered(t, s, client, server)
	s.borrow.Progress()
	client.want(t, "before sleep", "frame")
	s.borrow.Flush()
	if s.borrow.events(); readable(s.borrow) {
		t.Fatal("the bell rings before anybody is about to sleep")
	}
	s.borrow.Watch(true)
	if at := s.borrow.Deadline(); at == 0 || at > s.borrow.env.Now() || !readable(s.borrow) {
		t.Errorf("who is about to sleep has something to do: deadline %v, readable %v", at, readable(s.borrow))
	}
	client.want(t, "outside of a turn")
	s.borrow.Progress()
	client.want(t, "about to sleep", "executed")

	answered(t, s, client, server)
	s.borrow.Progress()
	client.want(t, "who sleeps", "frame", "executed")

	s.borrow.Watch(false)
	answered(t, s, client, server)
	client.ep.Admit(100, true)
	server.Post(&transport.Frame{ID: 9, Payload: make([]byte, 200)})
	s.borrow.Progress()
	client.want(t, "whose peer breaks the rules right behind it", "frame", "executed", "lost")
}
