package sim

import (
	"testing"

	"github.com/openbraid/braid/internal/outbox"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
)

// flush is one that a side posted.
type flush struct {
	r    *request.Request
	upTo int // operations issued before
	what outbox.Flushing
}

// flush posts one of everything.
func (s *side) flush() { s.flushOf(outbox.Flushing{}) }

// flushSome posts any kind of flush.
func (s *side) flushSome() {
	var f outbox.Flushing
	switch s.w.n(8) {
	case 0:
		f.Sent = true
	case 1:
		f.Key = s.peer.region.Key(wire.Write, s.peer.incarnation)
		if s.w.n(2) == 0 {
			f.Key = s.peer.changing.region.Key(wire.Atomic, s.peer.incarnation)
		}
	case 2:
		f.Lanes = []string{}
		for _, l := range s.ep.Lanes() {
			if s.w.n(2) == 0 {
				f.Lanes = append(f.Lanes, l.Instance.String())
			}
		}
	case 3:
		f.Cancel = s.w.n(4) == 0
	}
	s.flushOf(f)
}

func (s *side) flushOf(f outbox.Flushing) {
	if f.Cancel {
		for _, o := range s.open {
			o.canceled = true
		}
	}
	post := s.ep.PostFlush
	if s.w.n(4) == 0 {
		post = s.eng.PostFlush
	}
	r, err := post(f)
	fl := &flush{r, len(s.ops), f}
	switch {
	case r != nil:
		s.flushes = append(s.flushes, fl)
	case err == nil:
		s.flushed(fl)
	}
}

// flushed: what it was for must be executed, or sent.
func (s *side) flushed(f *flush) {
	if f.what.Lanes != nil {
		return // which operations those were nobody here knows
	}
	for _, o := range s.ops[:f.upTo] {
		if f.what.Sent {
			if !o.ended && !o.r.Reported {
				s.w.failf("%s: flush ended, but %v %d is not sent", s.name, o.kind, o.index)
			}
			continue
		}
		if o.flushed || o.err != nil || !s.covers(f, o) {
			continue
		}
		o.flushed = f.what.Key == wire.RKey{}
		if o.flushed && o.signals && !o.canceled && o.signaled == 0 {
			s.w.failf("%s: flush ended, but the signal of put %d is not there", s.name, o.index)
		}
		// A message is executed when it is queued for its handler: it may not have run yet. Writes are done.
		if o.kind == request.Put && !o.canceled && o.over != uint64(len(o.data)) {
			s.w.failf("%s: flush of %+v ended, but put %d has %d of %d bytes", s.name, f.what, o.index, o.over, len(o.data))
		}
		if o.kind == request.Atomic && !o.canceled && !o.changeDone() {
			s.w.failf("%s: flush ended, but %v %d is not done", s.name, o.change.Change, o.index)
		}
		if o.change.Fetch && !o.canceled && !o.ended && !o.r.Reported {
			s.w.failf("%s: flush ended, but %v %d has not its value", s.name, o.change.Change, o.index)
		}
		if o.kind == request.AM && o.flushed && !o.canceled && o.accepted == 0 {
			s.w.failf("%s: flush ended, but message %d is not accepted", s.name, o.index)
		}
	}
}

// covers says whether a flush is for an operation.
func (s *side) covers(f *flush, o *op) bool {
	switch key := f.what.Key; {
	case key == wire.RKey{}:
		return true
	case key.Index == s.peer.changing.region.Key(0, 0).Index:
		return o.kind == request.Atomic
	}
	return o.kind == request.Put
}

// Row 5 of what reviewers found in UCX's series: the whole way, two lanes, a fence before every second operation, each with
// lanes that are lost under it; what is looked at is the order at the target.
func TestRow5_FencesUnderLaneFailure(t *testing.T) {
	eachSeed(t, 100, 2, func(seed uint64) *world {
		s := shapeOf(seed)
		s.lanes, s.ops, s.faults, s.fences = 2, 60, 6, true
		w := newWorld(seed, s)
		w.run()
		return w
	})
}
