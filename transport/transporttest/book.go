package transporttest

import (
	"encoding/binary"

	"github.com/openbraid/braid/transport"
)

// headLen is the head of the suite's data frames: the tag.
const headLen = 8

// book is the Completer of one side's data frames: tags count from 0.
type book struct {
	s           *side
	posted      uint64
	postedBytes uint64
	executed    uint64
	frames      []ending
	posting     bool

	onSent     func(tag uint64)
	onExecuted func(tag uint64, err error)
}

// ending is how one posted frame ended.
type ending struct {
	pending  bool // Post said Pending: Sent is owed
	detached bool // Sent is not owed any more
	sent     int
	executed int
	handed   int
	err      error
	payload  []byte // what was posted
}

// Sent implements transport.Completer.
func (b *book) Sent(tag uint64) {
	b.s.called("Sent")
	f := b.frame("Sent", tag)
	if f.sent++; f.sent > 1 || !f.pending || f.executed > 0 || f.detached || f.handed > 0 {
		b.s.w.Errorf("%s.Sent(%d): once, for a pending frame, before Executed: %+v", b.s.name, tag, f.brief())
	}
	if b.onSent != nil {
		b.onSent(tag)
	}
}

// Executed implements transport.Completer.
func (b *book) Executed(tag uint64, err error) {
	b.s.called("Executed")
	f := b.frame("Executed", tag)
	if f.executed++; f.executed > 1 || f.handed > 0 {
		b.s.w.Errorf("%s.Executed(%d, %v): a frame ends once: %+v", b.s.name, tag, err, f.brief())
	}
	if f.pending && !f.detached && f.sent != 1 {
		b.s.w.Errorf("%s.Executed(%d, %v): Sent was owed before", b.s.name, tag, err)
	}
	if err == nil && tag != b.executed {
		b.s.w.Errorf("%s.Executed(%d): out of order, %d is next", b.s.name, tag, b.executed)
	}
	switch {
	case b.s.loose || b.s.w.closing:
	case err != nil && len(b.s.errs) == 0:
		b.s.w.Errorf("%s.Executed(%d, %v): OnError comes before the completions of a failure", b.s.name, tag, err)
	case b.s.quiesced || len(b.s.errs) > 0 && b.s.decision == transport.Hold:
		b.s.w.Errorf("%s.Executed(%d, %v): held frames wait for the purge", b.s.name, tag, err)
	}
	f.err = err
	b.executed++
	if b.onExecuted != nil {
		b.onExecuted(tag, err)
	}
}

func (b *book) frame(what string, tag uint64) *ending {
	if b.posting {
		b.s.w.Errorf("%s.%s(%d) was called from inside Post", b.s.name, what, tag)
	}
	if tag >= uint64(len(b.frames)) {
		b.s.w.Fatalf("%s.%s(%d): no such frame", b.s.name, what, tag)
	}
	return &b.frames[tag]
}

func (e *ending) brief() ending { f := *e; f.payload = nil; return f }

// next is the first frame at or after position that has not ended.
func (b *book) next(position uint64) uint64 {
	for tag := range b.frames {
		if f := &b.frames[tag]; uint64(tag) >= position && f.executed+f.handed == 0 {
			return uint64(tag)
		}
	}
	return b.posted
}

// allEnded checks that each frame ended exactly once.
func (b *book) allEnded() {
	b.s.w.Helper()
	for tag := range b.frames {
		f := &b.frames[tag]
		if f.executed+f.handed != 1 || f.pending && !f.detached && f.handed == 0 && f.sent != 1 {
			b.s.w.Errorf("%s: frame %d of %d did not end exactly once: %+v", b.s.name, tag, len(b.frames), f.brief())
			return
		}
	}
}

// shape is one data frame to post.
type shape struct {
	size   int // of the payload
	zero   bool
	ackNow bool
}

// post posts the next data frame of this side. It counts only when it was taken.
func (s *side) post(f shape) transport.Status {
	s.w.Helper()
	b := s.book
	tag := b.posted
	var head [headLen]byte
	binary.LittleEndian.PutUint64(head[:], tag)
	payload := fill(tag, make([]byte, f.size))
	b.frames = append(b.frames, ending{payload: payload})
	b.posting = true
	st := s.ep.Post(&transport.Frame{
		ID: idOf(tag), Head: head[:], Payload: payload,
		ZeroCopy: f.zero, AckNow: f.ackNow, Done: b, Tag: tag,
	})
	b.posting = false
	clear(head[:]) // Post copied it
	switch st {
	case transport.Pending:
		if !f.zero {
			s.w.Errorf("%s: Post said Pending for a frame that is not zero-copy", s.name)
		}
		b.frames[tag].pending = true
	case transport.Done:
		clear(payload) // it may be reused
		b.frames[tag].payload = fill(tag, make([]byte, f.size))
	case transport.NoResource, transport.Failed:
		b.frames = b.frames[:tag]
		return st
	}
	b.posted++
	b.postedBytes += uint64(headLen + f.size)
	return st
}

// mustPost is post that turns the world until there is room.
func (s *side) mustPost(f shape) {
	s.w.Helper()
	s.w.until("room to post", func() bool {
		st := s.post(f)
		if st == transport.Failed {
			s.w.Fatalf("%s: Post said %v on a healthy endpoint\n%s", s.name, st, s.w.state())
		}
		return st != transport.NoResource
	})
}

// send posts a data frame now or, where there is no room, from Room. For callbacks, which can't wait.
func (s *side) send(f shape) {
	s.waiting = append(s.waiting, f)
	s.sendWaiting()
}

func (s *side) sendWaiting() {
	for len(s.waiting) > 0 && !s.dead {
		if s.post(s.waiting[0]) == transport.NoResource {
			return
		}
		s.waiting = s.waiting[1:]
	}
}

// control posts a control frame.
func (s *side) control(payload []byte) transport.Status {
	s.book.posting = true
	defer func() { s.book.posting = false }()
	return s.ep.Post(&transport.Frame{ID: 9, Class: transport.Control, Head: []byte{1, 2}, Payload: payload})
}

// idle says whether everything that this side posted is acknowledged.
func (s *side) idle() bool { c := s.ep.Counts(); return c.Acked == c.Posted }

func idOf(tag uint64) uint8 { return uint8(tag%200) + 1 }

// byteAt is byte i of the payload of frame tag.
func byteAt(tag uint64, i int) byte { return byte(tag*131 + uint64(i)*7 + uint64(i)>>8) }

func fill(tag uint64, p []byte) []byte {
	for i := range p {
		p[i] = byteAt(tag, i)
	}
	return p
}

// badByte is the first byte that isn't as fill made it, or -1.
func badByte(tag uint64, p []byte) int {
	for i := range p {
		if p[i] != byteAt(tag, i) {
			return i
		}
	}
	return -1
}
