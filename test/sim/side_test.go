package sim

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"

	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/outbox"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/worker"
	"github.com/openbraid/braid/transport/sim"
)

const (
	amID    = 3
	spoiled = 0xDB // what a user writes into a buffer that is his again
)

// side is one worker with its traffic, and what it knows of the other's.
type side struct {
	w           *world
	name        string
	host        *sim.Host
	rails       []string
	eng         *worker.Worker
	mem         *memory.Table
	incarnation uint64
	ln          *worker.Listener
	ep          *worker.Endpoint
	peer        *side
	calls       []delivery.Call

	region  *memory.Region
	words   *memory.Region // of the signals of the peer's puts: one each
	source  *memory.Region // that the peer gets from; nobody writes it
	ops     []*op          // issued by this side
	open    []*op          // whose user's end is not seen
	fences  int            // of the endpoint and of the worker
	flushes []*flush
	changing
	messages
}

// messages are counted.
type messages struct {
	sent   int // issued
	nextAM int // index among those of the peer that is due
}

// op is one operation that a side issued.
type op struct {
	index    int
	kind     request.Kind
	am       int    // number among the messages
	data     []byte // what it is to bring
	buf      []byte // what was posted: the user's, and spoiled as soon as he has it back
	offset   uint64
	r        *request.Request
	ended    bool
	err      error
	flushed  bool
	fence    int    // fences before it
	signals  bool   // a put with a signal
	signaled int    // at the target: times its signal was seen
	canceled bool   // or abandoned
	accepted int    // at the target: times a message was queued for its handler
	ran      int    // at the target: times a message was handled
	wrote    []int  // at the target: times each byte was written
	over     uint64 // executed bytes
	change   wire.AtomicOp
	old      uint64 // at the target: what the word was when it was changed
}

func (w *world) newSide(name string, lanes int) *side {
	s := &side{w: w, name: name, rails: rails(name, lanes-w.devices)}
	s.host = w.net.Host(name, s.rails...)
	s.rails = append(s.rails, rcRails(name, w.devices)...)
	return s
}

// checks installs what looks at each delivery.
func (s *side) checks() {
	s.region = s.mem.Add(make([]byte, s.w.slot*s.w.regions))
	s.region.Watch = s.written
	s.words = s.mem.Add(memory.Aligned(8 * s.w.ops))
	s.words.Watch = s.signaled
	s.initChanges()
	s.source = s.mem.Add(s.fill(100_000, -1))
	s.eng.Handle(amID, s.message)
	s.eng.Calls().Watch = s.accepted
}

func (s *side) progress() int {
	if s.eng == nil {
		return 0
	}
	n := s.eng.Turn()
	s.calls = s.eng.Calls().Take(s.calls[:0])
	n += len(s.calls)
	for i := range s.calls {
		s.eng.Calls().Run(&s.calls[i])
	}
	s.eng.Calls().Finish(s.calls)
	s.eng.Flush()
	s.poll()
	return n
}

// message is a message of the peer, handled here.
func (s *side) message(m *delivery.Message) {
	i := int(binary.LittleEndian.Uint32(m.Header))
	if i >= len(s.peer.ops) {
		s.w.failf("%s: message of operation %d, which was never issued", s.name, i)
		return
	}
	o := s.peer.ops[i]
	o.ran++
	switch {
	case o.kind != request.AM || o.ran > 1:
		s.w.failf("%s: message %d handled %d times", s.name, i, o.ran)
	case !bytes.Equal(m.Payload, o.data):
		s.w.failf("%s: message %d differs", s.name, i)
	case o.am < s.nextAM:
		s.w.failf("%s: message %d came after a later one", s.name, i)
	case o.ended && o.err != nil && fate(o.err) == outcome.NotExecuted:
		s.w.failf("%s: message %d handled although its sender was told that it was not", s.name, i)
	}
	s.nextAM = o.am + 1
}

// accepted is a message of the peer that counts from now on as executed.
func (s *side) accepted(m *delivery.Message) {
	if i := int(binary.LittleEndian.Uint32(m.Header)); i < len(s.peer.ops) {
		s.peer.ops[i].accepted++
		s.ordered(s.peer.ops[i])
	}
}

// ordered looks whether all that the peer posted before the fence that o is behind is executed, now that o is.
func (s *side) ordered(o *op) {
	for _, a := range s.peer.ops[:o.index] {
		if a.fence == o.fence {
			return
		}
		done := a.ended || a.r != nil && a.r.Reported // of a get: it has read
		if a.kind == request.Put {
			done = a.over == uint64(len(a.data)) && (!a.signals || a.signaled > 0)
		} else if a.kind == request.AM {
			done = a.accepted > 0
		} else if a.kind == request.Atomic {
			done = a.changeDone()
		}
		if !done && !a.canceled { // one that was given up may be dropped with its lane
			s.w.failf("%s: %v %d is executed, and %v %d from before the fence is not", s.name, o.kind, o.index, a.kind, a.index)
		}
	}
}

// signaled is the signal of a put of the peer: all of its bytes must be there.
func (s *side) signaled(offset uint64, src []byte) {
	o := s.peer.ops[offset/8]
	o.signaled++
	if v := binary.LittleEndian.Uint64(src); !o.signals || o.signaled > 1 || v != 1 {
		s.w.failf("%s: signal of put %d seen %d times, value %d", s.name, o.index, o.signaled, v)
	}
	// The bytes of a short one are watched first, in the same step.
	if o.over != uint64(len(o.data)) {
		s.w.failf("%s: signal of put %d, of which %d of %d bytes are there", s.name, o.index, o.over, len(o.data))
	}
	s.ordered(o)
}

// written is a write of the peer into this side's memory.
func (s *side) written(offset uint64, src []byte) {
	if len(src) == 0 {
		return // the end of a put with a signal
	}
	slot := int(offset) / s.w.slot
	for _, o := range s.peer.ops {
		if o.kind != request.Put || int(o.offset)/s.w.slot != slot || offset < o.offset || offset+uint64(len(src)) > o.offset+uint64(len(o.data)) {
			continue
		}
		at := offset - o.offset
		if !bytes.Equal(src, o.data[at:at+uint64(len(src))]) {
			continue // an earlier one of the same slot
		}
		if o.ended && o.err != nil && fate(o.err) == outcome.NotExecuted {
			s.w.failf("%s: put %d written although its sender was told that it was not", s.name, o.index)
		}
		for i := range src {
			if o.wrote[int(at)+i]++; o.wrote[int(at)+i] > 1 {
				s.w.failf("%s: put %d: byte %d written twice", s.name, o.index, int(at)+i)
				return
			}
		}
		o.over += uint64(len(src))
		s.ordered(o)
		return
	}
	s.w.failf("%s: a write of %d bytes at %d that nobody issued", s.name, len(src), offset)
}

func fate(err error) outcome.Fate {
	var e *outcome.Error
	if errors.As(err, &e) {
		return e.Fate
	}
	return outcome.Unknown
}

// fill makes data that says whose and which it is.
func (s *side) fill(n, index int) []byte {
	b := make([]byte, n+7)
	x := uint64(index)*0x9e3779b97f4a7c15 + uint64(s.name[0])
	for i := 0; i < n; i += 8 { // a word at a time: it is a fifth of all that seeds take
		x = x*6364136223846793005 + 1442695040888963407
		binary.LittleEndian.PutUint64(b[i:], x^x>>32)
	}
	return b[:n:n]
}

// draw decides what o is, and of how many bytes.
func (s *side) draw(o *op) (size int) {
	w := s.w
	size = []int{0, 1, 8, 100, 900, 3000, 20_000}[w.n(7)]
	kinds := 4
	if w.atomics {
		kinds = 12
	}
	switch w.n(kinds) {
	case 0:
		o.kind = request.Put
		return min(max(size, 8), w.slot)
	case 1:
		o.kind = request.Get
	case 2:
		o.kind = request.AM
	default:
		o.kind = request.Atomic
		return 0
	}
	return size
}

// issue posts the next operation. It returns false if the engine takes no more now.
func (s *side) issue() bool {
	w := s.w
	o := &op{index: len(s.ops)}
	size := s.draw(o)
	o.data = s.fill(size, o.index)
	if o.kind == request.Get {
		o.offset = uint64(w.n(len(s.peer.source.Bytes) - size))
		o.data = s.peer.source.Bytes[o.offset : o.offset+uint64(size)]
	}
	o.buf = append([]byte(nil), o.data...)
	if o.kind == request.Get {
		clear(o.buf)
	}
	rare := 12
	if w.fences {
		rare = 4
	}
	switch w.n(rare) {
	case 0:
		s.ep.Fence()
		s.fences++
	case 1:
		s.eng.Fence()
		s.fences++
	}
	o.fence = s.fences
	var err error
	s.ops = append(s.ops, o) // before: a post may be executed while it is made, in some other transport
	switch o.kind {
	case request.Get:
		o.r, err = s.ep.PostGet(o.buf, s.peer.source.Key(wire.Read, s.peer.incarnation), o.offset)
	case request.AM:
		o.am = s.sent
		o.r, err = s.ep.PostAM(amID, binary.LittleEndian.AppendUint32(nil, uint32(o.index)), o.buf)
	case request.Put:
		o.wrote = make([]int, size)
		o.offset = uint64(o.index % w.regions * w.slot)
		key := s.peer.region.Key(wire.Write, s.peer.incarnation)
		if o.signals = w.n(3) == 0; o.signals {
			word := s.peer.words.Key(wire.Write, s.peer.incarnation)
			o.r, err = s.ep.PostPutSignal(o.buf, key, o.offset, outbox.Signal{Key: word, Offset: uint64(8 * o.index), Value: 1, Add: w.n(2) == 0})
		} else {
			o.r, err = s.ep.PostPut(o.buf, key, o.offset)
		}
	case request.Atomic:
		s.choose(o)
		o.r, err = s.ep.PostAtomic(s.peer.changing.region.Key(wire.Atomic, s.peer.incarnation), o.change)
	case request.None, request.Flush, request.Close, request.Dial, request.Accept, request.Room, request.Receive:
	}
	switch {
	case errors.Is(err, outcome.ErrBackPressure):
		s.ops = s.ops[:o.index]
		return false
	case err != nil:
		s.end(o, err)
	case o.r == nil:
		s.end(o, nil)
	default:
		s.open = append(s.open, o)
	}
	if o.kind == request.AM {
		s.sent++
	}
	return true
}

// end is the user's end of an operation: he has his buffer back.
func (s *side) end(o *op, err error) {
	o.ended, o.err, o.r = true, err, nil
	if o.kind == request.Get && err == nil && !bytes.Equal(o.buf, o.data) {
		s.w.failf("%s: get %d differs", s.name, o.index)
	}
	for i := range o.buf {
		o.buf[i] = spoiled
	}
}

// giveUp cancels or abandons an operation that is open.
func (s *side) giveUp() {
	for i, o := range s.open {
		if s.w.n(3) > 0 {
			continue
		}
		if s.w.n(2) == 0 {
			s.eng.Cancel(o.r)
			o.canceled = true
			return
		}
		err := s.eng.Abandon(o.r, errImpatient)
		o.canceled = true
		s.end(o, err)
		s.open = append(s.open[:i:i], s.open[i+1:]...)
		return
	}
}

// impatient cancels a request or has its user leave, by luck, and says whether he has left.
func (s *side) impatient(r *request.Request) (abandoned bool) {
	if s.w.n(2) == 0 {
		s.eng.Cancel(r)
		return false
	}
	s.eng.Abandon(r, context.DeadlineExceeded)
	return true
}

var errImpatient = errors.New("the caller did not want to wait")

// poll sees the ends of operations and flushes.
func (s *side) poll() {
	open := s.open[:0]
	for _, o := range s.open {
		if !o.r.Reported {
			open = append(open, o)
			continue
		}
		err := o.r.Err
		if o.change.Fetch && err == nil {
			s.fetched(o, o.r.Old())
		}
		s.eng.Release(o.r)
		s.end(o, err)
	}
	s.open = open
	left := s.flushes[:0]
	for _, f := range s.flushes {
		if !f.r.Reported {
			left = append(left, f)
			continue
		}
		err := f.r.Err
		s.eng.Release(f.r)
		if err == nil {
			s.flushed(f)
		}
	}
	s.flushes = left
}
