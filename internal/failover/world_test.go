package failover

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/openbraid/braid/internal/wire"
)

// The world is two machines, the lanes between them, and enough of an engine around each to check what
// the dialogue is for. It is one flat value: a copy of it is a state, and moves lead from one to the next.

const (
	maxInst = 10 // instances ever
	maxOps  = 8  // operations of one side, replies included
	maxPipe = 24 // frames in flight in one direction of one instance
)

type frameKind uint8

const (
	fHello frameKind = iota
	fHelloAck
	fBusy
	fLost
	fGone
	fData    // id is an operation
	fDataAck // pos frames are acknowledged
	fConfirm
	fClosed
)

type frame struct {
	kind frameKind
	id   uint8 // index of an instance
	pos  uint8
	have bool
	from uint8 // HELLO, EP_CLOSED: the life of the process that says it
	to   uint8 // HELLO: of the one that it means; 0: it knows none
}

// pipe is one direction of one instance. Once broken it takes no more; what is in it may still arrive, any prefix of it.
type pipe struct {
	n      uint8
	broken bool
	f      [maxPipe]frame
}

func (p *pipe) push(f frame) {
	if !p.broken {
		p.f[p.n] = f
		p.n++
	}
}

func (p *pipe) pop() frame {
	f := p.f[0]
	copy(p.f[:], p.f[1:p.n])
	p.n--
	p.f[p.n] = frame{}
	return f
}

func (p *pipe) lose() { *p = pipe{broken: p.broken} }

// tep is one side's end of one instance: a transport endpoint with its books.
type tep struct {
	exists, held, purged, stated  bool
	accepted, acked, posted, said uint8
	ops                           [2 * maxOps]uint8 // posted, in order
}

// node is one side.
type node struct {
	recs         [maxInst]record
	nrecs        uint8
	over         bool
	next         uint64
	seen         watermark
	queue        [queues]queue // operations that are to be posted
	issued, done uint16        // sets of own operations
	posted       uint16        // at any time
	answered     uint16        // fetches whose reply came
	ran          [maxOps]uint8 // how often the peer's operations were executed here
	restarts     uint8         // it is another process than the one to which the endpoint belongs
}

type config struct {
	name                 string
	lanes                int
	ops                  string   // the program of both sides, or that of the dialer / that of the acceptor
	cuts, oneWay, doubts uint8    // budgets: breaks of both directions, of one, false suspicions
	opens                [2]uint8 // budget: attempts of each side
	cancels, restarts    uint8
	reopens              bool  // what restarts is the endpoint alone, in its process
	ring                 uint8 // frames that a lane keeps until they are acknowledged; 0: as many as come
	credits              int   // fetches that may be unanswered; 0: any number
	late                 bool  // a HELLO of the dialer's process of long ago is still on its way
	without              rule  // this one isn't kept
	limit                int   // lanes that a side wants
	window               int   // LOSTs under way; 0: as always
	acks                 bool
	confirm              bool // an acceptor's lane is up only when the opener has confirmed it
	long                 bool // seconds: not in -short
	deep                 bool // minutes: only if asked for
}

type world struct {
	ids    [maxInst]wire.Instance
	n      uint8
	node   [2]node
	tep    [2][maxInst]tep
	pipe   [2][maxInst]pipe // by sender
	cuts   uint8
	oneWay uint8
	doubts uint8
	cancel uint8
	deaths uint8
	opens  [2]uint8
}

// index finds or names an instance.
func (w *world) index(id wire.Instance) uint8 {
	for i := range w.n {
		if w.ids[i] == id {
			return i
		}
	}
	if int(w.n) == maxInst {
		panic("the world has no room for " + id.String())
	}
	w.ids[w.n] = id
	w.n++
	return w.n - 1
}

// encode appends all that matters for what comes next: two worlds with the same bytes are the same state. Instances come in the order of their names,
// whichever this world heard of first. What is over on a side matters no more there, if all rules are kept.
func (w *world) encode(b []byte, kept bool) []byte {
	flag := func(v ...bool) {
		x := byte(0)
		for _, f := range v {
			x <<= 1
			if f {
				x |= 1
			}
		}
		b = append(b, x)
	}
	id := func(i wire.Instance) { b = append(b, nameOf(i)) }
	b = append(b, w.n, w.cuts, w.oneWay, w.doubts, w.cancel, w.deaths, w.opens[0], w.opens[1])
	var room [maxInst]uint8
	order := w.byName(room[:0])
	for _, i := range order {
		id(w.ids[i])
	}
	for s := range w.node {
		nd := &w.node[s]
		b = append(b, nd.nrecs, byte(nd.next), byte(nd.seen.high), nd.restarts)
		flag(nd.over)
		b = binary.LittleEndian.AppendUint64(b, nd.seen.window)
		b = binary.LittleEndian.AppendUint16(b, nd.issued)
		b = binary.LittleEndian.AppendUint16(b, nd.done)
		b = binary.LittleEndian.AppendUint16(b, nd.posted)
		b = binary.LittleEndian.AppendUint16(b, nd.answered)
		for i := range nd.queue {
			b = append(append(b, nd.queue[i].n), nd.queue[i].ops[:nd.queue[i].n]...)
		}
		b = append(b, nd.ran[:]...)
		for i := range nd.nrecs {
			r := &nd.recs[i]
			id(r.id)
			id(r.carrier)
			b = append(b, byte(r.mine), byte(r.theirs), byte(r.state))
			flag(r.wasUp)
		}
		for _, i := range order {
			b = w.tep[s][i].encode(b, kept, nd.has(w.ids[i]))
			p := &w.pipe[s][i]
			flag(p.broken)
			b = append(b, p.n)
			for _, f := range p.f[:p.n] {
				if f.kind == fLost || f.kind == fGone {
					f.id = nameOf(w.ids[f.id])
				}
				b = append(b, byte(f.kind), f.id, f.pos, f.from, f.to)
				flag(f.have)
			}
		}
	}
	return b
}

// encode appends what matters of one end. A position that was stated is what was accepted, and what was acknowledged is out of the books. lives: it has a record.
func (t *tep) encode(b []byte, kept, lives bool) []byte {
	x := byte(0)
	for i, f := range []bool{t.exists, t.held, t.purged, t.stated && !kept} {
		if f {
			x |= 1 << i
		}
	}
	switch {
	case kept && t.held && !lives:
		return append(b, 1<<7)
	case kept:
		b = append(b, x, t.accepted, t.acked, t.posted)
		return append(b, t.ops[t.acked:t.posted]...)
	}
	b = append(b, x, t.accepted, t.acked, t.posted, t.said)
	return append(b, t.ops[:t.posted]...)
}

func nameOf(i wire.Instance) uint8 { return uint8(i.N)<<1 | uint8(i.Opener) }

// byName are the instances in the order of their names.
func (w *world) byName(order []uint8) []uint8 {
	for i := range w.n {
		k := len(order)
		order = append(order, i)
		for ; k > 0 && nameOf(w.ids[order[k-1]]) > nameOf(w.ids[i]); k-- {
			order[k] = order[k-1]
		}
		order[k] = i
	}
	return order
}

func (n *node) has(id wire.Instance) bool {
	for i := range n.nrecs {
		if n.recs[i].id == id {
			return true
		}
	}
	return false
}

// tidy takes away what is on its way to a quiesced lane and will be dropped there, whatever comes: only frames about other instances are still read.
// That nothing else can be told from it is what TestDropped shows.
func (r *runner) tidy() {
	for s := range r.tep {
		for i := range r.n {
			p := &r.pipe[1-s][i]
			if !r.tep[s][i].held || p.n == 0 {
				continue
			}
			n := p.n
			p.n = 0
			for _, f := range p.f[:n] {
				if f.kind == fLost || f.kind == fGone || f.kind == fHello {
					p.f[p.n] = f
					p.n++
				}
			}
			clear(p.f[p.n:n])
		}
	}
}

// runner moves a world. The machines are scratch: their state is loaded from the world and stored back.
type runner struct {
	world
	cfg  config
	ops  [2][]op
	m    [2]*Machine
	log  func(format string, a ...any) // nil in searches
	fail error

	tidied bool // what will be dropped is taken away, and what is over is not told apart: as searches do
}

func newRunner(cfg config) *runner {
	r := &runner{cfg: cfg, m: [2]*Machine{New(wire.Dialer), New(wire.Acceptor)}}
	r.cuts, r.oneWay, r.doubts, r.cancel, r.deaths, r.opens = cfg.cuts, cfg.oneWay, cfg.doubts, cfg.cancels, cfg.restarts, cfg.opens
	dialers, acceptors, apart := strings.Cut(cfg.ops, "/")
	if !apart {
		acceptors = dialers
	}
	r.ops = [2][]op{parse(dialers), parse(acceptors)}
	cfg.without.breaks(r.m[:])
	if cfg.window > 0 {
		r.m[0].most, r.m[1].most = cfg.window, cfg.window
	}
	for range cfg.lanes {
		i := r.open(0)
		r.deliver(1, i)
		r.deliver(0, i)
		if cfg.confirm {
			r.deliver(1, i)
		}
	}
	if cfg.late {
		r.pipe[0][r.index(wire.Instance{Opener: wire.Dialer, N: 9})].push(frame{kind: fHello, from: longAgo, to: 1})
	}
	for s := range r.node {
		for k := range r.ops[s] {
			r.issue(s, uint8(k))
		}
	}
	return r
}

func (r *runner) set(w *world) {
	r.world, r.fail = *w, nil
	for s, m := range r.m {
		nd := &r.node[s]
		m.next, m.seen, m.over = nd.next, nd.seen, nd.over
		m.recs = append(m.recs[:0], nd.recs[:nd.nrecs]...)
	}
}

func (r *runner) store(s int) {
	m, nd := r.m[s], &r.node[s]
	nd.next, nd.seen, nd.over = m.next, m.seen, m.over
	nd.recs = [maxInst]record{}
	nd.nrecs = uint8(copy(nd.recs[:], m.recs))
}

func (r *runner) tracef(format string, a ...any) {
	if r.log != nil {
		r.log(format, a...)
	}
}

func (r *runner) violated(format string, a ...any) {
	if r.fail == nil {
		r.fail = fmt.Errorf(format, a...)
	}
}

func (r *runner) issue(s int, op uint8) {
	nd := &r.node[s]
	if nd.issued>>op&1 == 1 {
		r.violated("%s: operation %d issued twice", wire.Side(s), op)
	}
	nd.issued |= 1 << op
	nd.queue[r.queueOf(s, op)].push(op)
}
