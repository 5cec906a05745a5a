package rc_test

import (
	"testing"
	"time"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/packet"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
	"github.com/openbraid/braid/transport/rc/wire"
)

// TestMessagesOfStrangers: a datagram from the peer's address that does not know all of a connection changes nothing here, and makes none.
func TestMessagesOfStrangers(t *testing.T) {
	for _, c := range []struct {
		name   string
		verb   wire.Verb
		change func(*wire.Message)
	}{
		{"the end, another name", wire.Leave, func(m *wire.Message) { m.Conn ^= 1 }},
		{"the end, another queue pair", wire.Leave, func(m *wire.Message) { m.QPN ^= 1 }},
		{"the end, from the wrong side", wire.Leave, func(m *wire.Message) { m.Dialer = !m.Dialer }},
		{"a request of who did not dial", wire.Request, func(m *wire.Message) { m.Conn, m.Dialer = m.Conn^1, false }},
		{"a refusal, another name", wire.Reject, func(m *wire.Message) { m.Conn, m.Reason = m.Conn^1, wire.ReasonFull }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newPairs(t, 23, rc.Options{})
			x, y := s.connect()
			rc.Say(x.ep, c.verb, c.change)
			made := 0
			for range 50 {
				s.turn()
				made = max(made, rc.HalfOpen(s.b))
			}
			if len(y.errs) > 0 || made > 0 {
				t.Errorf("it was believed: %v, %d half open", y.errs, made)
			}
			x.posts(1, 1)
			s.until("the connection unhurt", func() bool { return y.got == 1 })
			s.idle(x, y)
		})
	}
}

// TestReadyLost: an acceptor that did not hear that the dialer has its reply is told again, also where nothing is sent on the connection.
func TestReadyLost(t *testing.T) {
	s := newPairs(t, 25, rc.Options{})
	op := packet.UDSendOnly
	s.rules = []carrier.Rule{{Opcode: &op, Share: 1, After: 1, Count: 1, Drop: true}} // the dialer's second datagram
	c, d := s.dial()
	s.until("a connection", func() bool { return d.ep != nil })
	if c.up != 1 || s.live()[1].faults.Hits() != 1 {
		t.Errorf("connected %d times, %d datagrams were lost", c.up, s.live()[1].faults.Hits())
	}
	s.idle(c, d)
}

// TestDialsItself: both ends of a connection on one port, of one name and from one address, are told apart.
func TestDialsItself(t *testing.T) {
	s := newPairs(t, 34, rc.Options{})
	c, d := &peer{w: s.network, name: "dialer", decision: transport.Hold}, &peer{w: s.network, name: "acceptor", decision: transport.Hold}
	c.other, d.other = d, c
	var err error
	if c.ep, err = s.b.Dial("10.0.0.2", s.ln.Addr(), transport.Options{}, c); err != nil {
		t.Fatal(err)
	}
	s.dialed = append(s.dialed, c)
	s.until("a connection", func() bool { return c.up == 1 && d.ep != nil })
	c.ep.Admit(1<<20, true)
	d.ep.Admit(1<<20, true)
	c.posts(3, 5000)
	d.posts(3, 5000)
	s.until("what was sent", func() bool { return c.got == 3 && d.got == 3 })
	c.close()
	s.until("the end", lost(d))
	s.idle(c, d)
}

// TestHalfOpen: who only ever asks costs a bounded number of queue pairs, for a bounded time.
func TestHalfOpen(t *testing.T) {
	s := newPairs(t, 24, rc.Options{})
	var asked []*peer
	for range 4 { // as many as leave at a time, and more
		for range 32 {
			c, d := s.dial()
			d.other = nil
			asked = append(asked, c)
		}
		s.silenceAnswers()
		s.settle(time.Millisecond)
	}
	if n := rc.HalfOpen(s.b); n != 64 {
		t.Errorf("%d half open, want 64", n)
	}
	s.settle(4 * time.Second)
	for _, c := range asked {
		if len(c.errs) == 0 {
			t.Error("a dial without an answer did not end")
		}
	}
	s.idle(asked...)
}

// TestErrFirst: whatever ends a connection, its queue pair is in ERR when the sink hears of it, and nothing of that failure has ended.
func TestErrFirst(t *testing.T) {
	for name, end := range map[string]func(s *pairs, c, d *peer){
		"the peer leaves":  func(_ *pairs, _, d *peer) { d.close() },
		"the port is down": func(s *pairs, _, _ *peer) { s.SetLink(addrA, false) },
		"it is broken off": func(_ *pairs, c, _ *peer) { rc.Break(c.ep) },
		"bytes that can't be": func(_ *pairs, _, d *peer) {
			rc.SendRaw(d.ep, make([]byte, 3))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newPairs(t, 41, quick)
			c, d := s.connect()
			state, ended := rdma.QPStates, -1
			c.onError = func() {
				state, ended = rc.State(c.ep), 0
				for _, e := range c.ends {
					ended += e.executed + e.handed
				}
			}
			c.posts(3, 50_000)
			end(s, c, d)
			s.until("the end", lost(c))
			if state != rdma.Err || ended != 0 {
				t.Errorf("%v, %d of its frames had ended", state, ended)
			}
			s.SetLink(addrA, true)
			s.idle(c, d)
		})
	}
}
