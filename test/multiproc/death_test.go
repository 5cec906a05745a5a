package multiproc

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// bound is how soon an end must be known whose time is configured as some hundred milliseconds. The defaults are 5 to 40 s.
const bound = 4 * time.Second

// hasty are times of a dialer that wants to know soon.
func hasty() braid.Times {
	return braid.Times{
		Handshake: 400 * time.Millisecond, Suspended: 400 * time.Millisecond, Peer: 600 * time.Millisecond, Keepalive: 100 * time.Millisecond,
		Close: 400 * time.Millisecond, RedialMin: 10 * time.Millisecond, RedialMax: 50 * time.Millisecond,
	}
}

// open is this process's side.
func open(t testing.TB, o braid.Options) *braid.Worker {
	t.Helper()
	n, err := braid.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	w, err := n.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func dial(t testing.TB, w *braid.Worker, addr string) *braid.Endpoint {
	t.Helper()
	ep, err := w.Dial(within(t, patience), addr)
	if err != nil {
		t.Fatal(err)
	}
	return ep
}

// tally counts events by kind.
type tally [braid.Failed + 1]atomic.Int32

func (c *tally) note(e braid.Event)          { c[e.Kind].Add(1) }
func (c *tally) of(k braid.EventKind) int32  { return c[k].Load() }
func (c *tally) soon(k braid.EventKind) bool { return eventually(func() bool { return c.of(k) > 0 }) }
func eventually(what func() bool) bool       { return eventuallyIn(patience, what) }
func eventuallyIn(d time.Duration, what func() bool) bool {
	for end := time.Now().Add(d); !what(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// TestA1_KillReceiver: the receiver vanishes in mid transfer. Every operation ends with the reason, soon, and the process lives.
func TestA1_KillReceiver(t *testing.T) {
	for _, c := range []struct {
		name string
		mode braid.ErrorMode
		how  syscall.Signal
		want error
	}{
		{"failover killed", braid.Failover, syscall.SIGKILL, braid.ErrPeerFailed},
		{"failover stopped", braid.Failover, syscall.SIGSTOP, braid.ErrPeerFailed},
		{"peer killed", braid.Peer, syscall.SIGKILL, braid.ErrLaneFailed},
		{"none killed", braid.None, syscall.SIGKILL, braid.ErrLaneFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			begin(t)
			var events tally
			receiver := start(t, job{Role: "serve", Addr: "127.0.0.1:0", Size: 8 << 20})
			key, err := parseKey(receiver.expect("key"))
			if err != nil {
				t.Fatal(err)
			}
			w := open(t, braid.Options{ErrorMode: c.mode, Times: hasty(), OnEvent: events.note})
			ep := dial(t, w, receiver.expect("addr"))
			posted := flood(ep, key)
			for range 3 {
				receiver.expect("got")
			}
			receiver.signal(c.how)
			since := time.Now()
			failed := endAll(t, posted, c.want)
			if took := time.Since(since); took > bound {
				t.Errorf("the last operation ended after %v, bound %v", took, bound)
			}
			if failed == 0 {
				t.Error("nothing was under way: the test missed its moment")
			}
			if err := ep.Err(); !errors.Is(err, c.want) {
				t.Errorf("Err: %v, want %v", err, c.want)
			}
			if err := ep.Close(within(t, bound)); !errors.Is(err, c.want) {
				t.Errorf("Close: %v, want %v", err, c.want)
			}
			if !events.soon(braid.Failed) || events.of(braid.Failed) != 1 {
				t.Errorf("%d events Failed, want 1", events.of(braid.Failed))
			}
			receiver.kill()
			again := dial(t, w, start(t, job{Role: "serve", Addr: "127.0.0.1:0"}).expect("addr"))
			if err := again.Close(within(t, bound)); err != nil {
				t.Errorf("the worker is of no use any more: %v", err)
			}
		})
	}
}

// flood posts more than the receiver has taken when the test strikes, of each kind.
func flood(ep *braid.Endpoint, key braid.RKey) (posted []braid.Request) {
	payload := pattern(make([]byte, 4<<20), 3)
	for range 64 {
		posted = append(posted, ep.PostAM(amCount, nil, payload), ep.PostPut(payload, key, 1<<20))
	}
	return append(posted, ep.PostFlush())
}

// endAll waits for each operation and returns how many failed; for no other reason than the one wanted.
func endAll(t *testing.T, posted []braid.Request, want error) (failed int) {
	t.Helper()
	ctx := within(t, patience)
	for i, r := range posted {
		err := r.Wait(ctx)
		var op *braid.OpError
		switch {
		case err == nil:
		case !errors.Is(err, want) || !errors.As(err, &op):
			t.Fatalf("operation %d: %v, want %v", i, err, want)
		default:
			failed++
		}
	}
	return failed
}

// TestA4_PeerDiesInClose: the peer is killed while the two agree to close. Close returns within its context.
func TestA4_PeerDiesInClose(t *testing.T) {
	const limit = 400 * time.Millisecond
	for _, c := range []struct {
		name    string
		stopped bool // before the close, so that the agreement certainly hangs
		after   time.Duration
	}{
		{"before", false, -1}, {"at once", false, 0}, {"soon", false, 300 * time.Microsecond}, {"later", false, 2 * time.Millisecond},
		{"while it hangs", true, 50 * time.Millisecond}, {"never", true, time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			begin(t)
			peer := start(t, job{Role: "serve", Addr: "127.0.0.1:0"})
			w := open(t, braid.Options{})
			ep := dial(t, w, peer.expect("addr"))
			if c.stopped {
				peer.signal(syscall.SIGSTOP)
			}
			if c.after < 0 {
				peer.kill()
			} else {
				killer := time.AfterFunc(c.after, func() { peer.signal(syscall.SIGKILL) })
				defer killer.Stop()
			}
			ep.PostAM(amCount, nil, []byte("last words")).Release()
			since := time.Now()
			err := ep.Close(within(t, limit))
			if took := time.Since(since); took > limit+bound/2 {
				t.Errorf("Close took %v, its context %v", took, limit)
			}
			if c.stopped && err == nil {
				t.Error("Close: no error, and nobody was there to agree")
			}
			if err != nil && !errors.Is(err, braid.ErrPeerFailed) && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Close: %v", err)
			}
			if err := ep.Close(within(t, limit)); !errors.Is(err, braid.ErrClosed) {
				t.Errorf("second Close: %v, want %v", err, braid.ErrClosed)
			}
		})
	}
}

// TestA20_IdleLearnsOfDeath: nothing is under way when the peer goes. It is told all the same.
func TestA20_IdleLearnsOfDeath(t *testing.T) {
	for _, how := range []string{"exit", "kill"} {
		t.Run(how, func(t *testing.T) {
			begin(t)
			var events tally
			peer := start(t, job{Role: "serve", Addr: "127.0.0.1:0"})
			ep := dial(t, open(t, braid.Options{Times: hasty(), OnEvent: events.note}), peer.expect("addr"))
			since := time.Now()
			if how == "exit" {
				peer.tell("exit")
				peer.exits()
			} else {
				peer.kill()
			}
			if !events.soon(braid.Failed) {
				t.Fatal("nobody told")
			}
			if took := time.Since(since); took > bound {
				t.Errorf("told after %v", took)
			}
			if err := ep.SendAM(within(t, bound), amCount, nil, nil); !errors.Is(err, braid.ErrPeerFailed) {
				t.Errorf("SendAM: %v, want %v", err, braid.ErrPeerFailed)
			}
		})
	}
}

// TestC2_RestartedServer: one of two servers is killed and started again on its port. Its old endpoint says that this is
// another process now; the other server's does not notice; a new one is had without restarting the client.
func TestC2_RestartedServer(t *testing.T) {
	ctx := begin(t)
	var events tally
	w := open(t, braid.Options{Times: braid.Times{Handshake: time.Second, RedialMin: 10 * time.Millisecond, RedialMax: 50 * time.Millisecond}, OnEvent: events.note})
	first, other := start(t, job{Role: "serve", Addr: "127.0.0.1:0"}), start(t, job{Role: "serve", Addr: "127.0.0.1:0"})
	addr := first.expect("addr")
	ep, bystander := dial(t, w, addr), dial(t, w, other.expect("addr"))

	for round := range 2 {
		first.kill()
		if !events.soon(braid.Suspended) {
			t.Fatal("the loss was not noticed")
		}
		waiting := ep.PostAM(amCount, nil, []byte("for the dead one"))
		first = start(t, job{Role: "serve", Addr: addr})
		if got := first.expect("addr"); got != addr {
			t.Fatalf("restarted on %s, was on %s", got, addr)
		}
		if err := waiting.Wait(ctx); !errors.Is(err, braid.ErrPeerRestarted) {
			t.Fatalf("round %d: the waiting message: %v, want %v", round, err, braid.ErrPeerRestarted)
		} else if !strings.Contains(err.Error(), addr) {
			t.Errorf("the error does not name the peer: %v", err)
		}
		if err := ep.Flush(ctx); !errors.Is(err, braid.ErrPeerRestarted) {
			t.Errorf("Flush: %v, want %v", err, braid.ErrPeerRestarted)
		}
		ep = dial(t, w, addr)
		if err := bystander.Flush(ctx); err != nil {
			t.Errorf("the other server's endpoint: %v", err)
		}
		events[braid.Suspended].Store(0)
	}
	if err := ep.SendAM(ctx, amCount, nil, []byte("for the living")); err != nil {
		t.Fatal(err)
	}
	if n := first.number("got"); n != 1 {
		t.Errorf("the restarted server handled %d messages: the dead one's were sent to it", n)
	}
	for _, ep := range []*braid.Endpoint{ep, bystander} {
		if err := ep.Close(ctx); err != nil {
			t.Error(err)
		}
	}
}
