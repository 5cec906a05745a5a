package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/internal/files/dialogue"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/tcp"
)

// faulty is a sender's node, with an injector below its transport.
func faulty(t *testing.T) (braid.Options, *fault.Injector) {
	begun := time.Now()
	inj := fault.New(func() time.Duration { return time.Since(begun) + 1 })
	t.Cleanup(func() { inj.Close() })
	return braid.Options{
		Rails: rails, Transports: []transport.Transport{tcp.New(tcp.Options{Wrapper: inj})},
		Times: braid.Times{RedialMax: 200 * time.Millisecond},
	}, inj
}

// cutter cuts a rail every so often, alternating between rails and kinds, from when both lanes are up until stopped; but never while what it did before
// is not noticed and healed: two rails that fall silent together are a peer that is silent, and that takes ten seconds to find.
type cutter struct {
	inj   *fault.Injector
	every time.Duration
	cuts  int
	up    atomic.Int32
	lost  atomic.Int32
	once  sync.Once
	stop  chan struct{}
	done  chan struct{}
}

func newCutter(inj *fault.Injector, every time.Duration) *cutter {
	return &cutter{inj: inj, every: every, stop: make(chan struct{}), done: make(chan struct{})}
}

// event is the sender's. The first cut is made in it, so that none is too late for a fast transfer.
func (c *cutter) event(e braid.Event) {
	switch e.Kind {
	case braid.LaneDown:
		c.up.Add(-1)
		c.lost.Add(1)
	case braid.LaneUp:
		if c.up.Add(1) == int32(len(rails)) {
			c.once.Do(func() {
				c.cut()
				go c.run()
			})
		}
	case braid.HandedOver, braid.Suspended, braid.Resumed, braid.Failed, braid.TurnedAway, braid.LaneGivenUp:
	}
}

func (c *cutter) cut() {
	c.inj.Cut(rails[c.cuts%2], []fault.Kind{fault.Reset, fault.Silence}[c.cuts/2%2], c.every/2)
	c.cuts++
}

func (c *cutter) run() {
	defer close(c.done)
	tick := time.NewTicker(c.every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if c.up.Load() == int32(len(rails)) && int(c.lost.Load()) >= c.cuts {
				c.cut()
			}
		case <-c.stop:
			return
		}
	}
}

// end returns how many cuts hit something.
func (c *cutter) end() (hit int) {
	close(c.stop)
	c.once.Do(func() { close(c.done) }) // it never began
	<-c.done
	for _, x := range c.inj.Report() {
		if x.Streams > 0 {
			hit++
		}
	}
	return hit
}

// scale is how much is copied while rails are cut: by default what takes a second or two, with BRAID_FILES=1g the full size.
func scale() (files, bytes int, every time.Duration) {
	if os.Getenv("BRAID_FILES") == "1g" {
		return 2000, 1 << 30, time.Second
	}
	return 500, 96 << 20, 20 * time.Millisecond
}

// TestRailsAreCut: a directory of many files is copied while now one rail, now the other is cut. BRAID_FILES=1g: 2,000 files and 1 GB, a rail each second.
func TestRailsAreCut(t *testing.T) {
	tidy(t)
	n, total, every := scale()
	sizes := map[string]int{"big/one": total / 2, "big/two": total / 8}
	for i := range n - 2 {
		sizes[fmt.Sprintf("d%02d/f%04d", i%37, i)] = total * 3 / 8 / n * (i % 3)
	}
	dir := plant(t, sizes)
	r := receive(t, ReceiveOptions{})
	node, inj := faulty(t)
	c := newCutter(inj, every)
	sum, err := sendAs(t, SendOptions{Addr: r.addr, Paths: []string{dir}, Node: node, Event: c.event})
	hit := c.end()
	if err != nil {
		t.Fatal(err)
	}
	same(t, dir, filepath.Join(r.dir, "tree"))
	t.Logf("%d files, %d bytes in %v; %d cuts hit something, lanes were lost %d times", sum.Files, sum.Bytes, sum.Time, hit, sum.LanesLost)
	if sum.Files != n || hit == 0 || sum.LanesLost == 0 {
		t.Errorf("%d files; %d cuts, lost %d times", sum.Files, hit, sum.LanesLost)
	}
}

// gate is a stream that stops in the middle until it is opened.
type gate struct {
	before, after int // bytes
	at            int
	reached, open chan struct{}
}

func newGate(before, after int) *gate {
	return &gate{before: before, after: after, reached: make(chan struct{}), open: make(chan struct{})}
}

func (g *gate) Read(b []byte) (int, error) {
	left := g.before + g.after - g.at
	if g.at < g.before {
		left = g.before - g.at
	} else if g.at == g.before {
		close(g.reached)
		<-g.open
	}
	if left == 0 {
		return 0, io.EOF
	}
	n := min(len(b), left)
	for i := range b[:n] {
		b[i] = byte(g.at + i)
	}
	g.at += n
	return n, nil
}

// check looks whether a file is what the gate gave.
func (g *gate) check(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil || len(b) != g.before+g.after {
		t.Fatal(len(b), err)
	}
	for i := range b {
		if b[i] != byte(i) {
			t.Fatalf("byte %d is %d", i, b[i])
		}
	}
}

// TestAllLanesAreLost: for less than Times.Suspended. It goes on where it was.
func TestAllLanesAreLost(t *testing.T) {
	tidy(t)
	r := receive(t, ReceiveOptions{})
	node, inj := faulty(t)
	g := newGate(7<<20, 7<<20)
	resumed := make(chan braid.EventKind, 100)
	watch := func(e braid.Event) {
		if e.Kind == braid.Suspended || e.Kind == braid.Resumed {
			resumed <- e.Kind
		}
	}
	go func() {
		<-g.reached
		for _, rail := range rails {
			inj.Cut(rail, fault.Reset, 500*time.Millisecond)
		}
		for (<-resumed) != braid.Resumed {
		}
		close(g.open)
	}()
	if _, err := sendAs(t, SendOptions{Addr: r.addr, Stdin: g, Name: "stream", Node: node, Event: watch}); err != nil {
		t.Fatal(err)
	}
	g.check(t, filepath.Join(r.dir, "stream"))
}

// TestAllLanesAreLostForGood: both sides end with an error, and nothing is left.
func TestAllLanesAreLostForGood(t *testing.T) {
	tidy(t)
	short := braid.Times{Suspended: time.Second, Peer: time.Second} // a busy machine may stand still for less
	r := receive(t, ReceiveOptions{Node: braid.Options{Times: short}})
	node, inj := faulty(t)
	node.Times = short
	g, over := newGate(7<<20, 7<<20), make(chan struct{})
	go func() {
		select {
		case <-g.reached:
		case <-over:
		}
		for _, rail := range rails {
			inj.Cut(rail, fault.Silence, time.Minute)
		}
	}()
	_, err := sendAs(t, SendOptions{Addr: r.addr, Stdin: g, Name: "stream", Node: node})
	close(g.open)
	close(over)
	if !errors.Is(err, braid.ErrPeerFailed) {
		t.Error(err)
	}
	if err := r.outcome(t); err == nil {
		t.Error("the receiver has everything")
	}
	empty(t, r.dir)
}

// TestMemoryIsBounded: what a transfer costs does not grow with what is sent.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("moves 300 MB")
	}
	r := receive(t, ReceiveOptions{})
	before := heap()
	grown := uint64(0)
	zeros := &endless{left: 300 << 20, at: 20 << 20, look: func() { grown = heap() - min(before, heap()) }}
	s, err := NewSender(t.Context(), SendOptions{Addr: r.addr, Stdin: zeros, Name: "zeros", Node: braid.Options{Rails: rails}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(r.dir, "zeros")); err != nil || info.Size() != 300<<20 {
		t.Error(info, err)
	}
	// Both sides are in this process: their places, and what is under way in their engines.
	if most := uint64(2*window*dialogue.PieceBytes + 32<<20); grown > most || len(s.bufs) != window {
		t.Errorf("%d bytes and %d buffers near the end, at most %d", grown, len(s.bufs), most)
	}
}

// heap is the bytes that are in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// endless is that many zeros, in small reads. It looks once, when so many are left.
type endless struct {
	left, at int
	look     func()
}

func (e *endless) Read(b []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(len(b), e.left, 10_000)
	clear(b[:n])
	if e.left -= n; e.left < e.at && e.look != nil {
		e.look()
		e.look = nil
	}
	return n, nil
}
