package sim_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/sim"
)

// party is one side of one connection in a soak: it posts numbered frames and checks what it gets.
type party struct {
	s        *soak
	ep       transport.Endpoint
	dialer   bool
	peer     *party
	payloads [][]byte
	sent     []bool
	ended    []int
	got      uint64
	told     bool // Connected came before the other side accepted
	gone     bool // quiesced
	over     bool // closed
	noticed  time.Duration
	placed   []byte
}

// nasty counts what a soak should meet now and then, so that a network that got tame is noticed.
type nasty struct {
	lumps, singles                int // Progress with several frames of one endpoint, with one
	connectedFirst, acceptedFirst int
	overtaken                     int // control that came before data posted earlier
	afterNotice                   int // data taken after the other side knew of the break
	neverConnected                int // accepted, but the dialer was never told
	torn                          int // placed, never completed
	placed                        int
	stingy                        int
	silent                        int // connections that nobody was told about
	lateAcks                      int // accepted, not acknowledged when the lane was lost
}

type soak struct {
	t       testing.TB
	net     *sim.Net
	rnd     uint64
	hosts   [2]*sim.Host
	ifaces  [2]transport.Iface
	parties []*party
	seen    nasty
	taken   map[*party]int // in this Progress; only sums are read
}

func (s *soak) below(n int) int {
	s.rnd = s.rnd*6364136223846793005 + 1442695040888963407
	return int(s.rnd >> 33 % uint64(n))
}

func newSoak(t testing.TB, seed uint64, c sim.Config) *soak {
	s := &soak{t: t, net: sim.New(seed, c), rnd: seed*2 + 1, taken: map[*party]int{}}
	s.hosts = [2]*sim.Host{s.net.Host("a", "a0", "a1"), s.net.Host("b", "b0", "b1")}
	for i, h := range s.hosts {
		iface, err := h.Open(h.Env())
		if err != nil {
			t.Fatal(err)
		}
		s.ifaces[i] = iface
	}
	for _, addr := range []string{"b0:7000", "b1:7000"} {
		if _, err := s.ifaces[1].Listen(addr, s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// Accepted implements transport.Acceptor; dials are matched by their address.
func (s *soak) Accepted(ep transport.Endpoint) (transport.Sink, transport.Options) {
	for _, d := range s.parties {
		if d.dialer && d.peer == nil && d.ep.Local() == ep.Remote() {
			p := &party{s: s, ep: ep, peer: d}
			d.peer = p
			s.parties = append(s.parties, p)
			ep.Admit(s.ifaces[1].Attr().MaxFrame, true)
			if !d.told {
				s.seen.acceptedFirst++
			}
			return p, transport.Options{Window: 40000}
		}
	}
	return nil, transport.Options{} // the dialer is gone
}

func (s *soak) dial() {
	rail := s.below(2)
	p := &party{s: s, dialer: true}
	var err error
	p.ep, err = s.ifaces[0].Dial(fmt.Sprintf("a%d", rail), fmt.Sprintf("b%d:7000", rail), transport.Options{Window: 40000}, p)
	if err != nil {
		s.t.Fatal(err)
	}
	p.ep.Admit(s.ifaces[0].Attr().MaxFrame, true)
	s.parties = append(s.parties, p)
}

func (p *party) Connected() {
	if p.peer == nil {
		p.s.seen.connectedFirst++
		p.told = true
	}
}

func (p *party) Place(_ uint8, _ []byte, size int) []byte {
	if p.gone {
		p.s.t.Error("Place after Quiesce")
	}
	if p.s.below(4) == 0 {
		return nil
	}
	p.s.seen.placed++
	p.placed = make([]byte, size)
	return p.placed
}

func (p *party) Frame(in *transport.Incoming) {
	if in.Class == transport.Control {
		if binary.LittleEndian.Uint64(in.Head) > p.got {
			p.s.seen.overtaken++
		}
		return
	}
	if p.gone {
		p.s.t.Errorf("%s: data after Quiesce", p.ep.Local())
	}
	if n := binary.LittleEndian.Uint64(in.Head); n != p.got {
		p.s.t.Fatalf("%s: frame %d came as number %d", p.ep.Local(), n, p.got)
	}
	for i, b := range in.Payload {
		if b != byte(p.got)+byte(i) {
			p.s.t.Fatalf("%s: frame %d: byte %d is wrong", p.ep.Local(), p.got, i)
		}
	}
	if in.Placed {
		p.placed = nil
	}
	if p.peer.noticed > 0 {
		p.s.seen.afterNotice++
	}
	p.got++
	p.s.taken[p]++
}

func (p *party) Room() {}

func (p *party) OnError(error) transport.Decision {
	p.noticed = p.s.net.Now()
	if p.s.below(2) == 0 {
		p.quiesce()
	}
	return transport.Hold
}

func (p *party) quiesce() {
	p.gone = true
	p.ep.Quiesce()
}

func (p *party) Sent(tag uint64) {
	p.sent[tag] = true
	clear(p.payloads[tag])
}

func (p *party) Executed(tag uint64, err error) {
	p.ended[tag]++
	if err != nil {
		p.s.t.Errorf("%s: frame %d ended with %v", p.ep.Local(), tag, err)
	}
}

// ramp is bytes that count up, from 0 on. A payload is a part of it: where it begins says which it is.
var ramp = func() []byte {
	b := make([]byte, 256+20000)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}()

func (p *party) post() {
	s := p.s
	var head [8]byte
	n := uint64(len(p.payloads))
	binary.LittleEndian.PutUint64(head[:], n)
	if s.below(6) == 0 {
		p.ep.Post(&transport.Frame{ID: 2, Class: transport.Control, Head: head[:]})
		return
	}
	size := []int{0, 10, 100, 1500, 9000, 20000}[s.below(6)]
	payload := append([]byte(nil), ramp[byte(n):][:size]...)
	p.payloads, p.sent, p.ended = append(p.payloads, payload), append(p.sent, true), append(p.ended, 0)
	st := p.ep.Post(&transport.Frame{ID: 1, Head: head[:], Payload: payload, ZeroCopy: s.below(2) == 0,
		AckNow: s.below(5) == 0, Done: p, Tag: n})
	switch st {
	case transport.Pending:
		p.sent[n] = false
	case transport.Done:
	case transport.NoResource, transport.Failed:
		if st == transport.NoResource {
			s.seen.stingy++
		}
		p.payloads, p.sent, p.ended = p.payloads[:n], p.sent[:n], p.ended[:n]
	}
}

// step is one move of the driver.
func (s *soak) step() {
	i := s.below(2)
	for range s.below(3) {
		p := s.parties[s.below(len(s.parties))]
		if !p.gone && !p.over {
			p.post()
		}
	}
	clear(s.taken)
	n := s.ifaces[i].Progress()
	for _, k := range s.taken {
		if k > 1 {
			s.seen.lumps++
		} else {
			s.seen.singles++
		}
	}
	s.ifaces[i].Flush()
	if n == 0 {
		s.net.Step()
	}
}

// trouble is one fault, or a new connection.
func (s *soak) trouble() {
	p := s.parties[s.below(len(s.parties))]
	kind, dir := sim.Kind(s.below(3)), sim.Dir(s.below(3))
	rail := []string{"a0", "a1", "b0", "b1"}[s.below(4)]
	switch s.below(8) {
	case 0, 1:
		s.net.Break(p.ep, kind, dir)
	case 2:
		if !p.over {
			p.quiesce()
		}
	case 3:
		s.net.CutRail(rail, kind, dir)
	case 4:
		s.net.Heal(rail)
	default:
		s.dial()
	}
}

// finish hands over every connection and checks that each frame was accepted or handed out, once.
func (s *soak) finish() {
	for _, p := range s.parties {
		if p.noticed == 0 && !p.gone && p.peer != nil && p.peer.noticed == 0 && !p.peer.gone {
			s.seen.silent++
		}
		p.quiesce()
	}
	for _, p := range s.parties {
		var position uint64
		if p.peer != nil {
			position = p.peer.ep.Position()
			if position != p.peer.got {
				s.t.Errorf("%s: position %d, %d taken", p.ep.Remote(), position, p.peer.got)
			}
			if p.peer.placed != nil {
				s.seen.torn++
			}
		} else if p.dialer {
			s.seen.neverConnected++
		}
		if c := p.ep.Counts(); c.Acked < position {
			s.seen.lateAcks++
		}
		next := position
		_, err := p.ep.PurgeOutstanding(position, func(f *transport.Frame) error {
			if f.Tag != next {
				s.t.Errorf("handed out %d, want %d", f.Tag, next)
			}
			next++
			p.ended[f.Tag]++
			return nil
		})
		if err != nil || next != uint64(len(p.ended)) {
			s.t.Errorf("%s: purge(%d) = %v, handed out up to %d of %d", p.ep.Local(), position, err, next, len(p.ended))
		}
		for tag, n := range p.ended {
			if n != 1 || !p.sent[tag] && uint64(tag) < position {
				s.t.Errorf("%s: frame %d of %d ended %d times, sent %v, position %d", p.ep.Local(), tag, len(p.ended), n, p.sent[tag], position)
				break
			}
		}
	}
	s.ifaces[0].Close()
	s.ifaces[1].Close()
	if c := s.net.Open(); c != (sim.Counters{}) {
		s.t.Errorf("left open: %+v", c)
	}
	if v := s.net.Violations(); len(v) > 0 {
		s.t.Errorf("violations: %q", v)
	}
}

// runSoak is one whole seed.
func runSoak(t testing.TB, seed uint64, steps int, c sim.Config) (uint64, nasty) {
	s := newSoak(t, seed, c)
	s.dial()
	s.dial()
	every := 20 + s.below(100)
	last := s.net.Now()
	for i := range steps {
		s.step()
		if i%every == every-1 {
			s.trouble()
		}
		if now := s.net.Now(); now < last {
			t.Fatalf("time went from %v to %v", last, now)
		} else {
			last = now
		}
	}
	s.finish()
	return s.net.Hash(), s.seen
}

func (n *nasty) add(o nasty) {
	n.lumps += o.lumps
	n.singles += o.singles
	n.connectedFirst += o.connectedFirst
	n.acceptedFirst += o.acceptedFirst
	n.overtaken += o.overtaken
	n.afterNotice += o.afterNotice
	n.neverConnected += o.neverConnected
	n.torn += o.torn
	n.placed += o.placed
	n.stingy += o.stingy
	n.silent += o.silent
	n.lateAcks += o.lateAcks
}

// number reads a number from the environment.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q: %v", name, v, err)
	}
	return n
}

// TestSoak runs seeds twice each: exactly once over every mix of faults, the same end both times.
// BRAID_SEED=n runs that one alone, BRAID_SEEDS=n the first n.
func TestSoak(t *testing.T) {
	from, to := uint64(0), number(t, "BRAID_SEEDS", 100)
	if n := number(t, "BRAID_SEED", to); n != to {
		from, to = n, n+1
	}
	var all nasty
	hashes := map[uint64]uint64{}
	for seed := from; seed < to && !t.Failed(); seed++ {
		c := sim.Config{Stingy: int(seed%4) * 10, Calm: seed%10 == 9}
		h1, seen := runSoak(t, seed, 600, c)
		h2, _ := runSoak(t, seed, 600, c)
		all.add(seen)
		if h1 != h2 {
			t.Errorf("seed %d ends differently: %#x, %#x", seed, h1, h2)
		}
		if other, ok := hashes[h1]; ok {
			t.Errorf("seeds %d and %d end with the same hash", seed, other)
		}
		hashes[h1] = seed
		if t.Failed() {
			t.Logf("rerun: BRAID_SEED=%d go test -run TestSoak ./transport/sim", seed)
		}
	}
	t.Logf("%+v", all)
	if to-from < 100 {
		return
	}
	for what, n := range map[string]int{
		"several frames in one Progress": all.lumps, "one frame in a Progress": all.singles,
		"Connected before Accepted": all.connectedFirst, "Accepted before Connected": all.acceptedFirst,
		"control before older data": all.overtaken, "data after the other side's notice": all.afterNotice,
		"a dial that came to nothing": all.neverConnected, "a placed frame that was torn": all.torn,
		"placed frames": all.placed, "posts without room": all.stingy,
		"a break that nobody noticed": all.silent, "accepted, not acknowledged": all.lateAcks,
	} {
		if n == 0 {
			t.Errorf("the network became tame: never met %s", what)
		}
	}
}
