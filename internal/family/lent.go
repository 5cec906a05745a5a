package family

import (
	"context"
	"errors"

	"github.com/openbraid/braid/internal/sleep"
)

// Root is what the root package lends to the rooms of families, which stand above it, and does not give to programs. Arguments and messages are of its types.
type Root struct {
	// Handle sets the handler of an id that is the library's own; nil takes it away. ErrTaken: it has one. When the worker is closed it is called with nil,
	// and must not wait for callbacks then.
	Handle func(worker any, id uint16, fn func(message any)) error
	// Post posts a message under such an id, and leaves the request in what into points to.
	Post func(endpoint any, id uint16, header, payload []byte, into any)
	// Await makes progress on a Shared worker until e has ended, or the context has, as one of many goroutines that do.
	Await func(ctx context.Context, worker any, e sleep.Event)
	// Public is an error of the engine's as programs get it.
	Public func(error) error
	// Settle runs the callbacks that are due if the endpoint's worker is closed: nobody else does.
	Settle func(endpoint any)
	// Look hands the engine's endpoint to look, while nobody else changes it. What look changes is seen to as after a call of a program's; no callback runs.
	Look func(endpoint any, look func(engine any))
}

// ErrTaken says that an id has a handler.
var ErrTaken = errors.New("an id that has a handler")

// Braid is what it has lent.
var Braid Root

// Lend is the root package's.
func Lend(r Root) Root {
	Braid = r
	return r
}
