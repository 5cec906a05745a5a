package rc_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
)

// TestBooks: random operations, faults, hand-overs and ends over several connections of two ports, with places in the completion queue
// for a few sends. After each turn the books hold (Check: R4, R5, R6, R10, credits); each frame ends once (R3), executed only if the
// peer took it, and read or sent alike; OnError comes at most once, before any end of that failure (R1), whatever it decides; a cancel ends all at
// once, in every state (R2); a held endpoint takes nothing (R7), and has nothing left to say (R8); in the end everything has come back, in time (R9).
//
// At least 100,000 steps, as often as rapid runs it by default, and everything that can happen has happened often.
func TestBooks(t *testing.T) {
	runs, tally := 0, map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		n := newNetwork(t, rapid.Uint64().Draw(rt, "seed"), fabricLatency)
		o := quick
		o.SendCQ = rapid.SampledFrom([]int{8, 16, 4096}).Draw(rt, "places")
		o.Receives = rapid.SampledFrom([]int{8, 32}).Draw(rt, "receives")
		if rapid.Bool().Draw(rt, "read") {
			o.ReadFrom, o.ReadBytes = 10<<10, rapid.SampledFrom([]int{1<<20 + 4<<10, 8 << 20}).Draw(rt, "read bytes")
			n.plain = rapid.Bool().Draw(rt, "plain keys")
		}
		if rapid.Bool().Draw(rt, "wrap") {
			n.config = wrapping
			o = rc.StartAt(o, 65510, 0xfffff0)
		}
		if rapid.Bool().Draw(rt, "lossy") {
			n.rules = []carrier.Rule{{Share: 0.01, Drop: true}, {Share: 0.01, Double: true}, {Share: 0.01, Corrupt: true}}
		}
		b := &books{rt: rt, pairs: newPairsOn(n, o), tally: tally}
		runs++
		steps := rapid.IntRange(1000, 2000).Draw(rt, "steps")
		for range steps {
			b.step()
			b.look()
			if t.Failed() {
				rt.Fatalf("see above")
			}
		}
		for _, n := range n.live() {
			n.faults.SetRules()
		}
		b.idle(b.all...)
		b.shut()
		b.count()
		if t.Failed() {
			rt.Fatalf("see above")
		}
	})
	t.Logf("%d runs: %v", runs, tally)
	if runs < 100 {
		return // -short
	}
	for what, least := range map[string]int{"step": 100_000, "post": 20_000, "frame": 8000, "lost": 500, "purged": 100, "completed": 40,
		"cancel": 60, "close": 60, "move": 20, "link": 20,
		"read": 500, "in line to read": 50, "in line for a place": 1000} {
		if tally[what] < least {
			t.Errorf("%s: %d times, want %d: this proves too little", what, tally[what], least)
		}
	}
}

// look notes who has to wait.
func (b *books) look() {
	b.tally["step"]++
	for _, i := range []transport.Iface{b.a, b.b} {
		places, reads := rc.InLine(i)
		b.tally["in line for a place"] += min(1, places)
		b.tally["in line to read"] += min(1, reads)
	}
}

// count adds up what has happened.
func (b *books) count() {
	for _, p := range b.all {
		if p.ep != nil {
			b.tally["read"] += rc.WasRead(p.ep)
		}
		b.tally["frame"] += int(p.got)
		b.tally["lost"] += len(p.errs)
		for _, e := range p.ends {
			b.tally["purged"] += e.handed
		}
	}
}

// books is one run.
type books struct {
	*pairs
	rt    *rapid.T
	all   []*peer // two by two
	tally map[string]int
}

func (b *books) n(limit int, what string) int { return rapid.IntRange(0, limit-1).Draw(b.rt, what) }

// rare is true once in so many times: rapid favours the ends of a range, so it is a number in the middle.
func (b *books) rare(times int, what string) bool { return b.n(times, what) == times*3/4 }

// step does one thing.
func (b *books) step() {
	if len(b.all) < 2 || b.rare(32, "dial") && len(b.all) < 40 {
		c, d := b.dial()
		for _, p := range []*peer{c, d} {
			p.decision = rapid.SampledFrom([]transport.Decision{transport.Hold, transport.Complete}).Draw(b.rt, "decision")
		}
		b.all = append(b.all, c, d)
		for range b.n(20, "turns") {
			b.turn()
		}
		return
	}
	i := b.n(len(b.all), "who")
	p, o := b.all[i], b.all[i^1]
	if p.ep == nil || p.closed {
		b.turn()
		return
	}
	switch b.n(16, "what") {
	case 0, 1, 2, 3:
		b.load(p)
	case 4:
		p.ep.Post(&transport.Frame{ID: 7, Class: transport.Control, Payload: make([]byte, b.n(1000, "control"))})
	case 5:
		p.ep.RequestAck()
	case 6:
		if b.rare(8, "cut") {
			b.silence(p.ep)
		}
	case 7:
		if b.n(2, "mend") == 0 {
			for _, n := range b.live() {
				n.faults.SetRules(b.rules...)
			}
		}
	case 8:
		if b.rare(32, "link") {
			b.tally["link"]++
			b.SetLink(addrA, false)
			b.turn()
			b.SetLink(addrA, true)
		}
	case 9:
		if b.rare(32, "move") {
			b.tally["move"]++
			b.Move(addrB)
		}
	case 10:
		if b.rare(8, "hand over") {
			b.handOver(p, o)
		}
	case 11:
		if b.rare(16, "cancel") {
			b.tally["cancel"]++
			p.ep.Cancel(errStop)
			if n := p.first(); n != uint64(len(p.ends)) {
				b.Errorf("cancelled, and frame %d of %d has not ended", n, len(p.ends))
			}
		}
	case 12:
		if b.rare(16, "close") {
			b.tally["close"]++
			p.close()
		}
	default:
		for range b.n(20, "turns") {
			b.turn()
		}
	}
}

// load posts data, if the connection stands; the first time both sides admit it.
func (b *books) load(p *peer) {
	o := p.other
	if o.ep == nil || p.up+o.up == 0 {
		b.turn()
		return
	}
	if len(p.ends) == 0 && len(p.errs) == 0 && !p.frozen {
		p.ep.Admit(1<<20, true)
		if !o.closed {
			o.ep.Admit(1<<20, true)
		}
	}
	held := p.frozen || len(p.errs) > 0
	b.tally["post"]++
	st := p.post(rapid.SampledFrom([]int{0, 1, 100, 500_000, 3000, 40_000, 200_000}).Draw(b.rt, "size"))
	if held && st != transport.Failed {
		b.Errorf("a post on a held endpoint says %v", st)
	}
}

// handOver is the exchange about a lost lane: both quiesce, then each purges with the other's position, in pieces.
func (b *books) handOver(p, o *peer) {
	if o.ep == nil || o.closed {
		return
	}
	for _, x := range []*peer{p, o} {
		x.quiesce()
	}
	for _, x := range []*peer{p, o} {
		if x.decision == transport.Complete && len(x.errs) > 0 {
			b.tally["completed"]++
			if n := x.first(); n != uint64(len(x.ends)) {
				b.Errorf("frame %d of %d has not ended with the failure", n, len(x.ends))
			}
			continue
		}
		r, err := x.purge(x.other.got, b.n(5, "fails at"))
		if err != nil && !errors.Is(err, errStop) {
			b.Errorf("purge(%d) of %d posted: %+v, %v", x.other.got, len(x.ends), r, err)
		}
		if _, err = x.purge(x.other.got, -1); err != nil {
			b.Errorf("the rest of it: %v", err)
		}
		if x.first() != uint64(len(x.ends)) {
			b.Errorf("frame %d has not ended", x.first())
		}
	}
}

var lossy = []carrier.Rule{{Share: 0.33, Drop: true}}
