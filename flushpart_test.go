package braid_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// registered is memory that peers change by frames only.
func registered(t *testing.T, n *braid.Node, size int) braid.RKey {
	t.Helper()
	mem, err := n.Register(make([]byte, size))
	if err != nil {
		t.Fatal(err)
	}
	return mem.Key(braid.Write)
}

// runs has the owner of a still pair's second side make progress until q has ended.
func (p *pair) runs(ctx context.Context, t *testing.T, q braid.Request) error {
	t.Helper()
	for done := false; !done; done, _ = q.Test() {
		p.bw.Progress()
		if ctx.Err() != nil {
			t.Fatal("it does not end")
		}
	}
	return q.Wait(ctx)
}

func under(q braid.Request) bool {
	time.Sleep(20 * time.Millisecond)
	done, _ := q.Test()
	return !done
}

// A flush of one memory that cancels leaves what waits for other memory alone.
func TestCancelOfOneMemory(t *testing.T) {
	ctx := testContext(t)
	p := still(ctx, t)
	one, other := registered(t, p.bn, 8<<20), registered(t, p.bn, 8<<20)
	many := make([]byte, 8<<20) // more than a window
	all := []braid.Request{p.a.PostPut(many, one, 0), p.a.PostPut(many, other, 0), p.a.PostPut(many[:8], one, 0), p.a.PostPut(many[:8], other, 0),
		p.a.PostPutSignal(many[:8], other, 0, braid.Signal{Key: one, Value: 1})}
	q := p.a.PostFlushWith(braid.FlushOptions{Cancel: true, Memory: one})
	for _, i := range []int{2, 4} { // a put, and one whose word is there
		if err := all[i].Wait(ctx); !errors.Is(err, braid.ErrCanceled) {
			t.Errorf("of the memory, operation %d: %v", i, err)
		}
	}
	if err := p.runs(ctx, t, q); err != nil {
		t.Error(err)
	}
	for _, i := range []int{0, 1, 3} { // the first was on a lane
		if err := p.runs(ctx, t, all[i]); err != nil {
			t.Errorf("operation %d: %v", i, err)
		}
	}
}

// A flush that cancels what waits leaves a receive alone that could not read its message yet: it was not posted on the endpoint, and the message
// would be lost.
func TestCancelLeavesReceives(t *testing.T) {
	ctx := testContext(t)
	p := still(ctx, t)
	mem, err := p.bn.Register(make([]byte, 8))
	if err != nil {
		t.Fatal(err)
	}
	const size = 1 << 20
	send := p.b.PostTag(7, make([]byte, size))
	for p.bw.Progress(); ; time.Sleep(time.Millisecond) {
		if _, here := p.aw.ProbeTag(7, braid.ExactTag); here {
			break
		}
		p.bw.Progress()
	}
	for range 200 { // more than are answered at a time: what is read waits behind them
		p.a.PostGet(make([]byte, 8), mem.Key(braid.Read), 0).Release()
	}
	receive := p.aw.PostRecvTag(make([]byte, size), 7, braid.ExactTag)
	flush := p.a.PostFlushWith(braid.FlushOptions{Cancel: true})
	if err := errors.Join(p.runs(ctx, t, flush), p.runs(ctx, t, send)); err != nil {
		t.Error(err)
	}
	if info, err := receive.Wait(ctx); err != nil || info.Len != size {
		t.Errorf("%+v, %v", info, err)
	}
}

// parts are flushes of what is under way on a still pair's endpoint.
func (p *pair) parts(key braid.RKey) map[string]braid.Request {
	lanes := []string{}
	for _, l := range p.a.Lanes() {
		lanes = append(lanes, l.Instance)
	}
	return map[string]braid.Request{
		"memory": p.a.PostFlushWith(braid.FlushOptions{Memory: key}),
		"lanes":  p.a.PostFlushWith(braid.FlushOptions{Lanes: lanes}),
		"sent":   p.a.PostFlushWith(braid.FlushOptions{Sent: true}),
		"all":    p.a.PostFlush(),
		"worker": p.aw.PostFlush(),
	}
}

// Each flush ends with its endpoint, and when it is canceled.
func TestFlushesEnd(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(*pair, braid.Request)
		want error
	}{
		"the endpoint ends": {func(p *pair, _ braid.Request) { p.a.Abort() }, braid.ErrClosed},
		"canceled":          {func(_ *pair, q braid.Request) { q.Cancel() }, braid.ErrCanceled},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := testContext(t)
			p := still(ctx, t)
			key := registered(t, p.bn, 8<<20)
			p.a.PostPut(make([]byte, 8<<20), key, 0).Release()
			for what, q := range p.parts(key) {
				if name == "canceled" && !under(q) {
					t.Errorf("%s: it has ended", what)
				}
				c.do(p, q)
				soon, cancel := context.WithTimeout(ctx, 5*time.Second)
				if err := q.Wait(soon); !errors.Is(err, c.want) {
					t.Errorf("%s: %v, want %v", what, err, c.want)
				}
				cancel()
			}
		})
	}
}

// A flush of the memory that a signal's word is in waits for the word.
func TestFlushOfAWord(t *testing.T) {
	for _, size := range []int{8, 1 << 20} {
		ctx := testContext(t)
		p := still(ctx, t)
		data, word, none := registered(t, p.bn, size), registered(t, p.bn, 8), registered(t, p.bn, 8)
		put := p.a.PostPutSignal(make([]byte, size), data, 0, braid.Signal{Key: word, Value: 1})
		q := p.a.PostFlushWith(braid.FlushOptions{Memory: word})
		if !under(q) {
			t.Errorf("%d bytes: the word is flushed, and nobody has changed it", size)
		}
		if r := p.a.PostFlushWith(braid.FlushOptions{Memory: none}); under(r) {
			t.Errorf("%d bytes: a flush of other memory waits", size)
		}
		if err := errors.Join(p.runs(ctx, t, put), p.runs(ctx, t, q)); err != nil {
			t.Error(err)
		}
	}
}

// The flush of a worker tells of each endpoint that has failed, wherever it stands among the others.
func TestWorkerFlushTellsAll(t *testing.T) {
	for _, fails := range [][]int{{0}, {1}, {2}, {0, 1}, {0, 2}} {
		ctx := testContext(t)
		p := connect(t, braid.Options{}, braid.Options{})
		eps, peers := []*braid.Endpoint{p.a}, []*braid.Endpoint{p.b}
		for range 2 {
			ep, err := p.aw.Dial(ctx, p.ln.Addr())
			if err != nil {
				t.Fatal(err)
			}
			peer, err := p.ln.Accept(ctx)
			if err != nil {
				t.Fatal(err)
			}
			eps, peers = append(eps, ep), append(peers, peer)
		}
		for _, i := range fails {
			peers[i].Abort()
			for eps[i].Err() == nil && ctx.Err() == nil {
				time.Sleep(time.Millisecond)
			}
		}
		err := p.aw.Flush(ctx)
		if err == nil {
			t.Errorf("%v failed, and the flush says nothing", fails)
			continue
		}
		var many interface{ Unwrap() []error }
		if n := len(fails); n > 1 && (!errors.As(err, &many) || len(many.Unwrap()) != n) {
			t.Errorf("%v failed: %v", fails, err)
		}
	}
}

// The flush of a worker waits for an endpoint that is being closed, too, and ends with its close.
func TestWorkerFlushAndClose(t *testing.T) {
	ctx := testContext(t)
	p := still(ctx, t)
	p.a.PostPut(make([]byte, 8), registered(t, p.bn, 8), 0).Release()
	closed := make(chan error, 1)
	go func() { closed <- p.a.Close(ctx) }()
	for begun := false; !begun && ctx.Err() == nil; {
		q := p.a.PostFlush()
		done, err := q.Test()
		begun = done && errors.Is(err, braid.ErrClosed)
		q.Release()
	}
	q := p.aw.PostFlush()
	if !under(q) {
		t.Error("an endpoint that is being closed is not flushed, and the worker's flush has ended")
	}
	if err := errors.Join(p.runs(ctx, t, q), <-closed); err != nil {
		t.Error(err)
	}
}

// The flush of a worker waits for the slowest of its endpoints.
func TestWorkerFlushWaitsForAll(t *testing.T) {
	ctx := testContext(t)
	p := still(ctx, t)
	other := mustOpen(t, braid.Options{})
	ln, err := newWorker(t, other).Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ep, err := p.aw.Dial(ctx, ln.Addr())
	if err != nil {
		t.Fatal(err)
	}
	slow, fast := registered(t, p.bn, 8), registered(t, other, 1<<20)
	p.a.PostPut(make([]byte, 8), slow, 0).Release()
	ep.PostPut(make([]byte, 1<<20), fast, 0).Release()
	q := p.aw.PostFlush()
	if err := ep.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if !under(q) {
		t.Error("one endpoint is flushed, and the worker's flush has ended")
	}
	if err := p.runs(ctx, t, q); err != nil {
		t.Error(err)
	}
}

// A flush of what the endpoint does not have, lanes or memory, is refused at once, says so, and cancels nothing: neither of it nor of what has the same number here.
func TestFlushOfWhatIsNotThere(t *testing.T) {
	ctx := testContext(t)
	p := still(ctx, t)
	one := registered(t, p.bn, 8<<20)
	other := registered(t, mustOpen(t, braid.Options{}), 8<<20) // of another process, the first there, too
	here := p.a.Lanes()[0].Instance
	many := make([]byte, 8<<20) // more than a window
	all := []braid.Request{p.a.PostPut(many, one, 0), p.a.PostPut(many[:8], one, 0)}
	for name, c := range map[string]struct {
		o    braid.FlushOptions
		want error
		text string
	}{
		"no lane's name":            {braid.FlushOptions{Lanes: []string{"eth0"}}, braid.ErrNoLane, `"eth0"; there are: ` + here},
		"a lane that never was":     {braid.FlushOptions{Lanes: []string{here, "d99"}}, braid.ErrNoLane, `"d99"; there are: ` + here},
		"the peer's that never was": {braid.FlushOptions{Lanes: []string{"a1"}}, braid.ErrNoLane, `"a1"`},
		"without a name":            {braid.FlushOptions{Lanes: []string{""}, Sent: true}, braid.ErrNoLane, `""`},
		"memory of another":         {braid.FlushOptions{Memory: other}, braid.ErrAccess, "another process"},
		"until sent":                {braid.FlushOptions{Memory: other, Sent: true}, braid.ErrAccess, "another process"},
	} {
		for _, c.o.Cancel = range []bool{false, true} {
			var op *braid.OpError
			for _, err := range []error{p.a.FlushWith(ctx, c.o), p.a.PostFlushWith(c.o).Wait(ctx)} {
				if !errors.Is(err, c.want) || !errors.As(err, &op) || op.Op != "flush" || op.Fate != braid.NotExecuted || op.Peer == "" || !strings.Contains(err.Error(), c.text) {
					t.Errorf("%s: %v, want %v with %s, not executed", name, err, c.want, c.text)
				}
			}
		}
	}
	for i, q := range all {
		if err := p.runs(ctx, t, q); err != nil {
			t.Errorf("operation %d: %v", i, err)
		}
	}
	p.a.Abort()
	if err := p.a.FlushWith(ctx, braid.FlushOptions{Lanes: []string{"d99"}, Memory: other}); !errors.Is(err, braid.ErrClosed) {
		t.Errorf("of a closed endpoint: %v", err)
	}
}

// Which operations are on a memory is the same question for who waits and for who cancels: a put is on its word's memory, too. What is gone is not what has its number now.
func TestCancelOfAWord(t *testing.T) {
	ctx := testContext(t)
	p := still(ctx, t)
	data := registered(t, p.bn, 8<<20)
	mem, err := p.bn.Register(make([]byte, 8))
	if err != nil {
		t.Fatal(err)
	}
	gone := mem.Key(braid.Write)
	if err := mem.Deregister(); err != nil {
		t.Fatal(err)
	}
	word := registered(t, p.bn, 8) // in the place of what is gone
	many := make([]byte, 8<<20)
	first := p.a.PostPut(many, data, 0)
	signals := p.a.PostPutSignal(many[:8], data, 0, braid.Signal{Key: word, Value: 1})
	puts := p.a.PostPut(many[:8], word, 0)
	stale := p.a.PostFlushWith(braid.FlushOptions{Cancel: true, Memory: gone})
	if done, err := puts.Test(); done {
		t.Errorf("what is gone was canceled, and so was what has its number: %v", err)
	}
	q := p.a.PostFlushWith(braid.FlushOptions{Cancel: true, Memory: word})
	for name, r := range map[string]braid.Request{"the put": puts, "the put with the signal": signals} {
		if err := r.Wait(ctx); !errors.Is(err, braid.ErrCanceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := errors.Join(p.runs(ctx, t, q), p.runs(ctx, t, stale), p.runs(ctx, t, first)); err != nil {
		t.Error(err)
	}
}
