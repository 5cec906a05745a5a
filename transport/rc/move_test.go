package rc_test

import (
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
)

// TestMove: in the middle of a run the address of the listener moves to another MAC. Connections to it end at once, both sides hear of it, and a
// new one finds the new place. Who keeps a handle, sends to where nobody is any more.
func TestMove(t *testing.T) {
	s := newPairs(t, 20, quick)
	for round := range 3 {
		c, d := s.connect()
		e, f := s.connect()
		c.posts(20, 5000)
		d.posts(20, 5000)
		s.turn()
		at := s.Now()
		s.Move(addrB)
		s.until("the notices of who has connections there", func() bool { return len(c.errs)+len(e.errs) == 2 })
		if took := s.Now() - at; took > time.Millisecond {
			t.Errorf("round %d: it took %v", round, took)
		}
		s.until("the notices over there", func() bool { return len(d.errs)+len(f.errs) == 2 })
		for _, p := range []*peer{c, d} {
			p.quiesce()
		}
		if _, err := c.purge(d.got, -1); err != nil {
			t.Error(err)
		}
		if _, err := d.purge(c.got, -1); err != nil {
			t.Error(err)
		}
		s.idle(c, d, e, f)
	}
}

// TestMoveWhileSending: datagrams are under way to the address when it moves: they end with what they have, and the next ones
// go to the new place.
func TestMoveWhileSending(t *testing.T) {
	s := newPairs(t, 21, quick)
	c, d := s.dial() // the request has a handle, and has not left its queue's books
	s.Move(addrB)
	s.until("a connection all the same", func() bool { return c.up == 1 && d.ep != nil })
	s.idle(c, d)
}

// TestMoveWithoutNews: where nobody says that an address has moved, as over sockets, a request is said again, in the new place; a connection that stands is given up when
// its patience is over, and the next one finds the new place.
func TestMoveWithoutNews(t *testing.T) {
	s := newPairs(t, 36, quick)
	e, f := s.connect()
	s.live()[1].deaf = true // opened to dial
	c, d := s.dial()
	e.posts(3, 100)
	s.Move(addrB)
	s.until("a connection all the same", func() bool { return c.up == 1 && d.ep != nil })
	s.until("the end of the one before", lost(e))
	g, h := s.connect()
	g.posts(3, 100)
	s.until("frames in the new place", func() bool { return h.got == 3 && f.got == 0 })
	s.idle(c, d, e, f, g, h)
}

// TestHandlesAreRefreshed: a datagram that is sent after its address moved doesn't share the handle of one that has not left yet.
func TestHandlesAreRefreshed(t *testing.T) {
	s := newPairs(t, 25, quick)
	c, _ := s.dial()
	d, _ := s.dial()
	if n := rc.Handles(s.a); n != 1 {
		t.Errorf("%d handles for one address", n)
	}
	rc.Happened(s.a, rdma.Event{Type: rdma.EventNeighbour, GID: rdma.GIDFrom(addrB)})
	e, _ := s.dial()
	if n := rc.Handles(s.a); n != 2 {
		t.Errorf("%d handles: the old one, and one for what is sent from now on", n)
	}
	s.idle(c, d, e)
}

// TestLastWords: what was posted and flushed before Close arrives, as the last bytes of a socket do.
func TestLastWords(t *testing.T) {
	s := newPairs(t, 22, rc.Options{})
	c, d := s.connect()
	for range 5 {
		c.ep.Post(&transport.Frame{ID: 9, Class: transport.Control, Payload: make([]byte, 3000)})
	}
	// Not even when they are lost at first.
	_, number := rc.Numbers(c.ep)
	for _, n := range s.live() {
		n.faults.SetRules(carrier.Rule{QP: &number, Share: 1, Drop: true, Count: 4})
	}
	s.a.Flush()
	c.close()
	s.until("the end", lost(d))
	if d.control != 5 {
		t.Errorf("%d of 5 last words arrived", d.control)
	}
	s.idle(c, d)
}

// TestLastWordsEnd: who closes and is not heard is gone a tenth of a second later, however patient the queue pair is.
func TestLastWordsEnd(t *testing.T) {
	s := newPairs(t, 28, rc.Options{})
	c, d := s.connect()
	s.silence(c.ep)
	c.posts(5, 3000)
	s.a.Flush()
	c.close()
	s.settle(300 * time.Millisecond) // and its farewell has been said four times
	if why := rc.Leak(s.a); why != "" {
		t.Error(why)
	}
	s.idle(c, d)
}

// TestUnusedDevicesClose: a device that was opened to dial ends with its last connection; that of a listener stays.
func TestUnusedDevicesClose(t *testing.T) {
	s := newPairs(t, 29, rc.Options{})
	for range 3 {
		c, d := s.connect()
		s.idle(c, d)
		s.settle(time.Millisecond)
		if a, b := len(rc.Devices(s.a)), len(rc.Devices(s.b)); a != 0 || b != 1 {
			t.Errorf("%d devices of the dialer, %d of the listener", a, b)
		}
	}
	if err := s.ln.Close(); err != nil {
		t.Error(err)
	}
	s.settle(time.Millisecond)
	if n := len(rc.Devices(s.b)); n != 0 {
		t.Errorf("%d devices of a listener that was closed", n)
	}
}

// TestFarewell: a peer that sends nothing hears of the end, also where datagrams are lost.
func TestFarewell(t *testing.T) {
	heard := 0
	for seed := range uint64(20) {
		w := newNetwork(t, seed, fabricLatency)
		s := newPairsOn(w, quick)
		c, d := s.connect()
		w.rules = append(w.rules, lossy...)
		for _, n := range w.live() {
			n.faults.SetRules(lossy...)
		}
		c.quiesce()
		for range 2000 {
			s.turn()
		}
		heard += len(d.errs)
		s.idle(c, d)
	}
	if heard < 18 { // four datagrams, of which each third is lost
		t.Errorf("%d of 20 heard of it", heard)
	}
}

// TestFarewellEnds: who leaves and is not heard, since nobody is there any more, says it four times and lets go.
func TestFarewellEnds(t *testing.T) {
	s := newPairs(t, 35, quick)
	c, d := s.connect()
	for _, n := range s.live() {
		n.faults.SetRules(carrier.Rule{Share: 1, Drop: true})
	}
	c.close()
	s.settle(100 * time.Millisecond)
	if why := rc.Leak(s.a); why == "" {
		t.Error("it has said it less than four times")
	}
	s.settle(100 * time.Millisecond) // 10, 20, 40 and 80
	if why := rc.Leak(s.a); why != "" {
		t.Error(why)
	}
	s.idle(c, d)
}

// TestLeaveFromElsewhere: a datagram that knows everything, and comes from another address, ends nothing.
func TestLeaveFromElsewhere(t *testing.T) {
	s := newPairs(t, 26, rc.Options{})
	c, d := s.connect()
	other := s.iface("10.0.0.3", rc.Options{TrustNetwork: true})
	e := &peer{w: s.network, name: "stranger", decision: transport.Hold}
	f := &peer{w: s.network, name: "its acceptor", decision: transport.Hold, other: e}
	ep, err := other.Dial("10.0.0.3", s.ln.Addr(), transport.Options{}, e)
	if err != nil {
		t.Fatal(err)
	}
	e.ep, e.other = ep, f
	s.dialed = append(s.dialed, e)
	s.until("the stranger's own connection", func() bool { return e.up == 1 && f.ep != nil })
	rc.SpoofLeave(other, c.ep)
	for range 50 {
		s.turn()
	}
	if len(d.errs) > 0 {
		t.Errorf("it was believed: %v", d.errs)
	}
	c.posts(1, 1)
	s.until("the connection unhurt", func() bool { return d.got == 1 })
	s.idle(c, d, e, f)
	if err := other.Close(); err != nil {
		t.Error(err)
	}
}

// TestSecretOfAcceptor: who has a secret and has not allowed it here takes no connection, whatever the dialer thinks of it.
func TestSecretOfAcceptor(t *testing.T) {
	s := newPairs(t, 27, rc.Options{})
	third := s.iface("10.0.0.3", rc.Options{TrustNetwork: true})
	c, d := &peer{w: s.network, name: "dialer"}, &peer{w: s.network, name: "acceptor"}
	c.other, d.other = d, c
	ln, err := third.Listen("10.0.0.3:0", acceptor{next: func(transport.Endpoint) *peer { return d }, o: transport.Options{Secret: true}})
	if err != nil {
		t.Fatal(err)
	}
	if c.ep, err = s.a.Dial("10.0.0.1", ln.Addr(), transport.Options{}, c); err != nil {
		t.Fatal(err)
	}
	s.until("both ends of it", func() bool { return len(c.errs) > 0 && len(d.errs) > 0 })
	if !strings.Contains(d.errs[0].Error(), "AllowSecret") {
		t.Error(d.errs[0])
	}
	s.idle(c, d)
	if err := third.Close(); err != nil {
		t.Error(err)
	}
}
