package rc_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/openbraid/braid/rdma/soft/fabric"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
)

// end is how a frame ended for who posted it.
type end struct {
	executed, handed int
	err              error
	size             int
	byte0            byte
}

// peer is one side of a connection and what was seen of it.
type peer struct {
	w        *network
	name     string
	ep       transport.Endpoint
	other    *peer
	decision transport.Decision
	onError  func() // called from OnError

	up      int
	rooms   int
	errs    []error
	log     []string // "error", "end": in the order in which they came
	ends    []end    // of what this side posted, by tag
	got     uint64   // data frames taken
	control int
	closed  bool
	frozen  bool // quiesced
}

func (p *peer) Connected()                      { p.up++ }
func (p *peer) Place(uint8, []byte, int) []byte { return nil }
func (p *peer) Room()                           { p.rooms++ }
func (p *peer) Sent(uint64)                     { p.w.Errorf("%s: Sent, although every payload is copied", p.name) }

func (p *peer) OnError(err error) transport.Decision {
	p.errs = append(p.errs, err)
	p.log = append(p.log, "error")
	if p.onError != nil {
		p.onError()
	}
	if len(p.errs) > 1 || p.frozen || p.closed {
		p.w.Errorf("%s: OnError %v, frozen %v, closed %v", p.name, p.errs, p.frozen, p.closed)
	}
	return p.decision
}

func (p *peer) Executed(tag uint64, err error) {
	p.log = append(p.log, "end")
	e := &p.ends[tag]
	e.executed++
	e.err = err
	if err != nil && len(p.errs) == 0 && !errors.Is(err, errStop) && !errors.Is(err, transport.ErrClosed) {
		p.w.Errorf("%s: frame %d ended with %v before OnError was called", p.name, tag, err)
	}
	if err == nil && p.other != nil && tag >= p.other.got {
		p.w.Errorf("%s: frame %d is executed, the peer has taken %d", p.name, tag, p.other.got)
	}
}

func (p *peer) Frame(in *transport.Incoming) {
	if in.Class == transport.Control {
		p.control++
		return
	}
	tag := binary.LittleEndian.Uint64(in.Head)
	e := p.other.ends[tag]
	switch {
	case p.frozen || p.closed:
		p.w.Errorf("%s: frame %d, frozen %v, closed %v", p.name, tag, p.frozen, p.closed)
	case tag != p.got:
		p.w.Errorf("%s: frame %d came, %d was due", p.name, tag, p.got)
	case len(in.Payload) != e.size || e.size > 0 && (in.Payload[0] != e.byte0 || in.Payload[e.size-1] != e.byte0):
		p.w.Errorf("%s: frame %d has wrong bytes", p.name, tag)
	}
	p.got++
}

// post posts one data frame.
func (p *peer) post(size int) transport.Status {
	tag := uint64(len(p.ends))
	payload := bytes.Repeat([]byte{byte(tag*7 + 1)}, size)
	p.ends = append(p.ends, end{size: size, byte0: byte(tag*7 + 1)})
	st := p.ep.Post(&transport.Frame{ID: 1, Head: binary.LittleEndian.AppendUint64(nil, tag), Payload: payload, Done: p, Tag: tag})
	if st != transport.Done {
		p.ends = p.ends[:tag]
	}
	return st
}

func (p *peer) posts(n, size int) {
	p.w.Helper()
	for range n {
		if st := p.post(size); st != transport.Done {
			p.w.Fatalf("%s: Post says %v", p.name, st)
		}
	}
}

// quiesce gives the connection up.
func (p *peer) quiesce() uint64 {
	p.ep.Quiesce()
	p.frozen = true
	if at := p.ep.Position(); at != p.got {
		p.w.Errorf("%s: position %d, %d frames were taken", p.name, at, p.got)
	}
	return p.ep.Position()
}

// purge hands out what the peer does not have; fails makes fn fail at that one.
func (p *peer) purge(position uint64, fails int) (transport.PurgeResult, error) {
	next := p.first()
	n := 0
	return p.ep.PurgeOutstanding(position, func(f *transport.Frame) error {
		if n == fails {
			return errStop
		}
		n++
		next = max(next, position)
		e := &p.ends[f.Tag]
		if e.handed++; f.Tag != next || len(f.Payload) != e.size || e.size > 0 && f.Payload[0] != e.byte0 {
			p.w.Errorf("%s: handed out frame %d of %d bytes, %d was due", p.name, f.Tag, len(f.Payload), next)
		}
		next++
		return nil
	})
}

var errStop = fmt.Errorf("stop")

// first is the first frame that has not ended.
func (p *peer) first() uint64 {
	for i := range p.ends {
		if p.ends[i].executed+p.ends[i].handed == 0 {
			return uint64(i)
		}
	}
	return uint64(len(p.ends))
}

func (p *peer) close() {
	p.ep.Close()
	p.closed = true
}

// allOnce: each frame ended once.
func (p *peer) allOnce() {
	p.w.Helper()
	for tag, e := range p.ends {
		if e.executed+e.handed != 1 {
			p.w.Errorf("%s: frame %d ended %d times and was handed out %d times", p.name, tag, e.executed, e.handed)
		}
	}
}

// turn is one turn of everybody, with a look at the books.
func (w *network) turn() {
	w.Helper()
	for _, i := range w.ifaces {
		i.Progress()
		i.Flush()
		if v := rc.Check(i); v != "" {
			w.Fatal(v)
		}
	}
	w.neverUnready()
	w.tick()
}

// neverUnready: who keeps to his credits always finds a receive.
func (w *network) neverUnready() {
	for _, n := range w.live() {
		if k := n.Stats().RNRsSent; k > 0 {
			w.Fatalf("%d times there was no receive", k)
		}
	}
}

// until turns until ok; after 20 virtual seconds it says what it waited for.
func (w *network) until(what string, ok func() bool) {
	w.Helper()
	for end := w.Now() + 20*time.Second; !ok(); w.turn() {
		if w.Now() > end {
			w.Fatalf("waited for %s\n%s", what, w.waits())
		}
	}
}

func (w *network) settle(d time.Duration) {
	end := w.Now() + d
	w.until("time", func() bool { return w.Now() >= end })
}

// acceptor hands out one sink for each connection.
type acceptor struct {
	next func(ep transport.Endpoint) *peer
	o    transport.Options
}

func (a acceptor) Accepted(ep transport.Endpoint) (transport.Sink, transport.Options) {
	p := a.next(ep)
	if p == nil {
		return nil, transport.Options{}
	}
	p.ep = ep
	return p, a.o
}

// pairs are two interfaces, and connections between them.
type pairs struct {
	*network
	a, b   transport.Iface
	ln     transport.Listener
	dialed []*peer
}

func newPairs(t testing.TB, seed uint64, o rc.Options) *pairs {
	return newPairsOn(newNetwork(t, seed, fabric.Config{Latency: 3 * time.Microsecond}), o)
}

func newPairsOn(w *network, o rc.Options) *pairs { return newPairsOf(w, o, o) }

// newPairsOf gives the two sides options of their own.
func newPairsOf(w *network, a, b rc.Options) *pairs {
	w.Helper()
	a.TrustNetwork, b.TrustNetwork = true, true
	s := &pairs{network: w, a: w.iface("10.0.0.1", a), b: w.iface("10.0.0.2", b)}
	ln, err := s.b.Listen("10.0.0.2:0", acceptor{next: s.of})
	if err != nil {
		w.Fatal(err)
	}
	s.ln = ln
	w.Cleanup(s.shut)
	return s
}

// dial begins a connection.
func (s *pairs) dial() (c, d *peer) {
	s.Helper()
	c, d = &peer{w: s.network, name: "dialer", decision: transport.Hold}, &peer{w: s.network, name: "acceptor", decision: transport.Hold}
	c.other, d.other = d, c
	ep, err := s.a.Dial("10.0.0.1", s.ln.Addr(), transport.Options{}, c)
	if err != nil {
		s.Fatal(err)
	}
	c.ep = ep
	s.dialed = append(s.dialed, c)
	return c, d
}

// of is the acceptor's side of a connection.
func (s *pairs) of(ep transport.Endpoint) *peer {
	for _, c := range s.dialed {
		if rc.Conn(c.ep) == rc.Conn(ep) {
			return c.other
		}
	}
	return nil
}

// connect makes a connection and admits it.
func (s *pairs) connect() (c, d *peer) {
	s.Helper()
	c, d = s.dial()
	s.until("a connection", func() bool { return c.up == 1 && d.ep != nil })
	c.ep.Admit(1<<20, true)
	d.ep.Admit(1<<20, true)
	return c, d
}

// shut closes what is left, and looks whether everything came back.
func (s *pairs) shut() {
	if s.Failed() {
		return
	}
	for _, i := range s.ifaces {
		i.Progress()
	}
	for _, i := range []transport.Iface{s.a, s.b} {
		if err := i.Close(); err != nil {
			s.Errorf("Close: %v", err)
		}
	}
	if n := len(s.live()); n > 0 {
		s.Errorf("%d devices are left open", n)
	}
}

// idle closes connections and waits until nothing of them is left.
func (s *pairs) idle(ps ...*peer) {
	s.Helper()
	for _, p := range ps {
		if p.closed {
			p.allOnce()
		}
	}
	for end := s.Now() + 20*time.Second; ; s.turn() {
		for _, p := range ps {
			if !p.closed && p.ep != nil { // it may have been accepted just now
				p.close()
				p.allOnce()
			}
		}
		why := rc.Leak(s.a) + rc.Leak(s.b)
		if why == "" {
			return
		}
		if s.Now() > end {
			s.Fatalf("not given back: %s\n%s", why, s.waits())
		}
	}
}

// waits is who waits for what, of everybody.
func (w *network) waits() (s string) {
	for i, f := range w.ifaces {
		s += fmt.Sprintf("interface %d, at %v:\n%s", i, w.Now(), rc.Waits(f))
	}
	return s
}

// pair is two interfaces, to wait for what is left of their connections.
func (w *network) pair(a, b transport.Iface) *pairs { return &pairs{network: w, a: a, b: b} }
