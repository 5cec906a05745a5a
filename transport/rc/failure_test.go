package rc_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft"
	"github.com/openbraid/braid/rdma/soft/fabric"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
)

// quick gives a peer that doesn't answer up after about 2 ms.
var quick = rc.Options{Timeout: 8, RetryCount: 1}

var (
	addrA         = netip.MustParseAddr("10.0.0.1")
	addrB         = netip.MustParseAddr("10.0.0.2")
	fabricLatency = fabric.Config{Latency: 3 * time.Microsecond}
)

func wrapping(c *soft.Config) { c.FirstBlock = 65500 }

// garbage is a segment that can't be, of many kinds.
func garbage(seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, rng.IntN(3000))
	for i := range b {
		switch seed % 3 {
		case 0:
			b[i] = byte(rng.Uint32())
		case 1:
			b[i] = byte(rng.IntN(4))
		}
	}
	return b
}

func lost(p *peer) func() bool { return func() bool { return len(p.errs) > 0 } }

// TestErrorComplete (a): the handler is called first, then each frame ends once with the error.
func TestErrorComplete(t *testing.T) {
	s := newPairs(t, 1, quick)
	c, d := s.connect()
	c.decision = transport.Complete
	s.silence(c.ep)
	c.posts(40, 5000)
	s.until("the failure", lost(c))
	if !errors.Is(c.errs[0], transport.ErrReset) {
		t.Errorf("OnError(%v), want ErrReset", c.errs[0])
	}
	if c.log[0] != "error" || slices.Contains(c.log[1:], "error") || len(c.log) != 41 {
		t.Errorf("order of what was told: %v", c.log)
	}
	for tag, e := range c.ends {
		if e.executed != 1 || e.err == nil {
			t.Fatalf("frame %d: ended %d times, %v", tag, e.executed, e.err)
		}
	}
	if st := c.ep.Post(&transport.Frame{ID: 1, Class: transport.Control}); st != transport.Failed {
		t.Errorf("Post after it says %v", st)
	}
	s.idle(c, d)
}

// TestErrorHold (b, j): while one endpoint is held, nothing of it ends, its places come back, and another one that shares a
// completion queue of eight places goes on.
func TestErrorHold(t *testing.T) {
	o := quick
	o.SendCQ = 8
	s := newPairs(t, 2, o)
	c, d := s.connect()
	e, f := s.connect()
	s.silence(c.ep)
	c.posts(60, 5000)
	s.until("the failure", lost(c))
	if len(c.log) != 1 {
		t.Fatalf("held, but told: %v", c.log)
	}
	e.posts(200, 3000)
	s.until("the other endpoint", func() bool { return f.got == 200 && e.first() == 200 })
	if c.first() != 0 || len(c.log) != 1 {
		t.Errorf("frames of a held endpoint ended: %v", c.log)
	}
	d.quiesce()
	if r, err := c.purge(d.got, -1); err != nil || r.Delivered+r.Handed != 60 {
		t.Errorf("purge: %+v, %v", r, err)
	}
	s.idle(c, d, e, f)
}

// TestAllButOne (j): of many connections that share eight places all but one lose their peer, with everything full; the one goes on during that and after, and
// what the others had comes back, whatever their owners do about them.
func TestAllButOne(t *testing.T) {
	o := quick
	o.SendCQ = 8
	s := newPairs(t, 13, o)
	var all []*peer
	var dead []*peer
	for i := range 20 {
		c, d := s.connect()
		if c.decision = transport.Hold; i%2 == 0 {
			c.decision = transport.Complete
		}
		all = append(all, c, d)
		dead = append(dead, c)
	}
	c, d := all[20], all[21]
	dead = append(dead[:10], dead[11:]...)
	var eps []transport.Endpoint
	for _, p := range dead {
		eps = append(eps, p.ep)
	}
	s.silence(eps...)
	for _, p := range all {
		if p.name == "dialer" {
			p.posts(60, 5000)
		}
	}
	s.until("the failures, and the one that lives", func() bool {
		for _, p := range dead {
			if len(p.errs) == 0 {
				return false
			}
		}
		return d.got == 60 && c.first() == 60
	})
	for i, p := range dead {
		if i%4 == 1 { // held: handed over; the others are left as they are
			if _, err := p.purge(p.other.quiesce(), -1); err != nil {
				t.Error(err)
			}
		}
	}
	c.posts(60, 5000)
	s.until("more of it", func() bool { return d.got == 120 && c.first() == 120 })
	if len(c.errs)+len(d.errs) > 0 {
		t.Error(c.errs, d.errs)
	}
	s.settle(time.Millisecond)
	if places, _, ok := rc.Room(s.a); !ok {
		t.Errorf("%d of 8 places came back", places)
	}
	s.idle(all...)
}

// TestPurge (c, d, e): by position, in the middle of a message of several segments, in pieces, again, and on a healthy endpoint.
func TestPurge(t *testing.T) {
	for _, share := range []int{0, 50, 100} {
		s := newPairs(t, uint64(share), rc.Options{})
		c, d := s.connect()
		c.posts(share/10, 200_000)
		s.until("those before", func() bool { return d.got == uint64(share/10) })
		d.frozenAfter(s, c, 10-share/10)
		at := d.quiesce()
		c.quiesce()
		left := 10 - int(at)
		acked := int(c.first())
		r, err := c.purge(at, 2)
		want := transport.PurgeResult{Delivered: int(at) - acked, Handed: min(2, left), Remaining: max(0, left-2)}
		if stopped := left > 2; r != want || stopped != errors.Is(err, errStop) {
			t.Errorf("%d%%: purge(%d) that stops at the third = %+v, %v, want %+v", share, at, r, err, want)
		}
		if r, err := c.purge(at, -1); err != nil || r.Handed != max(0, left-2) || r.Delivered != 0 {
			t.Errorf("%d%%: the rest = %+v, %v", share, r, err)
		}
		if r, err := c.purge(at, -1); err != nil || r != (transport.PurgeResult{}) {
			t.Errorf("%d%%: again = %+v, %v", share, r, err)
		}
		s.idle(c, d)
	}
}

// frozenAfter posts n large frames and lets the receiver see a part of the first one only.
func (p *peer) frozenAfter(s *pairs, from *peer, n int) {
	from.posts(n, 200_000)
	s.a.Progress()
	s.a.Flush()
	s.tick()
	s.b.Progress()
}

// TestPurgeHealthy (c): it is public, and says so.
func TestPurgeHealthy(t *testing.T) {
	s := newPairs(t, 3, rc.Options{})
	c, d := s.connect()
	c.posts(3, 10)
	if r, err := c.purge(0, -1); !errors.Is(err, transport.ErrNotHeld) || r != (transport.PurgeResult{}) {
		t.Errorf("purge of a healthy endpoint = %+v, %v", r, err)
	}
	s.until("what it did not hurt", func() bool { return d.got == 3 && c.first() == 3 })
	s.idle(c, d)
}

// TestCancel (f): before a failure, after it, while held, half purged; with the send ring and the credits exhausted. It always ends
// everything, at once.
func TestCancel(t *testing.T) {
	mine := fmt.Errorf("mine: %w", errStop)
	for _, when := range []string{"healthy", "exhausted", "held", "half purged", "quiesced"} {
		o := quick
		o.SendCQ = 8
		s := newPairs(t, 4, o)
		c, d := s.connect()
		s.settle(time.Millisecond) // the peer grants all that it has
		if when != "healthy" {
			s.silence(c.ep)
		}
		c.posts(40, 30_000)
		switch when {
		case "healthy", "exhausted":
			s.turn()
			if free, _, _ := rc.Room(s.a); when == "exhausted" && free > 0 {
				t.Errorf("%d places are free: this proves nothing", free)
			}
		case "held", "half purged":
			s.until("the failure", lost(c))
		case "quiesced":
			c.quiesce()
		}
		if when == "half purged" {
			_, _ = c.purge(d.quiesce(), 3)
		}
		c.ep.Cancel(mine)
		if c.first() != 40 {
			t.Errorf("%s: frame %d has not ended", when, c.first())
		}
		for tag, e := range c.ends {
			if e.err != nil && !errors.Is(e.err, mine) {
				t.Errorf("%s: frame %d ended with %v", when, tag, e.err)
			}
		}
		s.idle(c, d)
	}
}

// TestProbeAtFailure (g): a request for an acknowledgement is under way when the connection breaks.
func TestProbeAtFailure(t *testing.T) {
	for _, data := range []bool{false, true} {
		s := newPairs(t, 5, quick)
		c, d := s.connect()
		s.silence(c.ep)
		if data {
			c.posts(1, 1)
		}
		c.ep.RequestAck()
		s.until("the failure", lost(c))
		s.idle(c, d)
	}
}

// TestWrap (i): indices of blocks wrap at 2^16, packet numbers at 2^24, in the transport and in the device.
func TestWrap(t *testing.T) {
	w := newNetwork(t, 7, fabricLatency)
	w.config = wrapping
	s := newPairsOn(w, rc.StartAt(rc.Options{}, 65500, 0xffffe0))
	c, d := s.connect()
	for range 40 {
		c.posts(10, 20_000)
		d.posts(10, 100)
		s.until("a round", func() bool { return c.first() == uint64(len(c.ends)) && d.first() == uint64(len(d.ends)) })
	}
	c.posts(30, 10_000)
	s.turn()
	at := d.quiesce()
	c.quiesce()
	if r, err := c.purge(at, -1); err != nil || r.Remaining != 0 {
		t.Errorf("purge after the wrap: %+v, %v", r, err)
	}
	d.ep.Cancel(errStop)
	s.idle(c, d)
}

// TestPortDown: every endpoint of the port is told at once.
func TestPortDown(t *testing.T) {
	s := newPairs(t, 8, rc.Options{})
	c, d := s.connect()
	e, f := s.connect()
	at := s.Now()
	s.SetLink(addrA, false)
	s.until("both notices", func() bool { return len(c.errs)+len(e.errs) == 2 })
	if took := s.Now() - at; took > time.Millisecond {
		t.Errorf("it took %v", took)
	}
	s.SetLink(addrA, true)
	s.idle(c, d, e, f)
}

// TestOwnAddressGone: who has connections from an address that the port has lost is told at once; other changes of the table are nothing to them.
func TestOwnAddressGone(t *testing.T) {
	s := newPairs(t, 12, quick)
	c, d := s.connect()
	own := s.live()[0]
	if own.Addr().Addr() == addrB {
		own = s.live()[1]
	}
	own.say(rdma.Event{Type: rdma.EventGIDChange})
	s.settle(time.Millisecond)
	if len(c.errs) > 0 {
		t.Fatal(c.errs)
	}
	own.bare = true
	own.say(rdma.Event{Type: rdma.EventGIDChange})
	s.turn()
	if len(c.errs) != 1 || !errors.Is(c.errs[0], transport.ErrReset) {
		t.Errorf("told: %v", c.errs)
	}
	own.bare = false
	s.idle(c, d)
}

// TestDeviceFatal: a failed device ends its endpoints; the next dial opens another.
func TestDeviceFatal(t *testing.T) {
	s := newPairs(t, 9, quick)
	c, d := s.connect()
	c.posts(5, 100)
	s.live()[1].say(rdma.Event{Type: rdma.EventDeviceFatal})
	s.until("the notice", lost(c))
	c.quiesce()
	_, _ = c.purge(0, -1)
	c.close()
	e, f := s.connect()
	e.posts(5, 100)
	s.until("the new device", func() bool { return f.got == 5 })
	e.close()
	f.close()
	d.close()
}

// TestAckThatCantBe: a peer that acknowledges frames which have not left, or fewer than before, ends the connection, and no frame ends by it.
func TestAckThatCantBe(t *testing.T) {
	for _, ahead := range []bool{true, false} {
		s := newPairs(t, 11, rc.Options{})
		c, d := s.connect()
		c.posts(10, 100)
		s.until("all of it", func() bool { return c.first() == 10 })
		ack := uint64(9)
		if ahead {
			for len(c.ends) < 1000 && c.post(3000) != transport.NoResource { // more than the peer has receives for
			}
			ack = uint64(len(c.ends))
		}
		rc.SendAck(d.ep, ack)
		ended := 0
		s.until("the end", func() bool {
			s.a.Progress()
			if len(c.errs) == 0 {
				ended = int(c.first())
			}
			return len(c.errs) > 0
		})
		if !errors.Is(c.errs[0], transport.ErrProtocol) || ended == len(c.ends) && ahead {
			t.Errorf("ahead %v: OnError(%v), %d of %d frames had ended", ahead, c.errs[0], ended, len(c.ends))
		}
		s.idle(c, d)
	}
}

// TestViolation: what a peer sends that can't be ends the connection, and the peer hears of it.
func TestViolation(t *testing.T) {
	s := newPairs(t, 10, rc.Options{})
	seeds := uint64(200)
	if testing.Short() {
		seeds = 30
	}
	for seed := range seeds {
		c, d := s.connect()
		rc.SendRaw(c.ep, garbage(seed))
		s.until("the end", func() bool { return len(d.errs) > 0 || seed%2 == 1 })
		for range 20 {
			s.turn()
		}
		if len(d.errs) > 0 && !errors.Is(d.errs[0], transport.ErrProtocol) {
			t.Fatalf("OnError(%v), want ErrProtocol", d.errs[0])
		}
		s.idle(c, d)
	}
}
