package tags

import (
	"github.com/openbraid/braid/internal/match"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
)

// FrameSent and FrameExecuted implement request.Owner: a receive that isn't matched has no frames.
func (t *Tags) FrameSent(*request.Request)                    { panic("tags: a frame of a receive") }
func (t *Tags) FrameExecuted(*request.Request, uint64, error) { panic("tags: a frame of a receive") }

// PostReceive receives the earliest message that satisfies the want, now or when it comes, into dst.
func (t *Tags) PostReceive(dst []byte, w match.Want) (*request.Request, error) {
	n := t.table.Find(w)
	if n == nil {
		if err := t.mayWait(w); err != nil {
			return nil, err
		}
	}
	r := t.o.Pool.Get(request.Receive, t)
	r.Dst = dst
	if n != nil {
		t.matched(r, t.take(n))
	} else {
		r.Node = t.table.Post(w, r)
	}
	return r, nil
}

// mayWait says why nothing will ever satisfy a want, nil if something may.
func (t *Tags) mayWait(w match.Want) error {
	err := t.closed
	if p, ok := w.From.(Peer); ok && err == nil {
		err = p.Over()
	}
	if err == nil {
		return nil
	}
	return unmatched(w, err)
}

// Receive is PostReceive of a message that was taken: once.
func (t *Tags) Receive(dst []byte, u *Message) *request.Request {
	r := t.o.Pool.Get(request.Receive, t)
	r.Dst = dst
	t.matched(r, u)
	return r
}

// Probe is the earliest message that satisfies the want, nil if none has arrived.
func (t *Tags) Probe(w match.Want) *Message {
	if n := t.table.Find(w); n != nil {
		return n.Value
	}
	return nil
}

// Take takes that message out, so that nobody else receives it. It counts against its sender's credits until Receive.
func (t *Tags) Take(w match.Want) *Message {
	if n := t.table.Find(w); n != nil {
		return t.take(n)
	}
	return nil
}

// PostTake is Take that waits for such a message. It is the request's Result.
func (t *Tags) PostTake(w match.Want) (*request.Request, error) {
	u := t.Take(w)
	if u == nil {
		if err := t.mayWait(w); err != nil {
			return nil, err
		}
	}
	r := t.o.Pool.Get(request.Receive, t)
	if r.Takes = true; u != nil {
		t.taken(r, u)
	} else {
		r.Node = t.table.Post(w, r)
	}
	return r, nil
}

// taken ends a request for a message that is its user's from now on.
func (t *Tags) taken(r *request.Request, u *Message) {
	r.Result, r.Retired = u, true
	t.o.Report(r, nil)
}

// All calls yield with the messages that wait, in the order in which they came, until it says false. It must not receive meanwhile.
func (t *Tags) All(yield func(*Message) bool) {
	for n := t.table.Oldest(); n != nil && yield(n.Value); {
		n = n.Next()
	}
}

// Cancel ends a receive that nothing was matched with; of one that is reading, the end decides.
func (t *Tags) Cancel(r *request.Request) {
	if r.Node == nil {
		t.cancelWatch(r)
		return
	}
	w := r.Node.Want()
	t.table.Cancel(r.Node)
	t.end(r, w, outcome.ErrCanceled)
}

// Left says how many receives are posted and messages wait, for checks.
func (t *Tags) Left() (receives, messages int) {
	return t.table.Posted() + len(t.watches), t.table.Waiting()
}
