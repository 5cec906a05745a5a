package stream

import (
	"context"
	"errors"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/family"
)

// What package braid lends to the library's own families: messages under ids that programs can't use.

// handle has fn told of the messages about streams, and over of the end of the worker.
func handle(w *braid.Worker, fn func(*braid.Message), over func()) error {
	if _, err := w.EventFD(); !errors.Is(err, braid.ErrShared) {
		return errOwned
	}
	err := family.Braid.Handle(w, family.Stream, func(msg any) {
		if msg == nil {
			go over() // which waits for callbacks, one of which may have closed the worker
			return
		}
		fn(msg.(*braid.Message))
	})
	if errors.Is(err, family.ErrTaken) {
		return errTwice
	}
	return err
}

// onEnd has fn told, once, when an endpoint is over, behind the messages about streams that came before.
func onEnd(ep *braid.Endpoint, fn func(error)) {
	told := func(err error) { fn(family.Braid.Public(err)) }
	family.Braid.Look(ep, func(e any) { e.(interface{ OnEndAbove(func(error)) }).OnEndAbove(told) })
	family.Braid.Settle(ep)
}

// abort ends an endpoint, from inside a handler of messages about streams, too: it runs no code of a program's.
func abort(ep *braid.Endpoint) {
	family.Braid.Look(ep, func(e any) { e.(interface{ Abort() }).Abort() })
}

// most is how many bytes of a stream one message to the peer may have.
func most(ep *braid.Endpoint) (n int) {
	family.Braid.Look(ep, func(e any) { n = int(min(e.(interface{ MaxMessage() uint64 }).MaxMessage(), messageMost)) })
	return max(n, 1)
}

func unhandle(w *braid.Worker) { family.Braid.Handle(w, family.Stream, nil) }

// post posts a message about streams. The request is left in q, which is the caller's so that none is allocated.
func post(ep *braid.Endpoint, header, payload []byte, q *braid.Request) {
	family.Braid.Post(ep, family.Stream, header, payload, q)
}

// wait makes progress until e has come, or the context is over.
func wait(ctx context.Context, w *braid.Worker, e *event) { family.Braid.Await(ctx, w, e) }
