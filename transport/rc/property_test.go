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
// peer took it, and read or sent alike; OnError comes at most once, before any end of that failure (R1); a held endpoint takes nothing (R7); in the end
// everything has come back.
func TestBooks(t *testing.T) {
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
			o = rc.StartAt(o, 65000, 0xfffff0)
		}
		if rapid.Bool().Draw(rt, "lossy") {
			n.rules = []carrier.Rule{{Share: 0.01, Drop: true}, {Share: 0.01, Double: true}, {Share: 0.01, Corrupt: true}}
		}
		b := &books{rt: rt, pairs: newPairsOn(n, o)}
		steps := rapid.IntRange(500, 2000).Draw(rt, "steps")
		for range steps {
			b.step()
			if t.Failed() {
				rt.Fatalf("see above")
			}
		}
		for _, n := range n.live() {
			n.faults.SetRules()
		}
		b.idle(b.all...)
		b.shut()
		if t.Failed() {
			rt.Fatalf("see above")
		}
	})
}

// books is one run.
type books struct {
	*pairs
	rt  *rapid.T
	all []*peer // two by two
}

func (b *books) n(limit int, what string) int { return rapid.IntRange(0, limit-1).Draw(b.rt, what) }

// step does one thing.
func (b *books) step() {
	if len(b.all) < 2 || b.n(60, "dial") == 0 && len(b.all) < 40 {
		c, d := b.dial()
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
		if b.n(4, "cut") == 0 {
			b.silence(p.ep)
		}
	case 7:
		if b.n(8, "mend") == 0 {
			for _, n := range b.live() {
				n.faults.SetRules(b.rules...)
			}
		}
	case 8:
		if b.n(10, "link") == 0 {
			b.SetLink(addrA, false)
			b.turn()
			b.SetLink(addrA, true)
		}
	case 9:
		if b.n(20, "move") == 0 {
			b.Move(addrB)
		}
	case 10:
		if b.n(6, "hand over") == 0 {
			b.handOver(p, o)
		}
	case 11:
		if b.n(12, "cancel") == 0 {
			p.ep.Cancel(errStop)
		}
	case 12:
		if b.n(12, "close") == 0 {
			p.close()
		}
	default:
		for range b.n(6, "turns") {
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
	st := p.post(rapid.SampledFrom([]int{0, 1, 100, 3000, 40_000, 200_000}).Draw(b.rt, "size"))
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
