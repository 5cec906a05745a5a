package rc_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
)

// reads has payloads read by the peer from 10 KiB on.
var reads = rc.Options{Timeout: 8, RetryCount: 1, ReadFrom: 10 << 10}

// patient is reads without giving up early: what is lost is repeated.
var patient = rc.Options{ReadFrom: 10 << 10}

// mixed posts n frames, of which some are read and some are sent, in parts or whole, with control frames between.
func mixed(s *pairs, c *peer, n int, rng *rand.Rand) {
	for range n {
		size := []int{0, 100, 9 << 10, 10 << 10, 40_000, 200_000}[rng.IntN(6)]
		for c.post(size) == transport.NoResource {
			s.turn()
		}
		if rng.IntN(3) == 0 {
			c.ep.Post(&transport.Frame{ID: 7, Class: transport.Control, Payload: make([]byte, rng.IntN(50_000))})
		}
		if rng.IntN(4) == 0 {
			s.turn()
		}
	}
}

// TestRead: what is read and what is sent arrives in order, both ways at once, whatever the network does, and over keys of windows and plain ones.
func TestRead(t *testing.T) {
	for _, plain := range []bool{false, true} {
		for _, bad := range []bool{false, true} {
			t.Run(fmt.Sprintf("plain=%v,bad=%v", plain, bad), func(t *testing.T) {
				w := newNetwork(t, 50, fabricLatency)
				w.plain = plain
				if bad {
					w.rules = []carrier.Rule{{Share: 0.02, Drop: true}, {Share: 0.05, Double: true}, {Share: 0.05, Delay: 300 * time.Microsecond},
						{Share: 0.05, Double: true, Delay: 2 * time.Millisecond}, {Share: 0.01, Corrupt: true}}
				}
				s := newPairsOn(w, patient)
				c, d := s.connect()
				rng := rand.New(rand.NewPCG(1, 2))
				for range 20 {
					mixed(s, c, 10, rng)
					mixed(s, d, 10, rng)
					s.until("a round", func() bool { return c.first() == uint64(len(c.ends)) && d.first() == uint64(len(d.ends)) })
				}
				if len(c.errs)+len(d.errs) > 0 {
					t.Fatal(c.errs, d.errs)
				}
				if n := rc.WasRead(c.ep) + rc.WasRead(d.ep); n < 100 {
					t.Errorf("%d payloads were read", n)
				}
				s.idle(c, d)
			})
		}
	}
}

// offered makes a connection with one payload offered that the peer has not looked at, and a second connection by which keys can be tried.
func offered(t *testing.T, plain bool) (s *pairs, c, d, f *peer, o rc.Offer) {
	w := newNetwork(t, 51, fabricLatency)
	w.plain = plain
	s = newPairsOn(w, reads)
	c, d = s.connect()
	_, f = s.connect()
	s.settle(time.Millisecond)
	c.posts(1, 100_000)
	for range 20 { // the peer has no turn
		s.a.Progress()
		s.a.Flush()
	}
	all := rc.Offers(c.ep)
	if len(all) != 1 || all[0].Plain != plain {
		t.Fatalf("offers: %+v, plain keys %v", all, plain)
	}
	return s, c, d, f, all[0]
}

// opens says whether the peer of f can read what was offered, by any connection that there is.
func opens(s *pairs, f *peer, o rc.Offer) bool {
	s.Helper()
	got := rc.ReadRaw(f.ep, o)
	s.until("a raw READ", func() bool { return rc.UnderWay(f.ep) == 0 })
	if len(f.errs) > 0 {
		return false
	}
	if got[0] != 1 || got[len(got)-1] != 1 {
		s.Errorf("it reads %d … %d", got[0], got[len(got)-1])
	}
	return true
}

// TestOffersEnd: a payload can be read while it is offered; not after the lane was given up, was cut, was closed, or had its work acknowledged.
func TestOffersEnd(t *testing.T) {
	for name, end := range map[string]func(s *pairs, c, d *peer){
		"still offered": nil,
		"quiesced":      func(_ *pairs, c, _ *peer) { c.quiesce() },
		"closed":        func(_ *pairs, c, _ *peer) { c.close() },
		"canceled":      func(_ *pairs, c, _ *peer) { c.ep.Cancel(errStop) },
		"acknowledged":  func(s *pairs, c, _ *peer) { s.until("it", func() bool { return c.first() == 1 }) },
		"link down": func(s *pairs, c, _ *peer) {
			rc.Break(c.ep)
			s.until("the failure", lost(c))
		},
	} {
		for _, plain := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,plain=%v", name, plain), func(t *testing.T) {
				s, c, d, f, o := offered(t, plain)
				if end != nil {
					end(s, c, d)
				}
				if can := opens(s, f, o); can != (end == nil) {
					t.Errorf("the payload can be read: %v", can)
				}
				s.idle(c, d, f, f.other)
			})
		}
	}
}

// TestPurgeOfOffers: what was offered and not read is handed out with its payload; what was read is executed.
func TestPurgeOfOffers(t *testing.T) {
	s := newPairs(t, 52, reads)
	c, d := s.connect()
	c.posts(3, 200_000)
	s.until("three", func() bool { return d.got == 3 })
	c.posts(5, 200_000)
	s.a.Progress()
	s.a.Flush()
	s.tick()
	s.b.Progress() // it has begun to read
	s.b.Flush()
	at := d.quiesce()
	c.quiesce()
	if r, err := c.purge(at, 2); err != errStop || r.Handed != 2 {
		t.Errorf("purge(%d) that stops at the third: %+v, %v", at, r, err)
	}
	if r, err := c.purge(at, -1); err != nil || r.Remaining != 0 || at+2+uint64(r.Handed) != 8 {
		t.Errorf("the rest, from %d on: %+v, %v", at, r, err)
	}
	c.allOnce()
	s.idle(c, d)
}

// TestReadCredits (R6): all endpoints of a port read a bounded number of bytes at a time, in the order in which they came; none starves.
func TestReadCredits(t *testing.T) {
	o := reads
	o.ReadBytes = 1<<20 + 4<<10 // one frame
	s := newPairs(t, 53, o)
	var cs, ds []*peer
	for range 5 {
		c, d := s.connect()
		cs, ds = append(cs, c), append(ds, d)
	}
	for _, c := range cs {
		c.posts(4, 600_000) // two don't fit
	}
	s.until("all of it", func() bool {
		sum := uint64(0)
		least, most := uint64(99), uint64(0)
		for _, d := range ds {
			sum += d.got
			least, most = min(least, d.got), max(most, d.got)
		}
		if most > least+2 {
			t.Fatalf("one has read %d payloads, another %d", most, least)
		}
		return sum == 20
	})
	s.idle(append(cs, ds...)...)
}

// TestReadHeld: a held endpoint keeps no bytes that others could read (R5, R6).
func TestReadHeld(t *testing.T) {
	o := reads
	o.ReadBytes = 1<<20 + 4<<10
	s := newPairs(t, 54, o)
	c, d := s.connect()
	e, f := s.connect()
	c.posts(1, 900_000)
	s.until("it reads", func() bool { return rc.Reading(d.ep) > 0 })
	s.silence(c.ep)
	e.posts(3, 900_000)
	s.until("the failure", lost(d))
	s.until("the other endpoint", func() bool { return f.got == 3 && e.first() == 3 })
	s.idle(c, d, e, f)
}

// TestReadDestroyed: a queue pair that is destroyed in the middle of a READ gives back the bytes, too.
func TestReadDestroyed(t *testing.T) {
	s := newPairs(t, 58, patient)
	c, d := s.connect()
	c.posts(1, 900_000)
	s.until("it reads", func() bool { return rc.Reading(d.ep) > 0 })
	s.silence(c.ep)
	s.idle(d, c)
}

// TestBadOffers: offers that can't be end the connection, and nothing else.
func TestBadOffers(t *testing.T) {
	ok := rc.RawOffer(100_000, 8)
	for name, raw := range map[string][]byte{
		"short": ok[:20], "longer than said": append(append([]byte(nil), ok...), 0), "reserved": edit(ok, 28, 1), "control": edit(ok, 37, 1),
		"no payload": rc.RawOffer(8, 8), "too large": rc.RawOffer(3<<20, 8), "id 0": edit(ok, 36, 0), "a wrong key": ok,
	} {
		t.Run(name, func(t *testing.T) {
			s := newPairs(t, 55, reads)
			c, d := s.connect()
			e, f := s.connect()
			rc.SendRaw(c.ep, raw)
			s.until("the end of it", func() bool { return len(d.errs)+len(c.errs) > 0 && (name == "a wrong key" || len(d.errs) > 0) })
			e.posts(1, 100_000)
			s.until("another connection", func() bool { return f.got == 1 })
			s.idle(c, d, e, f)
		})
	}
	t.Run("not agreed", func(t *testing.T) {
		s := newPairs(t, 56, quick)
		c, d := s.connect()
		rc.SendRaw(c.ep, ok)
		s.until("the end of it", lost(d))
		s.idle(c, d)
	})
}

func edit(b []byte, at int, v byte) []byte {
	b = append([]byte(nil), b...)
	b[at] = v
	return b
}

// TestControlPassesReads: a control frame doesn't wait for what is being read.
func TestControlPassesReads(t *testing.T) {
	s := newPairs(t, 59, patient)
	c, d := s.connect()
	s.settle(5 * time.Millisecond) // windows are proven
	c.posts(1, 900_000)
	s.until("it reads", func() bool { return rc.Reading(d.ep) > 0 })
	c.posts(1, 100)
	c.ep.Post(&transport.Frame{ID: 7, Class: transport.Control, Payload: make([]byte, 10)})
	s.until("the control frame", func() bool { return d.control == 1 })
	if d.got > 0 {
		t.Error("it came after what was being read")
	}
	s.until("all of it", func() bool { return d.got == 2 })
	s.idle(c, d)
}

// TestDataBehindControl: no data frame gets past an offer by standing behind a control frame.
func TestDataBehindControl(t *testing.T) {
	s := newPairs(t, 60, patient)
	c, d := s.connect()
	c.ends = make([]end, 1) // who sends raw bytes posts nothing
	rc.SendRaw(c.ep, rc.RawOffer(100_000, 8))
	rc.SendRaw(c.ep, rc.RawFrames(true, false))
	s.until("the end of it", lost(d))
	if d.control != 1 || d.got != 0 || !errors.Is(d.errs[0], transport.ErrProtocol) {
		t.Errorf("%d control and %d data frames taken, %v", d.control, d.got, d.errs)
	}
	c.ends = nil
	s.idle(c, d)
}

// TestReadAgreed: both sides must want it, and the larger size counts.
func TestReadAgreed(t *testing.T) {
	for _, x := range []struct{ a, b, size, want int }{
		{0, 10 << 10, 300_000, 0}, {10 << 10, 0, 300_000, 0}, {64 << 10, 100 << 10, 90_000, 0}, {64 << 10, 100 << 10, 110_000, 1}, {100 << 10, 64 << 10, 90_000, 0},
	} {
		w := newNetwork(t, 57, fabricLatency)
		s := newPairsOf(w, rc.Options{ReadFrom: x.a}, rc.Options{ReadFrom: x.b})
		c, d := s.connect()
		c.posts(1, x.size)
		s.until("it", func() bool { return c.first() == 1 })
		if n := rc.WasRead(d.ep); n != x.want {
			t.Errorf("from %d and %d on: of a payload of %d bytes %d were read", x.a, x.b, x.size, n)
		}
		s.idle(c, d)
	}
}
