package rota_test

import (
	"testing"
	"time"

	"github.com/openbraid/braid/internal/rota"
	"github.com/openbraid/braid/transport"
)

// fake is an interface of which only turns matter.
type fake struct {
	transport.Iface
	asks   bool
	due    time.Duration
	brings int // in the next turn
	turns  int
	on     bool
}

func (f *fake) Attr() transport.Attr    { return transport.Attr{Asks: f.asks} }
func (f *fake) Deadline() time.Duration { return f.due }
func (f *fake) Watch(on bool)           { f.on = on }
func (f *fake) Progress() (n int) {
	f.turns++
	n, f.brings = f.brings, 0
	return n
}

// pair is a worker's shared memory and its sockets, and a time that goes on by step at each turn.
type pair struct {
	r        rota.Rota
	shm, tcp *fake
	now      time.Duration
}

func newPair(polled bool) *pair {
	p := &pair{shm: &fake{}, tcp: &fake{asks: true}}
	p.r.Add(p.tcp)
	p.r.Add(p.shm)
	p.r.Watch(!polled)
	return p
}

// turns makes n of them, each a tenth of a microsecond; shm brings something in each.
func (p *pair) turns(n int, shm bool) {
	p.shm.turns, p.tcp.turns = 0, 0
	for range n {
		p.now += 100 * time.Nanosecond
		if shm {
			p.shm.brings = 1
		}
		p.r.Progress(p.now)
	}
}

// TestQuiet: sockets that bring nothing are asked rarely while something comes elsewhere, and only then.
func TestQuiet(t *testing.T) {
	p := newPair(true)
	p.turns(10000, true) // a millisecond
	const n = 10000
	if p.turns(n, true); p.tcp.turns != 50 || p.shm.turns != n {
		t.Errorf("in a millisecond of %d turns: the sockets were asked %d times, want one each %v; shared memory %d times", n, p.tcp.turns, rota.Rare, p.shm.turns)
	}
	if p.turns(2*n, false); p.tcp.turns < n {
		t.Errorf("nothing comes anywhere for two milliseconds: of %d turns %d asked the sockets, want all since the first", 2*n, p.tcp.turns)
	}
	p.tcp.brings = 1
	p.turns(1, true)
	if p.turns(100, true); p.tcp.turns != 100 {
		t.Errorf("something came over the sockets: of 100 turns %d asked them", p.tcp.turns)
	}
}

// TestWatched: who means to sleep after a turn has it look everywhere.
func TestWatched(t *testing.T) {
	p := newPair(false)
	if p.turns(30000, true); p.tcp.turns != 30000 {
		t.Errorf("somebody waits for the descriptors: %d of 30000 turns asked the sockets", p.tcp.turns)
	}
	p.r.Watch(false)
	if p.turns(1000, true); p.tcp.turns != 5 {
		t.Errorf("nobody does: %d of 1000", p.tcp.turns)
	}
	p.r.Watch(true)
	if p.turns(10, true); p.tcp.turns != 10 || !p.tcp.on || !p.shm.on {
		t.Errorf("somebody does again: %d of 10", p.tcp.turns)
	}
}

// TestFound: what comes over sockets that rest is found within Rare.
func TestFound(t *testing.T) {
	p := newPair(true)
	p.turns(20000, true)
	p.tcp.brings = 3
	for begin := p.now; p.tcp.brings > 0; p.turns(1, true) {
		if p.now-begin > rota.Rare+time.Microsecond {
			t.Fatalf("it was not found in %v", p.now-begin)
		}
	}
}

func TestDeadline(t *testing.T) {
	p := newPair(true)
	for _, c := range []struct{ tcp, shm, want time.Duration }{{0, 0, 0}, {5, 0, 5}, {0, 7, 7}, {5, 7, 5}, {9, 7, 7}} {
		if p.tcp.due, p.shm.due = c.tcp, c.shm; p.r.Deadline() != c.want {
			t.Errorf("%d and %d: %d, want %d", c.tcp, c.shm, p.r.Deadline(), c.want)
		}
	}
}
