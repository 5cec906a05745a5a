package braid_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/tcp"
)

// While a worker is polled nobody waits for its descriptors, and they don't tell of arrivals. These tests poll for a while, stop, and wait
// for one message in each of the ways there are.

// polling so many turns is long enough for any worker to notice that it is polled.
const polling = 2000

// TestSleepAfterPolling: an owner who polled and now sleeps is woken, whether the message comes before or while he sleeps.
func TestSleepAfterPolling(t *testing.T) {
	for _, before := range []bool{true, false} {
		o := connectPolled(t, braid.Options{Owned: true, Times: braid.Times{Keepalive: time.Hour}})
		got := false
		o.aw.HandleAM(1, func(*braid.Message) { got = true })
		for range polling {
			o.turn()
		}
		sent := make(chan struct{})
		send := func() {
			o.b.PostAM(1, nil, nil).Release()
			o.bw.Progress()
			close(sent)
		}
		if before {
			send()
		} else {
			time.AfterFunc(20*time.Millisecond, send)
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		for !got && ctx.Err() == nil {
			for ctx.Err() == nil && o.aw.Sleep(ctx) == nil && o.aw.Progress() == 0 {
			}
		}
		cancel()
		if !got {
			t.Errorf("sent before the sleep: %v: nobody woke", before)
		}
		<-sent
	}
}

// TestWaitAfterPolling: so does a blocking call that comes to sleep.
func TestWaitAfterPolling(t *testing.T) {
	o := connectPolled(t, braid.Options{Owned: true, ErrorMode: braid.None, Times: braid.Times{Keepalive: time.Hour}, Wait: braid.WaitSleep}) // no probes, which would wake it
	for range polling {
		o.turn()
	}
	o.bw.HandleAM(1, func(*braid.Message) {})
	o.a.PostAM(1, nil, nil).Release()
	answered := make(chan struct{})
	time.AfterFunc(100*time.Millisecond, func() { // later than he looks by himself
		defer close(answered)
		for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); {
			o.bw.Progress()
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := o.a.Flush(ctx); err != nil {
		t.Error(err)
	}
	<-answered
}

// TestKeeperAfterPolling: in a Shared worker the library's goroutine is back on watch when who polled stops, without a word.
func TestKeeperAfterPolling(t *testing.T) {
	quiet := braid.Options{Times: braid.Times{Keepalive: time.Hour}}
	p := connect(t, quiet, quiet)
	got := make(chan struct{}, 1<<16)
	p.aw.HandleAM(1, func(*braid.Message) { got <- struct{}{} })
	for range 3 {
		for end := time.Now().Add(30 * time.Millisecond); time.Now().Before(end); p.aw.Progress() {
			if len(got) < 100 { // arrivals wake the keeper, which finds that others poll
				p.b.PostAM(1, nil, nil).Release()
			}
		}
		time.Sleep(20 * time.Millisecond)
		for len(got) > 0 {
			<-got
		}
		p.b.PostAM(1, nil, nil).Release()
		select {
		case <-got:
		case <-time.After(patience):
			t.Fatal("the keeper did not wake")
		}
	}
}

// witness is a transport that notes what it is told about who waits for its descriptor.
type witness struct {
	transport.Transport
	mu   sync.Mutex
	said []bool
}

type witnessed struct {
	transport.Iface
	w *witness
}

func (w *witness) Open(env transport.Env) (transport.Iface, error) {
	i, err := w.Transport.Open(env)
	return &witnessed{i, w}, err
}

func (i *witnessed) Watch(on bool) {
	i.w.mu.Lock()
	if n := len(i.w.said); n == 0 || i.w.said[n-1] != on {
		i.w.said = append(i.w.said, on)
	}
	i.w.mu.Unlock()
	i.Iface.Watch(on)
}

// changes is how often that has changed, and on how it stands.
func (w *witness) changes() (n int, on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n = len(w.said)
	return n, n == 0 || w.said[n-1]
}

// TestPolledIsUnwatched: who polls for a while has nobody watch for him, again after each sleep; that is worth a tenth of the latency.
func TestPolledIsUnwatched(t *testing.T) {
	for _, owned := range []bool{true, false} {
		see := &witness{Transport: tcp.New(tcp.Options{})}
		p := connect(t, braid.Options{Owned: owned, Transports: []transport.Transport{see}, ErrorMode: braid.None}, braid.Options{ErrorMode: braid.None})
		var got atomic.Bool
		p.aw.HandleAM(1, func(*braid.Message) { got.Store(true) })
		for round := range 3 {
			before, _ := see.changes()
			if !eventually(func() bool { // arrivals wake the keeper of a Shared worker, which finds that others poll
				p.b.PostAM(1, nil, nil).Release()
				for range polling {
					p.aw.Progress()
				}
				n, on := see.changes()
				return n > before && !on
			}) {
				t.Fatalf("owned %v, round %d: polled, and watched all the time", owned, round)
			}
			before, _ = see.changes()
			if owned {
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
				for p.aw.Progress() > 0 || p.aw.Sleep(ctx) == nil {
				}
				cancel()
			}
			if !eventually(func() bool { n, _ := see.changes(); return n > before }) {
				t.Fatalf("owned %v, round %d: asleep, and not watched", owned, round)
			}
		}
		if !got.Load() {
			t.Error("no message came")
		}
	}
}
