package intake

import (
	"bytes"
	"testing"

	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/offer"
	"github.com/openbraid/braid/internal/outbox"
	"github.com/openbraid/braid/internal/protocol"
	"github.com/openbraid/braid/internal/reassembly"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/tags"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// side is an endpoint of which there is only the intake, and the lane on which all comes.
type side struct {
	*testing.T
	Intake
	at      Landing
	calls   delivery.Queue
	hs      delivery.Handlers
	refused []wire.Refused
	region  *memory.Region
	key     wire.RKey
}

func (s *side) Refuse(m wire.Refused)          { s.refused = append(s.refused, m) }
func (s *side) Report(*request.Request, error) {}
func (s *side) Wake()                          {}
func (s *side) Later()                         {}
func (s *side) Posted()                        {}
func (s *side) Flushed()                       {}
func (s *side) Lands(r *request.Request) bool  { return s.at.Reads(r) }

func newSide(t *testing.T) *side {
	n := uint64(0)
	mem := memory.NewTable(func() uint64 { n++; return n })
	s := &side{T: t, region: mem.Add(make([]byte, 64))}
	s.key = s.region.Key(wire.Write|wire.Atomic, 1)
	pool := &request.Pool{}
	box := outbox.New(s, pool, &outbox.Scratch{Memory: mem}, outbox.Terms{Peer: protocol.Peer{MaxMessage: 1 << 20}, Limits: protocol.Limits{MaxFrame: 4096}})
	box.OwnCredits, box.OwnBacklog = 4, 4096
	report := func(*request.Request, error) {}
	s.Intake = Intake{From: s, Box: box, Memory: mem, Tags: tags.New(tags.Options{Pool: pool, Memory: mem, Report: report}),
		Offers:   offer.New(offer.Options{Pool: pool, Memory: mem, Report: report}),
		Handlers: &s.hs, Calls: &s.calls, Parts: reassembly.Table{Limit: 1 << 20, Pool: reassembly.NewPool(4<<10, 1<<20, 1<<20)}}
	return s
}

// comes is a frame that arrives: large ones in pieces, so that Place is asked.
func (s *side) comes(id uint8, head []byte, payload []byte, large bool) error {
	in := &transport.Incoming{ID: id, Class: transport.Data, Head: head, Payload: payload}
	if large {
		if b := s.Place(&s.at, id, head, len(payload)); b != nil {
			copy(b, payload)
			in.Payload, in.Placed = b, true
		}
	}
	return s.Take(s, &s.at, in)
}

func (s *side) Instance() wire.Instance { return wire.Instance{N: 1} }

func (s *side) put(offset uint64, secret wire.Secret) []byte {
	return wire.Put{Index: s.key.Index, Secret: secret, Offset: offset, Op: 7}.AppendTo(nil)
}

// Invariant 1, 2: what is refused changes nothing and is told; all else is done once.
func TestPuts(t *testing.T) {
	for _, large := range []bool{false, true} {
		s := newSide(t)
		if err := s.comes(wire.IDPut, s.put(8, s.key.Secret), []byte("twelve bytes"), large); err != nil || string(s.region.Bytes[8:20]) != "twelve bytes" || len(s.refused) > 0 {
			t.Error(large, err, s.refused)
		}
		was := bytes.Clone(s.region.Bytes)
		for _, bad := range [][]byte{s.put(60, s.key.Secret), s.put(1<<63, s.key.Secret), s.put(8, s.key.Secret^1<<40)} {
			n := len(s.refused)
			if err := s.comes(wire.IDPut, bad, []byte("eight by"), large); err != nil || len(s.refused) != n+1 || s.refused[n].Op != 7 {
				t.Error(large, err, s.refused)
			}
		}
		if !bytes.Equal(was, s.region.Bytes) || s.Refused != 3 {
			t.Errorf("refused puts wrote: %q; %d are counted", s.region.Bytes, s.Refused)
		}
	}
}

// Invariant 3: a region is busy from Place until the frame is taken, or the lane left.
func TestPlaceEnds(t *testing.T) {
	s := newSide(t)
	for _, end := range []func(in *transport.Incoming){
		func(*transport.Incoming) { s.at.Leave() },
		func(in *transport.Incoming) { s.Take(s, &s.at, in) },
		func(in *transport.Incoming) { in.Head = nil; s.Take(s, &s.at, in) },
	} {
		head := s.put(0, s.key.Secret)
		b := s.Place(&s.at, wire.IDPut, head, 64)
		if len(b) != 64 || !s.region.Busy() {
			t.Fatal("nothing is held while it is written")
		}
		if end(&transport.Incoming{ID: wire.IDPut, Head: head, Payload: b, Placed: true}); s.region.Busy() {
			t.Error("held for ever")
		}
	}
	if err := s.Take(s, &s.at, &transport.Incoming{ID: wire.IDPut, Head: s.put(0, s.key.Secret), Placed: true}); err == nil {
		t.Error("a placed payload that has no place is taken")
	}
}

// A message of several frames is not handed over while another of its frames is being written, and then once.
func TestFragments(t *testing.T) {
	s := newSide(t)
	var got []string
	s.hs.Handle(3, func(m *delivery.Message) { got = append(got, string(m.Header)+string(m.Payload)) })
	take := func(id uint8, head []byte, payload string, large bool) {
		t.Helper()
		if err := s.comes(id, head, []byte(payload), large); err != nil {
			t.Fatal(err)
		}
	}
	take(wire.IDAMFirst, wire.AMFirst{ID: 3, Msg: 1, Total: 8, Header: []byte("h:")}.AppendTo(nil), "abcd", false)
	if b := s.Place(&s.at, wire.IDAMFrag, wire.AMFrag{Msg: 1, Offset: 4}.AppendTo(nil), 4); b == nil || !s.at.Fills() {
		t.Fatal("no place for a fragment")
	}
	s.at.Leave() // its lane is lost; it comes again on another
	take(wire.IDAMFrag, wire.AMFrag{Msg: 1, Offset: 4}.AppendTo(nil), "efgh", true)
	take(wire.IDAM, wire.AM{ID: 4}.AppendTo(nil), "nobody's", false)
	for calls := s.calls.Take(nil); len(calls) > 0; calls = s.calls.Take(calls[:0]) {
		for i := range calls {
			s.calls.Run(&calls[i])
		}
		s.calls.Finish(calls)
	}
	if len(got) != 1 || got[0] != "h:abcdefgh" || len(s.refused) != 1 || s.refused[0].Detail != 4 {
		t.Error(got, s.refused)
	}
}

// Invariant 4: what may not come is an error. Only a limit that this side has told stands between a peer and a growing heap.
func TestMayNotCome(t *testing.T) {
	for name, f := range map[string]func(s *side) error{
		"a control frame": func(s *side) error { return s.comes(wire.IDPing, make([]byte, 64), nil, false) },
		"an unknown one":  func(s *side) error { return s.comes(0xff, nil, nil, false) },
		"a get larger than a frame": func(s *side) error {
			return s.comes(wire.IDGet, wire.Get{Index: s.key.Index, Secret: s.key.Secret, Size: 4096}.AppendTo(nil), nil, false)
		},
		"an answer that nobody asked for": func(s *side) error { return s.comes(wire.IDGetData, wire.GetData{Op: 1}.AppendTo(nil), nil, false) },
		"a credit for nothing":            func(s *side) error { return s.comes(wire.IDCredit, wire.Credit{Handled: 1}.AppendTo(nil), nil, false) },
		"more messages than it has credits for": func(s *side) (err error) {
			s.hs.Handle(3, func(*delivery.Message) {})
			for n := 0; err == nil && n < 4096/256+2; n++ {
				err = s.comes(wire.IDAM, wire.AM{ID: 3}.AppendTo(nil), []byte("one"), false)
			}
			return err
		},
	} {
		if f(newSide(t)) == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// FuzzTake: whatever comes, it panics nowhere and holds nothing.
func FuzzTake(f *testing.F) {
	for id := range 64 {
		f.Add(uint8(id), bytes.Repeat([]byte{1}, 48), []byte("payload"), id%2 == 0)
	}
	f.Fuzz(func(t *testing.T, id uint8, head, payload []byte, large bool) {
		s := newSide(t)
		s.comes(id, head, payload, large)
		if s.at.Leave(); s.region.Busy() {
			t.Error("a region is held")
		}
	})
}
