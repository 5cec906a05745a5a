package ledger_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/openbraid/braid/internal/ledger"
	"github.com/openbraid/braid/transport"
	"pgregory.net/rapid"
)

// model is the naive twin of a ledger: everything ever pushed, in a slice.
type model struct {
	frames []twin
	first  int    // outstanding from here
	told   uint64 // acknowledged
	trips  uint64
	held   bool
	purge  int // position of the purge; -1 none
}

// twin is one frame and how it must end.
type twin struct {
	size           int
	zero, detached bool
	mem            bool
	released       bool
	sent, executed int
	handed         int
	err            error
	done           *log
}

func (m *model) end(to int, err error) {
	for ; m.first < to; m.first++ {
		f := &m.frames[m.first]
		if f.zero && !f.detached && !f.released {
			f.sent++
		}
		f.executed++
		f.err = err
	}
}

// machine runs a ledger and its model side by side.
type machine struct {
	t    *rapid.T
	l    ledger.Ledger
	m    model
	logs [2]*log
	live int // buffers that were not freed
}

var errCanceled = errors.New("canceled")

func (x *machine) push() {
	if x.m.held {
		return
	}
	k := rapid.IntRange(0, 1).Draw(x.t, "completer")
	f := &transport.Frame{
		ID: 1, Done: x.logs[k], Tag: uint64(len(x.m.frames)),
		Payload: make([]byte, rapid.IntRange(0, 9).Draw(x.t, "size")), ZeroCopy: rapid.Bool().Draw(x.t, "zero"),
	}
	e, mem := x.l.Push(f), false
	if rapid.Bool().Draw(x.t, "mem") {
		x.live++
		mem = true
		e.Mem = transport.NewBuffer(1, func(*transport.Buffer) { x.live-- })
	}
	x.m.frames = append(x.m.frames, twin{size: len(f.Payload), zero: f.ZeroCopy, mem: mem, done: x.logs[k]})
}

func (x *machine) ack() {
	n := rapid.IntRange(max(0, x.m.first-2), len(x.m.frames)+2).Draw(x.t, "position")
	err := x.l.Ack(uint64(n))
	legal := x.m.held || n >= x.m.first && n <= len(x.m.frames)
	if legal != (err == nil) || err != nil && !errors.Is(err, transport.ErrPosition) {
		x.t.Fatalf("Ack(%d) of [%d, %d], held %v = %v", n, x.m.first, len(x.m.frames), x.m.held, err)
	}
	if !x.m.held && legal && n > x.m.first {
		x.m.told = uint64(n)
		x.m.trips++
		x.m.end(n, nil)
	}
}

func (x *machine) hold() { x.l.Hold(); x.m.held = true }

func (x *machine) cancel() {
	x.l.Cancel(errCanceled)
	x.m.held = true
	x.m.end(len(x.m.frames), errCanceled)
}

func (x *machine) purge() {
	m := &x.m
	p := rapid.IntRange(max(0, int(m.told)-1), len(m.frames)+1).Draw(x.t, "position")
	if m.purge >= 0 && rapid.Bool().Draw(x.t, "again") {
		p = m.purge
	}
	failAt := rapid.IntRange(0, 6).Draw(x.t, "failAt")
	stop := errors.New("stop")
	var handed []uint64
	r, err := x.l.Purge(uint64(p), func(f *transport.Frame) error {
		if len(handed) == failAt {
			return stop
		}
		handed = append(handed, f.Tag)
		return nil
	})
	switch {
	case !m.held:
		x.want(r, err, transport.PurgeResult{}, transport.ErrNotHeld)
		return
	case m.purge >= 0 && p != m.purge || uint64(p) < m.told || p > len(m.frames):
		x.want(r, err, transport.PurgeResult{Remaining: len(m.frames) - m.first}, transport.ErrPosition)
		return
	}
	m.purge = p
	var want transport.PurgeResult
	want.Delivered = max(0, p-m.first)
	m.end(p, nil)
	for ; m.first < len(m.frames) && want.Handed < failAt; m.first++ {
		m.frames[m.first].handed++
		if want.Handed >= len(handed) || handed[want.Handed] != uint64(m.first) {
			x.t.Fatalf("handed out %v, want %d as number %d", handed, m.first, want.Handed)
		}
		want.Handed++
	}
	if want.Remaining = len(m.frames) - m.first; want.Remaining == 0 {
		stop = nil
	}
	x.want(r, err, want, stop)
}

func (x *machine) want(r transport.PurgeResult, err error, want transport.PurgeResult, wantErr error) {
	if r != want || !errors.Is(err, wantErr) {
		x.t.Fatalf("Purge = %+v, %v, want %+v, %v", r, err, want, wantErr)
	}
}

func (x *machine) detach() {
	k := rapid.IntRange(0, 1).Draw(x.t, "completer")
	want := false
	for i := x.m.first; i < len(x.m.frames); i++ {
		if f := &x.m.frames[i]; f.done == x.logs[k] && f.zero && !f.detached && !f.released {
			f.detached, want = true, true
		}
	}
	if got := x.l.Detach(only(x.logs[k])); got != want {
		x.t.Fatalf("Detach = %v, want %v", got, want)
	}
}

func (x *machine) release() {
	if x.m.first == len(x.m.frames) {
		return
	}
	i := rapid.IntRange(x.m.first, len(x.m.frames)-1).Draw(x.t, "index")
	x.l.Release(x.l.At(uint64(i)))
	f := &x.m.frames[i]
	if !f.released && f.zero && !f.detached {
		f.sent++
	}
	f.released = true
}

// check compares everything that can be seen.
func (x *machine) check() {
	m := &x.m
	var posted, ended uint64
	live := 0
	sent, executed := map[uint64]int{}, map[uint64]int{}
	for _, g := range x.logs {
		if !slices.IsSorted(g.executed) {
			x.t.Fatalf("executed out of order: %v", g.executed)
		}
		for _, tag := range g.sent {
			sent[tag]++
		}
		for i, tag := range g.executed {
			executed[tag]++
			if m.frames[tag].err != g.errs[i] || m.frames[tag].done != g {
				x.t.Fatalf("frame %d ended with %v at the wrong place, want %v", tag, g.errs[i], m.frames[tag].err)
			}
		}
	}
	for i := range m.frames {
		f := &m.frames[i]
		posted += uint64(f.size)
		if i < m.first {
			ended += uint64(f.size)
		} else if f.mem && !f.released {
			live++
		}
		if n := f.executed + f.handed; n > 1 || (n == 1) != (i < m.first) {
			x.t.Fatalf("frame %d ended %d times", i, n)
		}
		if sent[uint64(i)] != f.sent || executed[uint64(i)] != f.executed || f.sent > 1 {
			x.t.Fatalf("frame %d: sent %d, executed %d, want %d, %d", i, sent[uint64(i)], executed[uint64(i)], f.sent, f.executed)
		}
	}
	want := transport.Counts{Posted: uint64(len(m.frames)), Acked: uint64(m.first), PostedBytes: posted, AckedBytes: ended, RoundTrips: m.trips}
	if c := counts(&x.l); c != want || x.l.Len() != len(m.frames)-m.first || x.l.Held() != m.held {
		x.t.Fatalf("counts %+v, want %+v", c, want)
	}
	if x.live != live {
		x.t.Fatalf("%d buffers are alive, want %d", x.live, live)
	}
}

func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := &machine{t: t, logs: [2]*log{new(log), new(log)}}
		x.m.purge = -1
		many := func(k int, f func()) func(*rapid.T) {
			return func(t *rapid.T) {
				for x.t = t; k > 0; k-- {
					f()
				}
			}
		}
		rare := func(f func()) func(*rapid.T) {
			return func(t *rapid.T) {
				if x.t = t; rapid.IntRange(0, 7).Draw(t, "rare") == 0 {
					f()
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"push":    many(1, x.push),
			"push3":   many(3, x.push),
			"push40":  many(40, x.push),
			"ack":     many(1, x.ack),
			"hold":    rare(x.hold),
			"cancel":  rare(x.cancel),
			"purge":   many(1, x.purge),
			"detach":  rare(x.detach),
			"release": many(1, x.release),
			"":        func(t *rapid.T) { x.t = t; x.check() },
		})
	})
}
