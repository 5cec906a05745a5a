package owed

import (
	"errors"
	"slices"
	"testing"

	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// putter is an endpoint that puts, and its only lane.
type putter struct {
	transport.Endpoint
	Debts
	room     int
	mem      *memory.Table
	frames   []wire.TagPut
	sizes    []int
	zero     []bool
	done     []transport.Completer
	returned []*memory.Region
	woken    int
}

func newPutter() *putter {
	s := &putter{mem: memory.NewTable(func() uint64 { return 1 })}
	s.Init(s, &transport.Frame{}, make([]byte, 64))
	s.MaxFrame, s.ZeroCopy = wire.TagPutSize+100, 100
	return s
}

func (s *putter) Carrier(int) transport.Endpoint  { return s }
func (s *putter) Wake()                           { s.woken++ }
func (s *putter) Posted()                         {}
func (s *putter) Paid()                           {}
func (s *putter) Returned(r *memory.Region)       { s.returned = append(s.returned, r) }
func (s *putter) left() (n int)                   { n, _ = s.Left(); return n }
func (s *putter) end(i int, err error)            { s.done[i].Executed(0, err) }
func (s *putter) said(want ...wire.TagPut) bool   { return slices.Equal(s.frames, want) }
func (s *putter) region(n int) (r *memory.Region) { return s.mem.Add(make([]byte, n)) }
func (s *putter) clear(r *memory.Region, n uint64) {
	s.Cleared(wire.TagClear{Op: 1, To: 7, Size: n}, r)
}

func (s *putter) Post(f *transport.Frame) transport.Status {
	if s.room == 0 {
		return transport.NoResource
	}
	s.room--
	h, err := wire.DecodeTagPut(f.Head)
	if err != nil || f.ID != wire.IDTagPut {
		panic(err)
	}
	s.frames, s.sizes, s.zero, s.done = append(s.frames, h), append(s.sizes, len(f.Payload)), append(s.zero, f.ZeroCopy), append(s.done, f.Done)
	return transport.Done
}

// TestPut: as many bytes go as there is room for at the peer, in frames, as lanes have room; memory is held until the peer has the last of them.
func TestPut(t *testing.T) {
	s := newPutter()
	r := s.region(500)
	s.room = 1
	if s.clear(r, 250); s.left() != 1 || s.woken == 0 {
		t.Fatal("what does not fit waits for nobody")
	}
	s.room = 9
	if n := s.Settle(); n != 2 || !s.said(wire.TagPut{To: 7}, wire.TagPut{To: 7, At: 100}, wire.TagPut{To: 7, At: 200}) || !slices.Equal(s.sizes, []int{100, 100, 50}) ||
		!slices.Equal(s.zero, []bool{true, true, false}) || s.left() != 0 {
		t.Fatalf("%d more: %+v of %v", n, s.frames, s.sizes)
	}
	s.mem.Remove(r)
	for _, i := range []int{2, 0} {
		if s.end(i, nil); !r.Busy() || len(s.returned) > 0 {
			t.Error("memory is given back while a lane needs it")
		}
	}
	if s.end(1, nil); r.Busy() || len(s.returned) != 1 {
		t.Error("memory is not given back")
	}
}

// TestPutTakenBack: of what is taken back in the middle nothing more goes, and the peer is told how much did; of what is over, that it was nothing.
func TestPutTakenBack(t *testing.T) {
	s := newPutter()
	r := s.region(500)
	s.room = 1
	s.clear(r, 500)
	s.clear(nil, 300)
	s.mem.Remove(r)
	s.room = 9
	if s.Settle(); !s.said(wire.TagPut{To: 7}, wire.TagPut{To: 7, At: 100, Code: wire.RefusedKey}, wire.TagPut{To: 7, Code: wire.RefusedKey}) || s.sizes[1]+s.sizes[2] != 0 {
		t.Errorf("%+v of %v", s.frames, s.sizes)
	}
	if s.end(0, nil); !r.Busy() {
		t.Error("the last frame is not counted")
	}
	if s.end(1, nil); r.Busy() || len(s.returned) != 1 {
		t.Error("memory is not given back")
	}
	s.end(2, nil)
	if s.clear(r, 1); len(s.frames) != 4 || s.frames[3].Code == 0 {
		t.Errorf("memory that is void is put: %+v", s.frames)
	}
}

// TestPutEnds: when all is over, what waits lets go of its memory at once, and what is under way with its lane.
func TestPutEnds(t *testing.T) {
	s := newPutter()
	r, q := s.region(500), s.region(500)
	s.room = 1
	s.clear(r, 500)
	s.clear(q, 500)
	if s.End(errors.New("over")); q.Busy() || !r.Busy() || s.left() != 0 {
		t.Error("what waits is held, or what is under way is not")
	}
	s.room = 9
	s.Settle()
	if s.end(0, errors.New("over")); r.Busy() || len(s.frames) != 1 {
		t.Errorf("posted: %+v", s.frames)
	}
}

// TestNothingOwedAfterTheEnd: what asks after the end is not answered, and holds no memory: nobody would let go of it.
func TestNothingOwedAfterTheEnd(t *testing.T) {
	for name, ask := range map[string]func(s *putter, r *memory.Region) error{
		"room": func(s *putter, r *memory.Region) error { s.clear(r, 8); return nil },
		"get": func(s *putter, r *memory.Region) error {
			k := r.Key(wire.Read, 1)
			_, err := s.AnswerGet(s.mem, wire.Get{Index: k.Index, Secret: k.Secret, Size: 100})
			return err
		},
		"fetch": func(s *putter, r *memory.Region) error {
			k := r.Key(wire.Atomic, 1)
			_, err := s.AnswerFetch(s.mem, wire.AtomicOp{Change: wire.ChangeAdd, Size: 8, Fetch: true, Value: 1, Index: k.Index, Secret: k.Secret})
			return err
		},
	} {
		s := newPutter()
		s.OwnCredits = 1
		r := s.region(500)
		s.End(errors.New("over"))
		if err := ask(s, r); err != nil || r.Busy() || s.left() != 0 || s.woken > 0 || r.Bytes[0] != 0 {
			t.Errorf("%s: %v; memory held: %v, %d wait, woken %d times, the word is %d", name, err, r.Busy(), s.left(), s.woken, r.Bytes[0])
		}
	}
}

// TestClear: the word that there is room goes with the notes.
func TestClear(t *testing.T) {
	s := newPutter()
	var id uint8
	var h wire.TagClear
	s.Clear(wire.TagClear{Op: 3, To: 4, Size: 5})
	s.host = &teller{s, func(f *transport.Frame) {
		id = f.ID
		h, _ = wire.DecodeTagClear(f.Head)
	}}
	if s.Settle(); id != wire.IDTagClear || h != (wire.TagClear{Op: 3, To: 4, Size: 5}) {
		t.Errorf("frame %d: %+v", id, h)
	}
}

// teller is a lane that shows what it is given.
type teller struct {
	*putter
	show func(*transport.Frame)
}

func (l *teller) Carrier(int) transport.Endpoint           { return l }
func (l *teller) Post(f *transport.Frame) transport.Status { l.show(f); return transport.Done }
