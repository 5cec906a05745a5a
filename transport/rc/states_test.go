package rc_test

import (
	"errors"
	"testing"
	"time"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
)

// situations are the states that a connection can be in, and what it can have under way then. Each brings one about, and says who is in it.
var situations = map[string]func(s *pairs) (p, other *peer){
	"connecting": func(s *pairs) (p, o *peer) { return s.dial() },
	"accepting": func(s *pairs) (p, o *peer) {
		p, o = s.dial()
		s.turn()
		s.turn()
		return p, o
	},
	"connected": func(s *pairs) (p, o *peer) { return s.connect() },
	"loaded":    func(s *pairs) (p, o *peer) { return s.loaded(50, 9000) },
	"on the way": func(s *pairs) (p, o *peer) {
		p, o = s.loaded(50, 9000)
		s.turn()
		return p, o
	},
	"receiving": func(s *pairs) (p, o *peer) {
		o, p = s.loaded(50, 9000)
		s.turn()
		return p, o
	},
	"within a frame": func(s *pairs) (p, o *peer) {
		o, p = s.loaded(3, 900_000)
		s.turn()
		return p, o
	},
	"asking": func(s *pairs) (p, o *peer) {
		p, o = s.loaded(1, 1)
		p.ep.RequestAck()
		return p, o
	},
	"without an answer": func(s *pairs) (p, o *peer) {
		p, o = s.connect()
		s.silence(p.ep)
		p.posts(50, 9000)
		p.ep.RequestAck()
		s.turn()
		return p, o
	},
	"held": func(s *pairs) (p, o *peer) { return s.broken(transport.Hold) },
	"half purged": func(s *pairs) (p, o *peer) {
		p, o = s.broken(transport.Hold)
		_, _ = p.purge(o.quiesce(), 3)
		return p, o
	},
	"ended": func(s *pairs) (p, o *peer) { return s.broken(transport.Complete) },
	"cancelled": func(s *pairs) (p, o *peer) {
		p, o = s.loaded(50, 9000)
		s.turn()
		p.ep.Cancel(errStop)
		return p, o
	},
	"quiesced": func(s *pairs) (p, o *peer) {
		p, o = s.loaded(50, 9000)
		s.turn()
		p.quiesce()
		return p, o
	},
	"left": func(s *pairs) (p, o *peer) {
		p, o = s.loaded(50, 9000)
		o.close()
		s.until("the peer's farewell", lost(p))
		return p, o
	},
}

// loaded is a connection with frames that are posted and have not left.
func (s *pairs) loaded(n, size int) (c, d *peer) {
	s.Helper()
	c, d = s.connect()
	c.posts(n, size)
	return c, d
}

// broken is a connection that was lost with frames under way.
func (s *pairs) broken(decision transport.Decision) (c, d *peer) {
	s.Helper()
	c, d = s.connect()
	c.decision = decision
	s.silence(c.ep)
	c.posts(50, 9000)
	s.until("the failure", lost(c))
	return c, d
}

// TestEveryState (f, g, h): a request for an acknowledgement (keepalive), Quiesce (invalidate), Cancel and Close (destroy), in every state: none panics or hangs, each
// place in the completion queue and each byte that may be read comes back *before* the endpoint is closed, each frame ends once, and then nothing is left at all.
func TestEveryState(t *testing.T) {
	acts := map[string]func(p *peer){
		"ask":     func(p *peer) { p.ep.RequestAck() },
		"quiesce": func(p *peer) { p.quiesce() },
		"cancel":  func(p *peer) { p.ep.Cancel(errStop) },
		"close":   func(p *peer) { p.close() },
		"all of them, twice": func(p *peer) {
			for range 2 {
				p.ep.RequestAck()
				p.ep.Cancel(errStop)
				p.quiesce()
				p.ep.RequestAck()
			}
			p.close()
			p.ep.Close()
			p.ep.RequestAck()
			p.ep.Quiesce()
			p.ep.Cancel(errStop)
			r, err := p.ep.PurgeOutstanding(p.ep.Counts().Posted, nil)
			if r != (transport.PurgeResult{}) || err != nil && !errors.Is(err, transport.ErrPosition) { // half purged with another position
				p.w.Errorf("a purge of what is closed: %+v, %v", r, err)
			}
		},
	}
	for name, bring := range situations {
		for what, act := range acts {
			for _, read := range []int{8 << 10, 0} {
				if read == 0 && testing.Short() {
					continue
				}
				s := newPairs(t, 6, rc.Options{Timeout: 8, RetryCount: 1, SendCQ: 16, ReadFrom: read})
				p, o := bring(s)
				act(p)
				s.settle(150 * time.Millisecond) // of the network's time
				for side, i := range map[string]transport.Iface{"dialer": s.a, "acceptor": s.b} {
					if len(rc.Devices(i)) == 0 {
						continue // it was closed, and nobody needs the device
					}
					if places, bytes, all := rc.Room(i); !all {
						t.Errorf("%s: %s: the %s has %d places and %d bytes, not all", name, what, side, places, bytes)
					}
				}
				if p.closed || p.decision == transport.Complete && len(p.errs) > 0 {
					p.allOnce()
				}
				if st := p.ep.Post(&transport.Frame{ID: 7, Class: transport.Control}); st != transport.Failed && (p.frozen || p.closed || len(p.errs) > 0) {
					t.Errorf("%s: %s: a post after it says %v", name, what, st)
				}
				s.idle(p, o)
			}
		}
	}
}

// TestPurgeInEveryState: it is public: where nothing is held it says so and changes nothing, in every state.
func TestPurgeInEveryState(t *testing.T) {
	for name, bring := range situations {
		s := newPairs(t, 7, quick)
		p, o := bring(s)
		before := p.ep.Counts()
		held := p.frozen || len(p.errs) > 0 || name == "cancelled"
		_, err := p.ep.PurgeOutstanding(before.Acked, func(*transport.Frame) error { return errStop })
		if !held && (!errors.Is(err, transport.ErrNotHeld) || p.ep.Counts() != before) {
			t.Errorf("%s: %v; %+v, before %+v", name, err, p.ep.Counts(), before)
		}
		if held && errors.Is(err, transport.ErrNotHeld) {
			t.Errorf("%s: %v", name, err)
		}
		s.idle(p, o)
	}
}
