package puts

import (
	"context"
	"fmt"

	"github.com/openbraid/braid"
)

// Echo answers the puts of a ping-pong, each with one of its own.
type Echo struct {
	Lane
	Key    braid.RKey // of the client's memory
	next   uint64     // the put that is waited for
	latest [2]answer  // the last two
}

// answer is a put back.
type answer struct {
	body []byte
	sent braid.Request
}

// Arrived is how many were answered.
func (e *Echo) Arrived() uint64 { return e.next }

// Answer looks whether the next put is whole, and answers it. The one after may have come when it returns.
//
// Errors: of an earlier answer, which is none any more; an endpoint that failed is reported as an event, too.
func (e *Echo) Answer(ctx context.Context, w *braid.Worker, ep *braid.Endpoint) (answered bool, err error) {
	if !e.Came(e.next) {
		return false, nil
	}
	seq := e.next
	e.next++
	a := &e.latest[seq%uint64(len(e.latest))]
	// It is not waited for until it is sent: who saw its end in memory may have turned to another endpoint, and take the rest later. The one before the last is sent,
	// or the client would not have come so far.
	if seq >= uint64(len(e.latest)) {
		if err = a.sent.Wait(ctx); err != nil {
			err = fmt.Errorf("answer %d: %w", seq-uint64(len(e.latest)), err)
		}
	} else {
		a.body = make([]byte, e.size)
	}
	e.Look(seq, w, false)
	e.Fill(a.body, seq, e.Ledger != nil, true)
	a.sent = e.Post(ep, a.body, e.Key)
	return true, err
}
