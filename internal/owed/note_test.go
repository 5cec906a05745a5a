package owed

import (
	"errors"
	"slices"
	"testing"

	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// side is an endpoint that owes, and its only lane, which has room for so many frames.
type side struct {
	transport.Endpoint
	Debts
	room  int
	said  []uint64 // numbers of the notes that are posted
	done  []transport.Completer
	paid  int
	woken int
}

func newSide() *side {
	s := &side{}
	s.Init(s, &transport.Frame{}, make([]byte, 64))
	return s
}

func (s *side) Carrier(int) transport.Endpoint { return s }
func (s *side) Wake()                          { s.woken++ }
func (s *side) Posted()                        {}
func (s *side) Paid()                          { s.paid++ }
func (s *side) Returned(*memory.Region)        {}

func (s *side) Post(f *transport.Frame) transport.Status {
	if s.room == 0 {
		return transport.NoResource
	}
	s.room--
	h, err := wire.DecodeTagNote(f.Head)
	if err != nil {
		panic(err)
	}
	s.said, s.done = append(s.said, h.Op), append(s.done, f.Done)
	return transport.Done
}

// TestNotes: notes go in order, as there is room, and who closes is told when the peer has the last of them, once.
func TestNotes(t *testing.T) {
	s := newSide()
	s.room = 1
	for op := range uint64(3) {
		s.Tell(wire.TagNote{Code: wire.TagMatched, Op: op + 1})
	}
	if _, left := s.Left(); left != 3 || !slices.Equal(s.said, []uint64{1}) || s.woken == 0 {
		t.Errorf("%d are left, %v were said; woken %d times", left, s.said, s.woken)
	}
	s.done[0].Executed(0, nil)
	s.room = 9
	if n := s.Settle(); n != 2 || !slices.Equal(s.said, []uint64{1, 2, 3}) {
		t.Errorf("%d more: %v", n, s.said)
	}
	s.done[1].Executed(0, nil)
	if s.paid != 0 {
		t.Error("paid, and one is under way")
	}
	s.done[2].Executed(0, nil)
	if _, left := s.Left(); left != 0 || s.paid != 1 {
		t.Errorf("%d are left, paid %d times", left, s.paid)
	}
}

// TestNotesEnd: of what is over nothing is owed, however late frames of it end.
func TestNotesEnd(t *testing.T) {
	s := newSide()
	s.room = 1
	s.Tell(wire.TagNote{Code: wire.TagMatched, Op: 1})
	s.Tell(wire.TagNote{Code: wire.TagMatched, Op: 2})
	s.End(errors.New("over"))
	s.room = 9
	s.Tell(wire.TagNote{Code: wire.TagMatched, Op: 3})
	s.Settle()
	if s.done[0].Executed(0, errors.New("over")); !slices.Equal(s.said, []uint64{1}) {
		t.Errorf("said: %v", s.said)
	}
	if _, left := s.Left(); left != 0 {
		t.Errorf("%d are left", left)
	}
}
