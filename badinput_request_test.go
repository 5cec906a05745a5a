package braid_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// TestRequestEnds: a request ends once. After that each copy says that it is over, and none of them touches what its
// memory is used for now.
func TestRequestEnds(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	mem, err := p.bn.Register(make([]byte, 4<<20)) // not lent: a put there takes a while
	if err != nil {
		t.Fatal(err)
	}
	key, src := mem.Key(braid.Write), make([]byte, 4<<20)
	for _, c := range []struct {
		name string
		end  func(braid.Request)
	}{
		{"Wait", func(r braid.Request) {
			if err := r.Wait(ctx); err != nil {
				t.Error(err)
			}
		}},
		{"Release", braid.Request.Release},
		{"Then", func(r braid.Request) { r.Then(func(error) {}) }},
		{"a context that is over", func(r braid.Request) {
			over, cancel := context.WithCancel(ctx)
			cancel()
			if err := r.Wait(over); err != nil && !errors.Is(err, context.Canceled) { // nil: it had ended before
				t.Errorf("Wait: %v", err)
			}
		}},
	} {
		r := p.a.PostPut(src, key, 0)
		copied := r
		c.end(r)
		other := p.a.PostPut(src, key, 0) // perhaps in the same memory
		for _, r := range []braid.Request{r, copied} {
			if err := r.Wait(ctx); !errors.Is(err, braid.ErrRequest) {
				t.Errorf("Wait after %s: %v, want %v", c.name, err, braid.ErrRequest)
			}
			if done, err := r.Test(); !done || !errors.Is(err, braid.ErrRequest) {
				t.Errorf("Test after %s: %v, %v, want %v", c.name, done, err, braid.ErrRequest)
			}
			r.Cancel()
			r.Release()
			told := make(chan error, 2)
			r.Then(func(err error) { told <- err })
			select {
			case err := <-told:
				if !errors.Is(err, braid.ErrRequest) {
					t.Errorf("Then after %s: %v, want %v", c.name, err, braid.ErrRequest)
				}
			case <-ctx.Done():
				t.Fatalf("Then after %s: calls nobody, and who counts on it waits for ever", c.name)
			}
		}
		if err := other.Wait(ctx); err != nil {
			t.Errorf("the next operation was hurt: %v", err)
		}
		if err := p.a.Flush(ctx); err != nil {
			t.Fatal(err)
		}
	}
	var zero braid.Request
	zero.Cancel()
	zero.Release()
	if done, err := zero.Test(); !done || err != nil || zero.Wait(ctx) != nil {
		t.Error("the zero Request is one that ended well")
	}
}

// TestWaitTogether: two wait for one request. One gets its end, the other is told that it was given back; nobody hangs.
func TestWaitTogether(t *testing.T) {
	tidy(t)
	p := connect(t, braid.Options{}, braid.Options{})
	mem, err := p.bn.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	key, src := mem.Key(braid.Write), make([]byte, 1<<20)
	for range 50 {
		r := p.a.PostPut(src, key, 0)
		var ends [2]error
		var both sync.WaitGroup
		for i := range ends {
			both.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				defer cancel()
				ends[i] = r.Wait(ctx)
			})
		}
		both.Wait()
		for _, err := range ends {
			if err != nil && !errors.Is(err, braid.ErrRequest) {
				t.Fatalf("%v, want nil or %v", err, braid.ErrRequest)
			}
		}
		if ends[0] != nil && ends[1] != nil {
			t.Fatalf("nobody was told the end: %v, %v", ends[0], ends[1])
		}
	}
}

// jam makes the peer take nothing: its handler stands still, and its backlog is full. The lanes are filled up, so that what
// is posted from now on waits here.
func jam(t *testing.T) (p *pair, gate chan struct{}, filler []braid.Request) {
	t.Helper()
	gate = make(chan struct{})
	p = connect(t, braid.Options{Limits: braid.Limits{Window: 64 << 10}}, braid.Options{Limits: braid.Limits{Backlog: 1}})
	entered := make(chan struct{})
	var once sync.Once
	p.bw.HandleAM(1, func(m *braid.Message) {
		once.Do(func() { close(entered) })
		<-gate
	})
	p.bw.HandleAM(2, func(m *braid.Message) { t.Error("a canceled message came") })
	if err := p.a.SendAM(testContext(t), 1, nil, []byte{1}); err != nil {
		t.Fatal(err)
	}
	<-entered
	for range 8 {
		filler = append(filler, p.a.PostAM(1, nil, make([]byte, 60<<10)))
	}
	return p, gate, filler
}

// TestCancel: what waits here ends at once, not executed, and never arrives; what is on a lane ends as it would have.
func TestCancel(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p, gate, filler := jam(t)
	mem, err := p.bn.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	fill(mem.Bytes(), 0xa5)
	other, err := p.bn.Alloc(32 << 10)
	if err != nil {
		t.Fatal(err)
	}
	posted := p.a.PostPut(make([]byte, 32<<10), other.Key(braid.Write), 0)
	queuedAM := p.a.PostAM(2, nil, make([]byte, 1000))
	queuedPut := p.a.PostPut(make([]byte, 1<<20), mem.Key(braid.Write), 0)
	for name, r := range map[string]braid.Request{"am": queuedAM} {
		r.Cancel()
		r.Cancel()
		done, err := r.Test()
		var op *braid.OpError
		if !done || !errors.Is(err, braid.ErrCanceled) || !errors.As(err, &op) || op.Fate != braid.NotExecuted || op.Op != name {
			t.Errorf("%s: %v, %v, want %v, not executed", name, done, err, braid.ErrCanceled)
		}
		if err := r.Wait(ctx); !errors.Is(err, braid.ErrCanceled) {
			t.Errorf("%s: Wait: %v", name, err)
		}
	}
	queuedPut.Cancel() // a part of it may be on a lane already: then it is executed
	posted.Cancel()    // is on the lane
	filler[0].Cancel() // waits until the receiver may take it
	flush := p.a.PostFlush()
	flush.Cancel()
	if err := flush.Wait(ctx); !errors.Is(err, braid.ErrCanceled) {
		t.Errorf("flush: %v, want %v", err, braid.ErrCanceled)
	}
	close(gate)
	if err := filler[0].Wait(ctx); !errors.Is(err, braid.ErrCanceled) {
		t.Errorf("waiting for the receiver: %v, want %v", err, braid.ErrCanceled)
	}
	for _, r := range filler[1:] {
		if err := r.Wait(ctx); err != nil {
			t.Error(err)
		}
	}
	if err := posted.Wait(ctx); err != nil {
		t.Errorf("posted: %v, it was on its way", err)
	}
	putErr := queuedPut.Wait(ctx)
	if putErr != nil && !errors.Is(putErr, braid.ErrCanceled) {
		t.Error(putErr)
	}
	if err := p.a.Flush(ctx); err != nil {
		t.Error(err)
	}
	p.bw.Progress()
	var want byte = 0xa5
	if putErr == nil {
		want = 0
	}
	if !allEqual(mem.Bytes(), want) {
		t.Errorf("the put ended with %v, and the memory does not look so", putErr)
	}
}

// TestGiveUpQueued: a context ends while an operation waits here: it is not executed.
func TestGiveUpQueued(t *testing.T) {
	tidy(t)
	p, gate, filler := jam(t)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	header, payload := []byte("header"), make([]byte, 1000)
	err := p.a.SendAM(ctx, 2, header, payload)
	var op *braid.OpError
	if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &op) || op.Fate != braid.NotExecuted {
		t.Errorf("%v, want %v, not executed", err, context.DeadlineExceeded)
	}
	close(gate)
	for _, r := range filler {
		if err := r.Wait(testContext(t)); err != nil {
			t.Error(err)
		}
	}
	if err := p.a.Flush(testContext(t)); err != nil {
		t.Error(err)
	}
}

// TestBackPressure: when too many operations wait, posting says so and blocking calls wait, not longer than their context.
func TestBackPressure(t *testing.T) {
	tidy(t)
	const pending = 10
	gate := make(chan struct{})
	p := connect(t, braid.Options{Limits: braid.Limits{Window: 64 << 10, Pending: pending}}, braid.Options{Limits: braid.Limits{Backlog: 1}})
	p.bw.HandleAM(1, func(*braid.Message) { <-gate })
	var waiting []braid.Request
	var refused error
	for range 10000 {
		r := p.a.PostAM(1, nil, make([]byte, 40<<10))
		if done, err := r.Test(); done && err != nil {
			refused = err
			break
		}
		waiting = append(waiting, r)
	}
	var op *braid.OpError
	if !errors.Is(refused, braid.ErrLimit) || !errors.As(refused, &op) || !op.Temporary() || op.Fate != braid.NotExecuted {
		t.Fatalf("%v, want %v", refused, braid.ErrLimit)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := p.a.SendAM(ctx, 1, nil, make([]byte, 40<<10)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want %v", err, context.DeadlineExceeded)
	}
	close(gate)
	if err := p.a.SendAM(testContext(t), 1, nil, nil); err != nil {
		t.Errorf("when there is room again: %v", err)
	}
	for _, r := range waiting {
		if err := r.Wait(testContext(t)); err != nil {
			t.Error(err)
		}
	}
}

// TestBlockInHandler: a blocking call inside a handler of an Owned worker would wait for ever. It is refused instead; a posted
// one is fine, and a Shared worker's handler may block.
func TestBlockInHandler(t *testing.T) {
	for _, owned := range []bool{true, false} {
		tidy(t)
		ctx := testContext(t)
		p := connect(t, braid.Options{Owned: owned}, braid.Options{})
		big := make([]byte, 4<<20)
		p.bw.HandleAM(1, func(m *braid.Message) { m.Endpoint().PostAM(2, nil, nil).Release() })
		p.bw.HandleAM(3, func(*braid.Message) {})
		ends := make(chan error, 2)
		p.aw.HandleAM(2, func(m *braid.Message) {
			m.Endpoint().PostAM(3, nil, big).Release()
			ends <- m.Endpoint().Flush(ctx)
		})
		if err := p.a.SendAM(ctx, 1, nil, nil); err != nil {
			t.Fatal(err)
		}
		var err error
		if !eventually(func() bool {
			p.aw.Progress()
			select {
			case err = <-ends:
				return true
			default:
				return false
			}
		}) {
			t.Fatal("the handler hangs")
		}
		if owned != errors.Is(err, braid.ErrInCallback) || !owned && err != nil {
			t.Errorf("owned %v: Flush in a handler: %v", owned, err)
		}
	}
}
