package delivery

import (
	"fmt"

	"github.com/openbraid/braid/internal/family"
)

// Handlers are the handlers of active messages, by id. Those of the library's own ids stand apart: they are few, and their ids high.
type Handlers struct{ program, own, offers []Handler }

// Handle sets a program's handler; nil takes it away. It panics if the id is the library's own.
func (hs *Handlers) Handle(id uint16, h Handler) {
	if err := family.Check(id); err != nil {
		panic(fmt.Sprintf("braid: a handler for a message: %v", err))
	}
	hs.program = set(hs.program, id, h)
	if int(id) < len(hs.offers) {
		hs.offers[id] = nil
	}
}

// HandleOffer is Handle of one that takes messages of which only the header has come, too.
func (hs *Handlers) HandleOffer(id uint16, h Handler) {
	hs.Handle(id, h)
	hs.offers = set(hs.offers, id, h)
}

// OfOffer is the handler of a program's id for such messages, nil if there is none.
func (hs *Handlers) OfOffer(id uint16) Handler {
	if int(id) < len(hs.offers) {
		return hs.offers[id]
	}
	return nil
}

// Own sets the handler of an id that is the library's own.
func (hs *Handlers) Own(id uint16, h Handler) { hs.own = set(hs.own, id-family.First, h) }

// Of is the handler of an id, nil if there is none.
func (hs *Handlers) Of(id uint16) Handler {
	of := hs.program
	if family.Reserved(id) {
		of, id = hs.own, id-family.First
	}
	if int(id) < len(of) {
		return of[id]
	}
	return nil
}

func set(of []Handler, id uint16, h Handler) []Handler {
	for int(id) >= len(of) {
		of = append(of, nil)
	}
	of[id] = h
	return of
}
