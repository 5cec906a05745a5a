package braid

import (
	"context"

	"github.com/openbraid/braid/internal/family"
	"github.com/openbraid/braid/internal/sleep"
)

// The library's own families of messages, such as package stream, stand above this package. This is what they get of it and programs don't.
var _ = family.Lend(family.Root{
	Handle: func(worker any, id uint16, fn func(any)) error {
		w := worker.(*Worker)
		w.lock()
		defer w.unlockOnly()
		switch {
		case fn == nil:
			w.eng.Own(id, nil)
			w.above.Set(id, nil)
		case w.desk.Closed():
			return ErrClosed
		case w.eng.Of(id) != nil:
			return family.ErrTaken
		default:
			w.eng.Own(id, handler(func(m *Message) { fn(m) }))
			w.above.Set(id, fn)
		}
		return nil
	},
	Post: func(endpoint any, id uint16, header, payload []byte, into any) {
		ep := endpoint.(*Endpoint)
		ep.w.lock()
		defer ep.w.unlock()
		*into.(*Request) = ep.w.request(ep.e.PostOwn(id, header, payload))
	},
	Await:  func(ctx context.Context, worker any, e sleep.Event) { worker.(*Worker).desk.Share(ctx, e) },
	Public: public,
	Settle: func(endpoint any) { endpoint.(*Endpoint).w.desk.CallsAfterClose() },
	Look: func(endpoint any, look func(any)) {
		ep := endpoint.(*Endpoint)
		ep.w.lock()
		defer ep.w.unlock()
		look(ep.e)
	},
})
