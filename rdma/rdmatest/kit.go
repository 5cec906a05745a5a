package rdmatest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/openbraid/braid/rdma"
)

// Kit is what the suite needs of an implementation.
type Kit struct {
	// Open opens two devices that reach each other, closed at the end of the test.
	Open func(t testing.TB) [2]rdma.Device
	// Tick lets time pass where it is simulated; nil: it passes by itself.
	Tick func()
	// Cut takes the way between the two of the last Open away, until the end of the test; nil: can't be done.
	Cut func()
	// Lossy: packets get lost, so that tests are left out in which one that nobody repeats must arrive: a datagram, or the refusal
	// of a responder that is in ERR from then on.
	Lossy bool
	// Timeout is QPAttr.Timeout of tests that don't care; default 14. Short is that of tests that wait for its end; default 8. It must be longer than a
	// round trip all the same.
	Timeout, Short uint8
	// Also are statuses that the device says instead of those of the contract: adapters differ in what they call a mistake of the program's own.
	Also map[rdma.WCStatus][]rdma.WCStatus
	// Truncates: a datagram that is too long for a packet is dropped with success, so that no queue pair ever comes to SQE; one that is too long for
	// its receive ends the queue pair.
	Truncates bool
	// WideWindows: a window opens all of its region, whatever its own bounds.
	WideWindows bool
	// Without are tests that are left out, by name: those that are about what one device does, where it meets another kind.
	Without []string
	// Slow: a round trip takes milliseconds, long messages are left out.
	Slow bool
}

// patience is for the whole of a wait; nothing that works takes as long on any machine.
const patience = 2 * time.Minute

// simulatedTurns are as long where time is simulated.
const simulatedTurns = 200000

// Run runs the suite.
func Run(t *testing.T, k Kit) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, *bench)
	}{
		{"Attributes", attributes},
		{"States", states},
		{"Posts", posts},
		{"Sizes", sizes},
		{"Gather", gather},
		{"Inline", inline},
		{"Immediate", immediate},
		{"Atomics", atomics},
		{"Order", order},
		{"Moderation", moderation},
		{"Blocks", blocks},
		{"Wrap", wrap},
		{"NotReady", notReady},
		{"NeverReady", neverReady},
		{"RemoteAccess", remoteAccess},
		{"LocalAccess", localAccess},
		{"TooLong", tooLong},
		{"Flush", flush},
		{"DeadPeer", deadPeer},
		{"Position", position},
		{"Drain", drain},
		{"Again", again},
		{"Deregister", deregister},
		{"Window1", window1},
		{"DeadWindow", deadWindow},
		{"Window2", window2},
		{"Datagrams", datagrams},
		{"WellKnown", wellKnown},
		{"Self", self},
		{"Overrun", overrun},
		{"Busy", busy},
	} {
		if k.Lossy && slices.Contains(onceOnly, c.name) || slices.Contains(k.Without, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) { c.run(t, newBench(t, k)) })
	}
}

// onceOnly are the tests that need a packet that is sent only once.
var onceOnly = []string{"RemoteAccess", "LocalAccess", "TooLong", "Position", "Deregister", "Window1", "DeadWindow", "Window2", "Datagrams", "WellKnown", "Self"}

// bench is two sides under test.
type bench struct {
	t    *testing.T
	k    Kit
	dev  [2]rdma.Device
	side [2]*side
}

// side is one device and what was made from it.
type side struct {
	b      *bench
	name   string
	dev    rdma.Device
	pd     rdma.PD
	scq    rdma.CQ
	rcq    rdma.CQ
	qp     rdma.QP
	mem    []byte
	mr     rdma.MR
	psn    uint32
	sends  []rdma.WC // that were polled and not yet looked at
	recvs  []rdma.WC
	events []rdma.Event
}

// shape is what a test changes about a connection.
type shape struct {
	typ     rdma.QPType
	cap     rdma.QPCap
	depth   int // of completion queues
	memory  int
	access  rdma.Access
	mtu     rdma.MTU
	psn     [2]uint32
	timeout uint8
	retries uint8
	rnrs    uint8
	rnrTime uint8
	reads   uint8
	sigAll  bool

	standard uint8 // Kit.Timeout
}

// says is whether a status is the one of the contract, or what the device says instead.
func (k *Kit) says(got, want rdma.WCStatus) bool {
	return got == want || slices.Contains(k.Also[want], got)
}

func newBench(t *testing.T, k Kit) *bench {
	b := &bench{t: t, k: k, dev: k.Open(t)}
	return b
}

func (s *shape) fill(d rdma.Device) {
	def := func(v *int, x int) {
		if *v == 0 {
			*v = x
		}
	}
	def(&s.cap.SendBlocks, 64)
	def(&s.cap.RecvWR, 64)
	def(&s.cap.SendSGE, 4)
	def(&s.cap.RecvSGE, 4)
	def(&s.cap.Inline, min(64, d.Attr().MaxInline))
	def(&s.depth, 256)
	def(&s.memory, 1<<20)
	if s.typ == 0 {
		s.typ = rdma.TypeRC
	}
	if s.access == 0 {
		s.access = rdma.AccessLocalWrite | rdma.AccessRemote | rdma.AccessMWBind
	}
	if s.mtu == 0 {
		s.mtu = rdma.MTU1024
	}
	s.mtu = min(s.mtu, d.Port().ActiveMTU)
	if s.timeout == 0 {
		s.timeout = cmp.Or(s.standard, 14)
	}
	if s.retries == 0 {
		s.retries = 7
	}
	if s.rnrs == 0 {
		s.rnrs = 7
	}
	if s.rnrTime == 0 {
		s.rnrTime = 1
	}
	if s.reads == 0 {
		s.reads = 4
	}
}

// make makes both sides' objects, with queue pairs in RESET.
func (b *bench) make(s shape) (*side, *side) {
	b.t.Helper()
	for i, d := range b.dev {
		s := s
		s.standard = b.k.Timeout
		s.fill(d)
		x := &side{b: b, name: string(rune('a' + i)), dev: d, psn: s.psn[i]}
		var err [6]error
		x.pd, err[0] = d.AllocPD()
		x.scq, err[1] = d.CreateCQ(s.depth)
		x.rcq, err[2] = d.CreateCQ(s.depth)
		x.mem = make([]byte, s.memory)
		x.mr, err[3] = x.pd.RegMR(x.mem, s.access)
		if err[0] == nil {
			x.qp, err[4] = x.pd.CreateQP(rdma.QPInit{Type: s.typ, SendCQ: x.scq, RecvCQ: x.rcq, Cap: s.cap, SigAll: s.sigAll})
		}
		for _, e := range err {
			b.ok(e, "making side %s", x.name)
		}
		b.side[i] = x
	}
	return b.side[0], b.side[1]
}

// connect makes both sides and brings them to RTS.
func (b *bench) connect(s shape) (*side, *side) {
	b.t.Helper()
	x, y := b.make(s)
	b.join(s)
	return x, y
}

// join brings queue pairs in RESET to RTS.
func (b *bench) join(s shape) {
	b.t.Helper()
	for i, x := range b.side {
		s := s
		s.standard = b.k.Timeout
		s.fill(x.dev)
		x.step(rdma.Init, x.attr(s, b.side[1-i]))
	}
	for i, x := range b.side {
		s := s
		s.standard = b.k.Timeout
		s.fill(x.dev)
		x.step(rdma.RTR, x.attr(s, b.side[1-i]))
		x.step(rdma.RTS, x.attr(s, b.side[1-i]))
	}
}

// attr has everything that a queue pair needs on its way to RTS.
func (x *side) attr(s shape, peer *side) rdma.QPAttr {
	return rdma.QPAttr{
		Access: rdma.AccessRemote, QKey: 0x11111111, AV: x.route(peer), PathMTU: s.mtu, DestQPN: peer.qp.Num(),
		RQPSN: peer.psn, SQPSN: x.psn, MaxDestReads: s.reads, MaxReads: s.reads, MinRNRTimer: s.rnrTime,
		Timeout: s.timeout, RetryCount: s.retries, RNRRetry: s.rnrs,
	}
}

// route is the way to a peer.
func (x *side) route(peer *side) rdma.AHAttr {
	g := peer.dev.GIDs()[0]
	a := rdma.AHAttr{DGID: g.GID, SGIDIndex: x.dev.GIDs()[0].Index}
	for _, own := range x.dev.GIDs() { // the first pair of one type and family
		for _, g := range peer.dev.GIDs() {
			if own.Type == g.Type && own.GID.IP().Is4() == g.GID.IP().Is4() && !g.GID.IP().IsLinkLocalUnicast() {
				a.DGID, a.SGIDIndex = g.GID, own.Index
			}
		}
	}
	if peer.dev.Attr().PeerPort {
		a.Port = peer.dev.Port().UDPPort
	}
	return a
}

// masks are what each step towards RTS needs, by whether it is for datagrams.
func mask(to rdma.QPState, datagram bool) rdma.AttrMask {
	switch {
	case to == rdma.Init && datagram:
		return rdma.MaskQKey
	case to == rdma.Init:
		return rdma.MaskAccess
	case to == rdma.RTR:
		if !datagram {
			return rdma.MaskAV | rdma.MaskPathMTU | rdma.MaskDestQPN | rdma.MaskRQPSN | rdma.MaskMaxDestReads | rdma.MaskMinRNRTimer
		}
	case to == rdma.RTS:
		if datagram {
			return rdma.MaskSQPSN
		}
		return rdma.MaskSQPSN | rdma.MaskTimeout | rdma.MaskRetryCount | rdma.MaskRNRRetry | rdma.MaskMaxReads
	}
	return 0
}

// step modifies the queue pair.
func (x *side) step(to rdma.QPState, a rdma.QPAttr) {
	x.b.t.Helper()
	a.State = to
	x.b.ok(x.qp.Modify(a, mask(to, x.qp.Type().Datagram())), "%s to %v", x.name, to)
}

func (b *bench) ok(err error, format string, args ...any) {
	b.t.Helper()
	if err != nil {
		b.t.Fatalf("%s: %v", fmt.Sprintf(format, args...), err)
	}
}

// turn is one round of everything.
func (b *bench) turn() {
	for _, d := range b.dev {
		d.Progress()
	}
	for _, x := range b.side {
		if x != nil {
			x.poll()
		}
	}
	if b.k.Tick != nil {
		b.k.Tick()
	}
}

func (x *side) poll() {
	var wc [16]rdma.WC
	for n := x.scq.Poll(wc[:]); n > 0; n = x.scq.Poll(wc[:]) {
		x.sends = append(x.sends, wc[:n]...)
	}
	for n := x.rcq.Poll(wc[:]); n > 0; n = x.rcq.Poll(wc[:]) {
		x.recvs = append(x.recvs, wc[:n]...)
	}
	var ev [16]rdma.Event
	for n := x.dev.PollEvents(ev[:]); n > 0; n = x.dev.PollEvents(ev[:]) {
		x.events = append(x.events, ev[:n]...)
	}
}

// until turns until it is so.
func (b *bench) until(what string, so func() bool) {
	b.t.Helper()
	end := time.Now().Add(patience)
	for turns := 0; !so(); turns++ {
		b.turn()
		if time.Now().After(end) || b.k.Tick != nil && turns > simulatedTurns {
			b.t.Fatalf("after %d turns, at most %v, still waiting for: %s\n%s", turns, patience, what, b.dump())
		}
	}
}

// lossyRest is how long what was lost or is late may take to be repeated, where time passes by itself.
const lossyRest = 30 * time.Millisecond

// settle turns until nothing more is to come of what is under way, as far as one can know.
func (b *bench) settle() {
	end := time.Now()
	if b.k.Lossy && b.k.Tick == nil {
		end = end.Add(lossyRest)
	}
	for turns := 0; turns < 200 || time.Now().Before(end); turns++ {
		b.turn()
	}
}

// dump says how far both sides are.
func (b *bench) dump() (s string) {
	for _, x := range b.side {
		if x != nil && x.qp != nil {
			s += fmt.Sprintf("%s: %v %+v\n  sends %v\n  receives %v\n  events %v\n", x.name, x.qp.State(), x.qp.Query(), x.sends, x.recvs, x.events)
		}
	}
	return s
}

// sge is a piece of the side's memory.
func (x *side) sge(at, n int) []rdma.SGE {
	return []rdma.SGE{{Addr: x.mr.Addr() + uint64(at), Length: uint32(n), LKey: x.mr.LKey()}}
}

// send posts work requests, which must all be taken.
func (x *side) send(wrs ...rdma.SendWR) {
	x.b.t.Helper()
	if n, st := x.qp.PostSend(wrs); n != len(wrs) || st != rdma.Posted {
		x.b.t.Fatalf("%s: posting %d sends: took %d, %v", x.name, len(wrs), n, st)
	}
}

// recv posts a receive.
func (x *side) recv(id uint64, at, n int) {
	x.b.t.Helper()
	if k, st := x.qp.PostRecv([]rdma.RecvWR{{ID: id, SGL: x.sge(at, n)}}); k != 1 || st != rdma.Posted {
		x.b.t.Fatalf("%s: posting a receive: %v", x.name, st)
	}
}

// sent waits for n send completions and takes them.
func (x *side) sent(n int) []rdma.WC {
	x.b.t.Helper()
	x.b.until(fmt.Sprintf("%d send completions of %s", n, x.name), func() bool { return len(x.sends) >= n })
	wc := x.sends[:n]
	x.sends = x.sends[n:]
	return wc
}

// got waits for n receive completions and takes them.
func (x *side) got(n int) []rdma.WC {
	x.b.t.Helper()
	x.b.until(fmt.Sprintf("%d receive completions of %s", n, x.name), func() bool { return len(x.recvs) >= n })
	wc := x.recvs[:n]
	x.recvs = x.recvs[n:]
	return wc
}

// one waits for one send completion with a status.
func (x *side) one(want rdma.WCStatus) rdma.WC {
	x.b.t.Helper()
	wc := x.sent(1)[0]
	if !x.b.k.says(wc.Status, want) {
		x.b.t.Fatalf("%s: work request %d ended with %v, want %v\n%s", x.name, wc.ID, wc.Status, want, x.b.dump())
	}
	return wc
}

// event waits for an event of a type and takes it.
func (x *side) event(want rdma.EventType) rdma.Event {
	x.b.t.Helper()
	var e rdma.Event
	x.b.until(fmt.Sprintf("event %v of %s", want, x.name), func() bool {
		for i := range x.events {
			if x.events[i].Type == want {
				e = x.events[i]
				x.events = append(x.events[:i], x.events[i+1:]...)
				return true
			}
		}
		return false
	})
	return e
}

// fill writes a pattern that has no period of a power of two.
func fill(b []byte, seed int) {
	for i := range b {
		b[i] = byte((i*7 + i>>8*13 + seed*31) % 251)
	}
}
