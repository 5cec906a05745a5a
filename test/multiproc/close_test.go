package multiproc

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// inOrder counts messages that are whole and come in order.
type inOrder struct {
	t    testing.TB
	next atomic.Uint64
}

func (c *inOrder) handle(m *braid.Message) {
	number, err := checked(m)
	if err != nil {
		c.t.Error(err)
	}
	if next := c.next.Load(); number != next {
		c.t.Errorf("message %d came, %d was due", number, next)
	}
	c.next.Store(number + 1)
}

// TestA3_FlushCloseExit: who sends, flushes, closes and exits has delivered all of it, each time.
func TestA3_FlushCloseExit(t *testing.T) {
	begin(t)
	times := 12
	if testing.Short() {
		times = 4
	}
	rails := []string(nil)
	if runtime.GOOS == "linux" { // has all of 127.0.0.0/8
		rails = []string{"127.0.0.1", "127.0.0.2"}
	}
	w := open(t, braid.Options{Rails: rails})
	ln, err := w.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	for i := range times {
		const messages = 1000
		j := job{Role: "send", Addr: ln.Addr(), Count: messages, Size: 2000}
		if i%2 == 1 {
			j.Rails = rails
		}
		got := receive(t, w, ln, j)
		if got != messages {
			t.Fatalf("process %d: received %d of %d", i, got, messages)
		}
	}
}

// receive starts a sender, takes what it has to say, and waits until it has ended.
func receive(t *testing.T, w *braid.Worker, ln *braid.Listener, j job) int {
	t.Helper()
	count := &inOrder{t: t}
	w.HandleAM(amCheck, count.handle)
	sender := start(t, j)
	ep, err := ln.Accept(within(t, patience))
	if err != nil {
		t.Fatal(err)
	}
	sender.exits()
	eventuallyIn(bound, func() bool { return count.next.Load() >= uint64(j.Count) })
	if err := ep.Close(within(t, bound)); err != nil {
		t.Errorf("the sender closed in peace, but Close here: %v", err)
	}
	return int(count.next.Load())
}

// TestA2_CloseDelivers: a close right after posting loses nothing, whatever is still under way.
func TestA2_CloseDelivers(t *testing.T) {
	begin(t)
	w := open(t, braid.Options{})
	ln, err := w.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const messages = 100
	sender := job{Role: "close", Addr: ln.Addr(), Count: messages, Size: 1 << 20}
	if got := receive(t, w, ln, sender); got != messages {
		t.Fatalf("received %d of %d", got, messages)
	}
}

// TestA6_OneSidedClose: the other side never makes progress. Close ends all the same: by its context or by Times.Close.
func TestA6_OneSidedClose(t *testing.T) {
	for _, c := range []struct {
		name  string
		ctx   time.Duration
		times braid.Times
		want  error
	}{
		{"Times.Close", patience, braid.Times{Close: 200 * time.Millisecond}, braid.ErrPeerFailed},
		{"context", 200 * time.Millisecond, braid.Times{}, context.DeadlineExceeded},
	} {
		for _, how := range []string{"no progress", "stopped"} {
			t.Run(c.name+" "+how, func(t *testing.T) {
				begin(t)
				server := start(t, job{Role: "serve owned", Addr: "127.0.0.1:0"})
				ep := dial(t, open(t, braid.Options{Times: c.times}), server.expect("addr"))
				server.expect("accepted")
				if how == "stopped" {
					server.signal(syscall.SIGSTOP)
				} else {
					server.tell("freeze")
					server.expect("frozen")
				}
				ep.PostAM(amCount, nil, []byte("unheard")).Release()
				since := time.Now()
				err := ep.Close(within(t, c.ctx))
				if took := time.Since(since); took > bound {
					t.Errorf("Close took %v", took)
				}
				var op *braid.OpError
				if !errors.Is(err, c.want) || !errors.As(err, &op) || op.Fate != braid.Unknown {
					t.Errorf("Close: %v, want %v, fate unknown", err, c.want)
				}
			})
		}
	}
}
