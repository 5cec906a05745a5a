package self_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/openbraid/braid/transport"
)

// chaos is one interface with many connections whose callbacks do whatever a seed says: post, dial, cancel, detach,
// quiesce, purge, close, all of it to any endpoint, at any time. Checked are the books.
type chaos struct {
	testing.TB
	iface transport.Iface
	rng   *rand.Rand
	addr  string
	eps   []*party
	depth int
	quiet bool // callbacks do nothing any more
}

// party is one endpoint with its books.
type party struct {
	c       *chaos
	name    string
	ep      transport.Endpoint
	peer    *party
	admit   bool
	dead    bool // closed here
	given   bool // quiesced here
	errs    int
	rooms   int
	refused int
	got     uint64
	frames  []fate
	place   []byte
	buffers []keepsake
}

// fate is how a posted frame ended.
type fate struct{ pending, detached, sent, executed, handed bool }

// keepsake is a received buffer that is kept for a while.
type keepsake struct {
	buf     *transport.Buffer
	payload []byte
	tag     uint64
}

func (c *chaos) oneIn(n int) bool { return c.rng.IntN(n) == 0 }

func (c *chaos) any() *party { return c.eps[c.rng.IntN(len(c.eps))] }

func (p *party) fail(format string, args ...any) {
	p.c.Helper()
	p.c.Fatalf(p.name+": "+format, args...)
}

// callback counts the depth and then does something.
func (p *party) callback(what string) {
	if p.c.depth > 0 {
		p.fail("%s is nested", what)
	}
	if p.dead {
		p.fail("%s after Close", what)
	}
	p.c.depth++
	for !p.c.quiet && p.c.oneIn(3) {
		p.c.act()
	}
	p.c.depth--
}

func (p *party) Connected() { p.callback("Connected") }

func (p *party) Room() {
	if p.rooms++; p.rooms > p.refused {
		p.fail("Room %d times after %d refusals", p.rooms, p.refused)
	}
	p.callback("Room")
}

func (p *party) OnError(err error) transport.Decision {
	if p.errs++; p.errs > 1 || p.given || err == nil {
		p.fail("OnError(%v), number %d, quiesced %v", err, p.errs, p.given)
	}
	p.callback("OnError")
	return transport.Decision(p.c.rng.IntN(2))
}

func (p *party) Place(_ uint8, head []byte, size int) []byte {
	if p.given {
		p.fail("Place after Quiesce")
	}
	p.place = nil
	if p.c.oneIn(2) {
		p.place = make([]byte, size)
	}
	place := p.place
	p.callback("Place")
	return place
}

func (p *party) Frame(in *transport.Incoming) {
	if in.Class == transport.Data {
		tag := binary.LittleEndian.Uint64(in.Head)
		if tag != p.got || p.given {
			p.fail("frame %d comes as number %d, quiesced %v", tag, p.got, p.given)
		}
		p.got++
		check(p.c, tag, in.Payload)
		if p.c.oneIn(8) && !in.Placed {
			in.Buf.Retain()
			p.buffers = append(p.buffers, keepsake{in.Buf, in.Payload, tag})
		}
	}
	payload, tag := in.Payload, p.got-1
	data := in.Class == transport.Data
	p.callback("Frame")
	if data {
		check(p.c, tag, payload) // still the receiver's
	}
}

func (p *party) Sent(tag uint64) {
	f := &p.frames[tag]
	if f.sent || !f.pending || f.detached || f.executed || f.handed {
		p.fail("Sent(%d): %+v", tag, *f)
	}
	f.sent = true
}

func (p *party) Executed(tag uint64, err error) {
	f := &p.frames[tag]
	if f.executed || f.handed || f.pending && !f.detached && !f.sent {
		p.fail("Executed(%d, %v): %+v", tag, err, *f)
	}
	if f.executed = true; err == nil && tag >= p.peer.got {
		p.fail("Executed(%d), but the peer took %d", tag, p.peer.got)
	}
}

func (c *chaos) Accepted(ep transport.Endpoint) (transport.Sink, transport.Options) {
	for _, p := range c.eps { // the dialer
		if p.ep != nil && p.ep.Local() == ep.Remote() && p.peer == nil {
			if c.oneIn(10) {
				return nil, transport.Options{}
			}
			q := &party{c: c, name: fmt.Sprintf("#%d", len(c.eps)), ep: ep, peer: p}
			p.peer = q
			c.eps = append(c.eps, q)
			q.callback("Accepted")
			if c.oneIn(2) && !q.dead {
				q.open()
			}
			return q, transport.Options{Window: 1 << (8 + c.rng.IntN(10))}
		}
	}
	c.Fatalf("nobody dialed %s from %s", ep.Local(), ep.Remote())
	return nil, transport.Options{}
}

func check(t testing.TB, tag uint64, payload []byte) {
	for i, b := range payload {
		if b != byte(tag)+byte(i) {
			t.Fatalf("frame %d: byte %d of %d is wrong", tag, i, len(payload))
		}
	}
}

func (p *party) open() {
	p.ep.Admit(p.c.iface.Attr().MaxFrame, true)
	p.admit = true
}

func (p *party) post() {
	if !p.admit || p.ep == nil {
		return
	}
	tag := uint64(len(p.frames))
	size := p.c.rng.IntN(100)
	if p.c.oneIn(4) {
		size = p.c.rng.IntN(8000)
	}
	payload := make([]byte, size)
	for i := range payload {
		payload[i] = byte(tag) + byte(i)
	}
	p.frames = append(p.frames, fate{})
	st := p.ep.Post(&transport.Frame{ID: 1, Head: binary.LittleEndian.AppendUint64(nil, tag), Payload: payload, ZeroCopy: p.c.oneIn(2), Done: p, Tag: tag})
	switch st {
	case transport.Pending:
		p.frames[tag].pending = true
	case transport.Done:
		clear(payload)
	case transport.NoResource, transport.Failed:
		p.frames = p.frames[:tag]
		p.refused++
	}
}

func (p *party) control() {
	if p.ep.Post(&transport.Frame{ID: 1, Class: transport.Control, Payload: make([]byte, p.c.rng.IntN(transport.HelloMax))}) == transport.NoResource {
		p.refused++
	}
}

func (p *party) quiesce() {
	p.ep.Quiesce()
	p.given = true
	if n := p.ep.Position(); n != p.got {
		p.fail("position %d, taken were %d", n, p.got)
	}
}

// handOver is the exchange of positions, and the purge: each frame that was not taken must come out.
func (p *party) handOver() {
	if p.peer == nil || p.dead || p.peer.dead {
		return
	}
	p.quiesce()
	p.peer.quiesce()
	for _, s := range []*party{p, p.peer} {
		next := s.peer.got
		stop := errors.New("stop")
		for err := stop; err == stop; {
			_, err = s.ep.PurgeOutstanding(s.peer.got, func(f *transport.Frame) error {
				if s.c.oneIn(20) {
					return stop
				}
				tag := binary.LittleEndian.Uint64(f.Head)
				if e := &s.frames[tag]; tag != f.Tag || tag < next || e.executed || e.handed {
					s.fail("purge hands out %d, next is %d: %+v", tag, next, *e)
				}
				next = tag + 1
				check(s.c, tag, f.Payload)
				s.frames[tag].handed = true
				return nil
			})
			if err != nil && err != stop {
				s.fail("purge with position %d: %v", s.peer.got, err)
			}
		}
	}
}

func (p *party) close() {
	p.ep.Close()
	p.dead = true
	for tag, f := range p.frames {
		if f.executed == f.handed || f.pending && !f.detached && !f.handed && !f.sent {
			p.fail("closed, frame %d did not end once: %+v", tag, f)
		}
	}
}

func (c *chaos) dial() {
	p := &party{c: c, name: fmt.Sprintf("#%d", len(c.eps))}
	var err error
	if p.ep, err = c.iface.Dial("", c.addr, transport.Options{Window: 1 << (8 + c.rng.IntN(10))}, p); err != nil {
		c.Fatal(err)
	}
	c.eps = append(c.eps, p)
}

// act does one thing to somebody.
func (c *chaos) act() {
	if len(c.eps) == 0 || c.oneIn(200) {
		c.dial()
		return
	}
	p := c.any()
	switch k := c.rng.IntN(1000); {
	case k < 650:
		p.post()
	case k < 800:
		p.control()
	case k < 900:
		if len(p.buffers) > 0 {
			b := p.buffers[0]
			p.buffers = p.buffers[1:]
			check(c, b.tag, b.payload)
			b.buf.Release()
		}
	case k < 940:
		p.open()
	case k < 980:
		p.ep.Detach(func(transport.Completer) bool { return true })
		for i := range p.frames {
			if f := &p.frames[i]; f.pending && !f.sent && !f.executed && !f.handed {
				f.detached = true
			}
		}
	case k < 985:
		p.ep.Cancel(errors.New("canceled"))
	case k < 990:
		p.quiesce()
	case k < 995:
		p.handOver()
	default:
		p.close()
	}
}

// run is one seed.
func run(t testing.TB, seed uint64) {
	c := &chaos{TB: t, iface: open(t), rng: rand.New(rand.NewPCG(seed, 1))}
	l, err := c.iface.Listen("self:0", c)
	if err != nil {
		t.Fatal(err)
	}
	c.addr = l.Addr()
	for range 300 {
		for c.rng.IntN(4) > 0 {
			c.act()
		}
		if c.oneIn(2) {
			c.iface.Flush()
		}
		c.iface.Progress()
	}
	c.quiet = true
	for turns := 0; c.iface.Progress() > 0; turns++ {
		if turns > 10000 {
			t.Fatal("it does not come to rest")
		}
	}
	for _, p := range c.eps {
		if n := p.ep.Counts(); !p.dead && !p.given && p.errs == 0 && p.peer != nil && p.peer.admit && n.Acked != n.Posted {
			p.fail("at rest, healthy, and not all is acknowledged: %+v", n)
		}
		p.dead = p.dead || c.oneIn(2) && func() bool { p.close(); return true }()
	}
	c.iface.Close()
	for _, p := range c.eps {
		p.close()
		for _, b := range p.buffers {
			check(c, b.tag, b.payload)
			b.buf.Release()
		}
	}
}

// TestChaos runs 200 seeds, or BRAID_SEEDS.
func TestChaos(t *testing.T) {
	seeds := 200
	if n, err := strconv.Atoi(os.Getenv("BRAID_SEEDS")); err == nil {
		seeds = n
	}
	if one, err := strconv.ParseUint(os.Getenv("BRAID_SEED"), 10, 64); err == nil {
		run(t, one)
		return
	}
	for seed := range uint64(seeds) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("run it again: BRAID_SEED=%d go test ./transport/self -run TestChaos", seed)
				}
			}()
			run(t, seed)
		})
	}
}
