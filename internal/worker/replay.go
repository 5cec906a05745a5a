package worker

import (
	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// replay is a frame that a lost lane handed back. It is the Completer of its next life, in front of its
// first one, so that the end of a whole hand-over is seen.
type replay struct {
	frame transport.Frame // with Head, and Payload unless zero-copy, in memory of its own
	of    *handover
	done  transport.Completer
	tag   uint64
	next  *replay
}

// handover is what became of the operations of one lost lane.
type handover struct {
	link      *link
	bytes     uint64 // posted on the lane
	accepted  uint64 // of them, by the peer's own count
	replayed  uint64 // bytes posted again
	left      int    // frames handed back and not executed
	purged    bool
	announced bool
}

// Sent implements transport.Completer.
func (r *replay) Sent(uint64) { r.done.Sent(r.tag) }

// Executed implements transport.Completer.
func (r *replay) Executed(_ uint64, err error) {
	r.of.left--
	r.done.Executed(r.tag, err)
	r.of.settle()
}

// settle announces a hand-over once nothing is left of it.
func (h *handover) settle() {
	if !h.purged || h.left > 0 || h.announced {
		return
	}
	h.announced = true
	l := h.link
	l.w.event(Event{Kind: HandedOver, Endpoint: l.ep, Lane: l.name(), Instance: l.ID, Dialed: l.path != nil, Err: l.reason,
		Posted: h.bytes, PeerAccepted: h.accepted, Replayed: h.replayed, Accepted: l.Tep.Counts().AcceptedBytes})
}

// replays is a first-in first-out list.
type replays struct {
	head, tail *replay
	n          int
}

func (q *replays) len() int { return q.n }

func (q *replays) push(r *replay) {
	if q.tail == nil {
		q.head = r
	} else {
		q.tail.next = r
	}
	q.tail = r
	q.n++
}

func (q *replays) pop() *replay {
	r := q.head
	q.head, r.next = r.next, nil
	if q.head == nil {
		q.tail = nil
	}
	q.n--
	return r
}

// prepend puts the list p in front of q: what was lost later was posted earlier than what still waits
// for its first replay, or is of another lane and has no order with it.
func (q *replays) prepend(p *replays) {
	if p.n == 0 {
		return
	}
	p.tail.next = q.head
	if q.tail == nil {
		q.tail = p.tail
	}
	q.head = p.head
	q.n += p.n
}

func ordered(id uint8) bool { return id == wire.IDAM || id == wire.IDAMFirst || id == wire.IDAMFrag }

// takeBack gives the frames from the peer's position on a new life, in front of everything that waits.
func (ep *Endpoint) takeBack(l *link, position uint64) error {
	var inOrder, any replays
	_, err := l.Tep.PurgeOutstanding(position, func(f *transport.Frame) error {
		if ordered(f.ID) {
			ep.ordered.unacked--
		}
		if ep.dropCanceled(f) {
			return nil
		}
		r := &replay{frame: *f, of: l.give, done: f.Done, tag: f.Tag}
		r.frame.Head = append([]byte(nil), f.Head...)
		if !f.ZeroCopy {
			r.frame.Payload = append([]byte(nil), f.Payload...)
		}
		r.frame.Done, r.frame.Tag = r, 0
		l.give.left++
		if ordered(f.ID) {
			inOrder.push(r)
		} else {
			any.push(r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	ep.replayOrdered.prepend(&inOrder) // R13
	ep.replayAny.prepend(&any)
	l.give.purged = true
	l.give.settle()
	ep.w.wake(ep)
	return nil
}

// requestOf is the request that a completer leads to, or nil.
func requestOf(c transport.Completer) *request.Request {
	for {
		switch d := c.(type) {
		case *replay:
			c = d.done
		case *request.Frames:
			return (*request.Request)(d)
		default:
			return nil
		}
	}
}

// dropCanceled ends a canceled operation of a single frame that the peer is known not to have: R15.
func (ep *Endpoint) dropCanceled(f *transport.Frame) bool {
	r := requestOf(f.Done)
	if r == nil || !r.Canceled || !r.Whole || r.Frames != 1 || int(r.Posted) != len(f.Payload) {
		return false
	}
	if old, ok := f.Done.(*replay); ok {
		old.of.left--
		old.of.settle()
	}
	r.Frames, r.Borrowed = 0, 0
	r.Err = ep.opError(r.Kind.String(), NotExecuted, ErrCanceled)
	ep.finish(r)
	return true
}

// postReplays posts frames of q, in order, until there is no room.
func (ep *Endpoint) postReplays(q *replays) (n int) {
	inOrder := q == &ep.replayOrdered
	for q.head != nil {
		l := ep.laneFor(inOrder)
		if l == nil {
			return n
		}
		r := q.head
		ep.w.frame = r.frame
		ep.w.frame.AckNow = r.next == nil
		s := l.Tep.Post(&ep.w.frame)
		if s != transport.Done && s != transport.Pending {
			return n
		}
		q.pop()
		if inOrder {
			ep.ordered.unacked++
		}
		size := uint64(r.frame.Len())
		r.of.replayed += size
		ep.stats.ReplayedFrames++
		ep.stats.ReplayedBytes += size
		if s == transport.Done {
			if r.frame.ZeroCopy {
				r.Sent(0) // this lane copied it
			}
			r.frame.Head, r.frame.Payload = nil, nil
		}
		n++
	}
	if n > 0 {
		ep.posted()
	}
	return n
}

// dropReplays ends what waits for a new life that won't come.
func (ep *Endpoint) dropReplays(err error) {
	for _, q := range []*replays{&ep.replayOrdered, &ep.replayAny} {
		for q.head != nil {
			r := q.pop()
			if ordered(r.frame.ID) {
				ep.ordered.unacked++ // the end of a frame takes it off again
			}
			r.Executed(0, err)
		}
	}
}

// usable says whether frames may be posted on the lane.
func (l *link) usable() bool { return l.State() == lane.Up }
