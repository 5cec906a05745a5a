//go:build unix

package self_test

import (
	"testing"

	"github.com/openbraid/braid/transport"
	"golang.org/x/sys/unix"
)

// readable says whether fd polls readable within the time.
func readable(fd int, timeoutMS int) bool {
	for {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if n, err := unix.Poll(p, timeoutMS); err != unix.EINTR {
			return err == nil && n == 1
		}
	}
}

func TestBell(t *testing.T) {
	c := newCouple(t)
	fd := c.EventFD()
	f := &transport.Frame{ID: 1, Payload: make([]byte, 8), Done: c.x}
	is := func(what string, want bool) {
		t.Helper()
		if readable(fd, 0) != want {
			t.Errorf("%s: the descriptor is readable: %v", what, !want)
		}
	}
	deadline := func(what string, want bool) {
		t.Helper()
		if d := c.Deadline(); (d != 0) != want {
			t.Errorf("%s: Deadline %v", what, d)
		}
	}
	deadline("idle", false)
	is("idle", false)
	c.x.ep.Post(f)
	deadline("posted, not flushed: nobody may sleep", true)
	is("posted, not flushed", false)
	c.Flush()
	c.Flush()
	is("flushed", true)
	deadline("the descriptor says it", false)
	is("asked for the deadline with work to do", true)
	c.Progress()
	deadline("taken", false)
	is("taken, and asked for the deadline", false)

	for range 100 { // busy: it stays as it is
		c.x.ep.Post(f)
		c.Flush()
		is("busy", true)
		c.Progress()
		is("busy, between frames", true)
	}
	for range 100 { // who never asks for the deadline is told too
		c.Progress()
		c.Flush()
	}
	is("idle for a while", false)

	c.x.ep.Close() // nobody calls Flush
	is("closed by the peer", true)
	c.Progress()
	deadline("told", false)
	is("told", false)
	c.Close()
	if c.EventFD() != -1 {
		t.Errorf("EventFD after Close: %d", c.EventFD())
	}
	deadline("closed", false)
	c.Flush()
	c.Progress()
}

// TestBellInside: what a turn leaves to do is told by the Flush behind it.
func TestBellInside(t *testing.T) {
	c := newCouple(t)
	c.Deadline()
	f := &transport.Frame{ID: 1, Payload: make([]byte, 8), Done: c.y}
	c.x.reply, c.y.reply = &transport.Frame{ID: 1, Done: c.x}, f
	c.x.ep.Post(c.x.reply) // from now on they talk without end
	c.Progress()
	if readable(c.EventFD(), 0) {
		t.Error("no system call before Flush")
	}
	c.Flush()
	if !readable(c.EventFD(), 0) {
		t.Error("Progress left frames, the descriptor is not readable")
	}
}

// TestBellClosedInside: an endpoint that is closed in a callback makes no system call either.
func TestBellClosedInside(t *testing.T) {
	tl := newTale(t)
	tl.Deadline()
	tl.y.onFrame = func(*transport.Incoming) {
		tl.y.ep.Close()
		if readable(tl.EventFD(), 0) {
			t.Error("it was rung inside of Progress")
		}
	}
	tl.x.data(1)
	tl.Progress()
}

// TestBellAfterClose: the number of the descriptor is somebody else's after Close.
func TestBellAfterClose(t *testing.T) {
	f := &transport.Frame{ID: 1}
	for _, rung := range []bool{false, true} {
		c, d := newCouple(t), newCouple(t)
		f.Done = c.x
		c.x.ep.Post(f)
		if rung {
			c.Flush()
		}
		d.Close()
		fd := c.EventFD()
		c.Close()
		other := newCouple(t) // takes the lowest numbers
		another := newCouple(t)
		if other.EventFD() != fd && another.EventFD() != fd {
			t.Skip("the number was not used again")
		}
		if another.EventFD() == fd {
			other = another
		}
		other.Deadline()
		c.Flush()
		if readable(fd, 0) {
			t.Error("a closed interface wrote to somebody else's descriptor")
		}
		f.Done = other.x
		other.x.ep.Post(f)
		other.Flush()
		for range 100 {
			c.Progress()
			c.Deadline()
		}
		if !readable(fd, 0) {
			t.Error("a closed interface read from somebody else's descriptor")
		}
	}
}

// TestSleeper: somebody sleeps on the descriptor, another goroutine that owns the interface meanwhile posts.
func TestSleeper(t *testing.T) {
	c := newCouple(t)
	f := &transport.Frame{ID: 1, Payload: make([]byte, 8), Done: c.x}
	fd := c.EventFD()
	for range 100 {
		c.Deadline()
		woken := make(chan bool)
		go func() { woken <- readable(fd, 10_000) }()
		c.x.ep.Post(f)
		c.Flush()
		if !<-woken {
			t.Fatal("the sleeper was not woken")
		}
		c.Progress()
	}
	if c.x.executed != 100 {
		t.Errorf("%d executed", c.x.executed)
	}
}

// TestDescriptors: closed interfaces give theirs back.
func TestDescriptors(t *testing.T) {
	first := open(t)
	fd := first.EventFD()
	first.Close()
	for range 100 {
		f := open(t)
		if f.EventFD() > fd+8 {
			t.Fatalf("descriptor %d after %d: they leak", f.EventFD(), fd)
		}
		f.Close()
		f.Close()
	}
}
