package rc_test

import (
	"errors"
	"testing"
	"time"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/packet"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
)

// TestUnequalMTU: two ports whose links carry packets of different sizes agree on the smaller one, whoever dials, for what is sent and what is read.
func TestUnequalMTU(t *testing.T) {
	for _, small := range []string{"10.0.0.1", "10.0.0.2"} {
		w := newNetwork(t, 70, fabricLatency)
		w.hooks = &hooks{mtu: map[string]rdma.MTU{small: rdma.MTU1024}}
		s := newPairsOn(w, patient)
		c, d := s.connect()
		most := 0
		w.Watch(func(_ time.Duration, _ packet.Flow, b []byte) {
			var p packet.Packet
			if p.Parse(b) == nil {
				most = max(most, len(p.Payload))
			}
		})
		for _, size := range []int{9000, 100_000} { // in segments, and read
			c.posts(5, size)
			d.posts(5, size)
		}
		s.until("all", func() bool { return c.first() == 10 && d.first() == 10 })
		if most != 1024 || len(c.errs)+len(d.errs) > 0 {
			t.Errorf("%s has 1024: packets of %d bytes, %v %v", small, most, c.errs, d.errs)
		}
		if n := rc.WasRead(c.ep) + rc.WasRead(d.ep); n != 10 {
			t.Errorf("%d payloads were read", n)
		}
		s.idle(c, d)
	}
}

// TestWholeOrNothing: a frame that takes several work requests is posted as a whole or not at all, whatever there is too little of: room in the window, places,
// credits, memory, the device's queue. What the peer has of it when the connection breaks counts for nothing, and it is handed out as a whole.
func TestWholeOrNothing(t *testing.T) {
	t.Run("the window", wholeWindow)
	t.Run("places and credits", wholePlaces)
	t.Run("memory", wholeMemory)
	t.Run("memory for data", wholeData)
	t.Run("the device's queue", wholeQueue)
}

const wholeBytes = 200_000 // 7 segments

func wholeWindow(t *testing.T) {
	s := newPairs(t, 71, rc.Options{})
	c, d := s.connect()
	n := 0
	for c.post(wholeBytes) == transport.Done {
		n++
	}
	before := c.ep.Counts()
	if st := c.post(wholeBytes); st != transport.NoResource || c.ep.Counts() != before || n < 10 {
		t.Errorf("%v after %d frames; %+v, before %+v", st, n, c.ep.Counts(), before)
	}
	s.until("room", func() bool { return c.rooms > 0 })
	c.posts(1, wholeBytes)
	s.until("all", func() bool { return int(d.got) == n+1 && int(c.first()) == n+1 })
	s.idle(c, d)
}

func wholePlaces(t *testing.T) {
	o := quick
	o.SendCQ, o.Receives = 8, 8
	s := newPairs(t, 72, o)
	c, d := s.connect()
	e, f := s.connect()
	for range 20 { // in turns, so that each waits in the middle of its frames
		c.posts(1, wholeBytes)
		e.posts(1, wholeBytes)
		s.turn()
	}
	s.until("some", func() bool { return d.got > 5 && f.got > 5 })
	s.silence(c.ep)
	s.until("the failure, and the others", func() bool { return len(c.errs) > 0 && f.got == 20 })
	at := int(d.quiesce())
	if r, err := c.purge(uint64(at), -1); err != nil || r.Handed != 20-at {
		t.Errorf("purge at %d of 20: %+v, %v", at, r, err)
	}
	s.idle(c, d, e, f)
}

func wholeMemory(t *testing.T) {
	w := newNetwork(t, 73, fabricLatency)
	w.hooks = &hooks{}
	s := newPairsOn(w, quick)
	c, d := s.connect()
	c.posts(3, wholeBytes)
	w.hooks.regMR = func() error { return rdma.ErrLimit }
	if st := c.ep.Post(&transport.Frame{ID: 7, Class: transport.Control, Payload: make([]byte, 300_000)}); st != transport.Failed {
		t.Errorf("a control frame: %v", st)
	}
	s.until("the failure", lost(c))
	w.hooks.regMR = nil
	if !errors.Is(c.errs[0], rdma.ErrLimit) || d.control != 0 {
		t.Errorf("%v, %d control frames came", c.errs[0], d.control)
	}
	_, err := c.purge(d.quiesce(), -1)
	if err != nil {
		t.Error(err)
	}
	s.idle(c, d)
}

func wholeData(t *testing.T) {
	w := newNetwork(t, 74, fabricLatency)
	w.hooks = &hooks{}
	s := newPairsOn(w, quick)
	c, d := s.connect()
	w.hooks.regMR = func() error { return rdma.ErrLimit }
	c.posts(1, wholeBytes) // it is in the books, and the connection is lost
	w.hooks.regMR = nil
	if st := c.post(wholeBytes); st != transport.Failed {
		t.Errorf("the next one: %v", st)
	}
	s.until("the failure", lost(c))
	if r, err := c.purge(d.quiesce(), -1); err != nil || r.Handed != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	s.idle(c, d)
}

func wholeQueue(t *testing.T) {
	for takes := range 7 {
		w := newNetwork(t, 75, fabricLatency)
		w.hooks = &hooks{}
		s := newPairsOn(w, quick)
		c, d := s.connect()
		s.settle(time.Millisecond) // the peer grants all that it has
		w.hooks.takes = func(n int) int { return min(n, takes) }
		c.posts(1, wholeBytes)
		s.a.Flush()
		w.hooks.takes = nil
		s.until("the failure", lost(c))
		s.settle(time.Millisecond)
		if r, err := c.purge(d.quiesce(), -1); err != nil || d.got != 0 || r.Handed != 1 {
			t.Errorf("the device took %d of 7: the peer has %d, %+v, %v", takes, d.got, r, err)
		}
		s.idle(c, d)
	}
}

// TestModeration: of the work requests that leave together each eighth asks for a completion, and the last one; when places get few, each does. All places come back
// with what was asked for.
func TestModeration(t *testing.T) {
	for _, c := range []struct{ places, posted, signaled int }{{4096, 27, 4}, {16, 16, 3}} { // of 16 places the last two ask
		w := newNetwork(t, 76, fabricLatency)
		w.hooks = &hooks{}
		o := quick
		o.SendCQ = c.places
		s := newPairsOn(w, o)
		x, y := s.connect()
		s.settle(time.Millisecond) // the peer grants all that it has
		q := w.hooks.pairs[0]
		q.posted, q.signaled = 0, 0
		x.posts(1, 26*32<<10) // 27 segments: doorbells of 16 and 11
		s.a.Flush()
		switch {
		case q.posted != c.posted || q.signaled != c.signaled:
			t.Errorf("of %d work requests %d are signaled, want %d of %d", q.posted, q.signaled, c.signaled, c.posted)
		case !q.last:
			t.Errorf("the last one of %d is not signaled", q.doorbell)
		}
		s.until("all of it", func() bool { return y.got == 1 && x.first() == 1 })
		if places, _, all := rc.Room(s.a); !all {
			t.Errorf("%d places came back of %d", places, c.places)
		}
		s.idle(x, y)
	}
}
