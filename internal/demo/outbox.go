package demo

import (
	"errors"
	"sync"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/demo/tally"
)

// outbox numbers messages in the order in which they are posted. It is safe for concurrent use, and never waits.
type outbox struct {
	ep *braid.Endpoint

	mu     sync.Mutex
	number uint64    // of the last one
	later  []pending // found no room, and must go
}

type pending struct {
	kind    byte
	payload []byte
}

// send posts a message now; a note gets its content here. With false and no error there is no room: nothing happened.
func (o *outbox) send(kind byte, payload []byte) (bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.later) > 0 {
		return false, nil
	}
	return o.sendLocked(kind, payload)
}

func (o *outbox) sendLocked(kind byte, payload []byte) (bool, error) {
	n := o.number + 1
	if kind == tally.KindNote {
		payload = tally.NotePayload(n)
	}
	q := o.ep.PostAM(tally.IDNumber, tally.MessageHeader(n, kind, payload), payload)
	if done, err := q.Test(); done && err != nil {
		if errors.Is(err, braid.ErrLimit) {
			return false, nil
		}
		return false, err
	}
	q.Release() // the buffers are used for nothing else
	o.number = n
	return true, nil
}

// post sends a message now, or when there is room: then retry does.
func (o *outbox) post(kind byte, payload []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.later = append(o.later, pending{kind, payload})
	return o.drain()
}

// retry sends what found no room.
func (o *outbox) retry() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.drain()
}

func (o *outbox) drain() error {
	for len(o.later) > 0 {
		ok, err := o.sendLocked(o.later[0].kind, o.later[0].payload)
		if !ok {
			return err
		}
		o.later = o.later[1:]
	}
	return nil
}

// end sends the last message, which counts itself.
func (o *outbox) end(e tally.Ending) (sent tally.Totals, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.drain(); err != nil {
		return e.Totals, err
	}
	e.Messages = o.number + 1
	ok, err := o.sendLocked(tally.KindEnd, e.Encode())
	if !ok && err == nil {
		err = braid.ErrLimit
	}
	return e.Totals, err
}

// count is how many were posted.
func (o *outbox) count() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.number
}
