package offer

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/family"
	"github.com/openbraid/braid/internal/golden"
	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
)

// TestLife: the whole life is written down.
func TestLife(t *testing.T) { golden.Same(t, "testdata/life.txt", Life.Matrix()) }

// peer is the endpoint of both sides of a test: what is posted comes back, and what is read is read at once.
type peer struct {
	eager  int
	over   error
	mem    *memory.Table
	pool   *request.Pool
	posted []*delivery.Message
	notes  []wire.TagNote
	reads  []string
	stuck  bool // what is read does not come
	may    error
}

func (p *peer) Eager() int                                    { return p.eager }
func (p *peer) Over() error                                   { return p.over }
func (p *peer) Where() string                                 { return "there" }
func (p *peer) Tell(h wire.TagNote)                           { p.notes = append(p.notes, h) }
func (p *peer) MayMessage(uint16, int, int) error             { return p.may }
func (p *peer) FrameSent(*request.Request)                    {}
func (p *peer) FrameExecuted(*request.Request, uint64, error) {}

func (p *peer) PostAM(id uint16, header, payload []byte) (*request.Request, error) {
	p.posted = append(p.posted, &delivery.Message{ID: id, Header: bytes.Clone(header), Payload: bytes.Clone(payload)})
	return nil, nil
}

func (p *peer) PostAnswered(id uint16, header, payload []byte, lent *memory.Region) (*request.Request, error) {
	p.PostAM(id, header, payload)
	r := p.pool.Get(request.AM, p)
	r.ID, r.Lent = id, lent
	return r, nil
}

func (p *peer) Read(r *request.Request, h wire.TagOffer, at uint64, dst []byte) {
	p.reads = append(p.reads, fmt.Sprintf("%d+%d for %d", at, len(dst), h.Op))
	if p.stuck {
		return
	}
	_, b, code := p.mem.Target(h.Index, h.Secret, wire.Read, at, uint64(len(dst)))
	if code != 0 {
		r.Err = outcome.ErrCanceled
	}
	copy(dst, b)
	r.Retired = true
	r.End(r.Err)
}

type bench struct {
	*testing.T
	*peer
	*Table
	src []byte
	op  uint64 // of what comes
}

func newBench(t *testing.T) *bench {
	n := uint64(0)
	mem := memory.NewTable(func() uint64 { n++; return n })
	b := &bench{T: t, op: 55, peer: &peer{eager: 10, mem: mem, pool: &request.Pool{}}}
	b.Table = New(Options{Pool: b.pool, Memory: mem, Report: func(r *request.Request, err error) { r.End(err) }})
	for i := range byte(100) {
		b.src = append(b.src, i)
	}
	return b
}

// comes sends a message of n bytes and has it arrive.
func (b *bench) comes(n int) *delivery.Message {
	b.Helper()
	if _, err := b.Send(b.peer, 7, []byte("head"), b.src[:n]); err != nil {
		b.Fatal(err)
	}
	m := b.posted[len(b.posted)-1]
	if n <= b.eager {
		return m
	}
	id, h, err := Came(m)
	if err != nil || id != 7 || h.Size != uint64(n) || string(m.Payload) != "head" {
		b.Fatalf("%d %+v %v %q", id, h, err, m.Payload)
	}
	h.Op = b.op
	return &delivery.Message{ID: id, Header: m.Payload, Offer: b.Arrived(b.peer, h)}
}

func (b *bench) told(want ...wire.TagCode) {
	b.Helper()
	var got []wire.TagCode
	for _, n := range b.notes {
		got = append(got, n.Code)
		if n.Op != b.op {
			b.Errorf("a note about %d", n.Op)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.Errorf("the sender hears %v instead of %v", got, want)
	}
	if n := b.Open(); n != 0 {
		b.Errorf("%d offers are left", n)
	}
}

// Received into too little, enough, and too much memory, offered or whole: the bytes are there, and the true size.
func TestReceive(t *testing.T) {
	for _, n := range []int{0, 10, 11, 100} {
		for _, room := range []int{0, n / 2, n, n + 5} {
			b := newBench(t)
			m, dst := b.comes(n), make([]byte, room)
			r, err := b.Receive(m, dst)
			if err != nil || Size(m) != uint64(n) || r.Name() != "am receive" || r.Size != uint64(n) {
				t.Fatal(n, room, err)
			}
			if !r.Reported || errors.Is(r.Err, outcome.ErrTruncated) != (room < n) || !bytes.Equal(dst[:min(n, room)], b.src[:min(n, room)]) {
				t.Errorf("%d bytes into %d: %v", n, room, r.Err)
			}
			if _, err := b.Receive(m, dst); n > b.eager && !errors.Is(err, outcome.ErrRequest) {
				t.Errorf("received twice: %v", err)
			}
			if m.Offer != nil {
				m.Offer.LetGo()
			}
			if n > b.eager && room == 0 { // else the read tells
				b.told(wire.TagMatched)
			} else {
				b.told()
			}
		}
	}
}

// Pieces are read where they stand, and the end is told once: all of them, or given up.
func TestPieces(t *testing.T) {
	for _, whole := range []bool{true, false} {
		b := newBench(t)
		m, dst := b.comes(100), make([]byte, 30)
		for at := uint64(0); at < 90; at += 30 {
			r, err := b.Piece(m, dst, at)
			if err != nil || r.Err != nil || !bytes.Equal(dst, b.src[at:at+30]) {
				t.Fatal(at, err, r.Err)
			}
		}
		b.Close(m, whole)
		b.Close(m, true)
		m.Offer.LetGo()
		if _, err := b.Piece(m, dst, 0); !errors.Is(err, outcome.ErrRequest) {
			t.Error("a piece of what is over:", err)
		}
		if b.told(map[bool]wire.TagCode{true: wire.TagMatched, false: wire.TagGivenUp}[whole]); fmt.Sprint(b.reads) != "[0+30 for 0 30+30 for 0 60+30 for 0]" {
			t.Error(b.reads)
		}
	}
}

// Invariant 1, 3: taken back or let go of, before or in the middle: told once, and nothing is asked for after that. Of what is being read whole, the read tells.
func TestTakenBack(t *testing.T) {
	b := newBench(t)
	for _, pieces := range []bool{false, true} {
		b.notes, b.reads = nil, nil
		m := b.comes(50)
		if pieces {
			b.Piece(m, make([]byte, 10), 0)
		}
		if b.Withdraw(b.peer, 54) || b.Withdraw(&peer{}, 55) || !b.Withdraw(b.peer, 55) || b.Withdraw(b.peer, 55) {
			t.Error("another's offer is taken back, or one twice")
		}
		_, err := b.Receive(m, make([]byte, 50))
		_, err2 := b.Piece(m, make([]byte, 50), 0)
		if !errors.Is(err, outcome.ErrCanceled) || !errors.Is(err2, outcome.ErrCanceled) || len(b.reads) > 1 {
			t.Error(err, err2, b.reads)
		}
		b.Close(m, true)
		m.Offer.LetGo()
		b.told(wire.TagGivenUp)
	}
	b.notes, b.stuck = nil, true
	m := b.comes(50)
	b.Receive(m, make([]byte, 50))
	if b.Withdraw(b.peer, 55) {
		t.Error("what is being read is taken back")
	}
	m.Offer.LetGo()
	b.told()
	m = b.comes(50)
	m.Offer.LetGo()
	m.Offer.LetGo()
	b.told(wire.TagGivenUp)
}

// Of several, each has its place, in whatever order they end; those of a peer that is over are forgotten, and who wants them hears why.
func TestEnded(t *testing.T) {
	b := newBench(t)
	a := b.comes(20)
	b.op++
	c := b.comes(30)
	b.op++
	d := b.comes(40)
	other := b.Arrived(&peer{}, wire.TagOffer{TagSync: wire.TagSync{Op: 1}})
	a.Offer.LetGo()
	if b.Open() != 3 {
		t.Fatal(b.Open())
	}
	b.over = outcome.ErrPeerFailed
	b.Ended(b.peer)
	if b.Open() != 1 || b.open[other.from][1] != other {
		t.Fatal(b.Open())
	}
	r, err := b.Receive(c, make([]byte, 30))
	_, err2 := b.Piece(d, make([]byte, 30), 0)
	if err != nil || !errors.Is(r.Err, outcome.ErrPeerFailed) || !errors.Is(err2, outcome.ErrPeerFailed) || len(b.reads) > 0 {
		t.Error(err, r.Err, err2)
	}
	d.Offer.LetGo()
	other.LetGo()
	if b.Open() != 0 {
		t.Error(b.Open())
	}
}

// What can't be sent, and what a peer can't have sent.
func TestBad(t *testing.T) {
	b := newBench(t)
	if _, err := b.Send(b.peer, family.First, nil, nil); !errors.Is(err, outcome.ErrLimit) {
		t.Error(err)
	}
	b.may = wire.ErrVersion
	for _, n := range []int{1, 100} {
		if _, err := b.Send(b.peer, 1, nil, b.src[:n]); !errors.Is(err, wire.ErrVersion) {
			t.Error(err)
		}
	}
	head := func(id uint64) []byte { return wire.TagOffer{TagSync: wire.TagSync{Tag: id}}.AppendTo(nil) }
	for _, m := range []delivery.Message{{ID: family.Offer + 1, Header: head(1)}, {ID: family.Offer, Header: head(1)[1:]}, {ID: family.Offer, Header: head(uint64(family.First))}, {ID: family.Offer, Header: head(1 << 16)}} {
		if _, _, err := Came(&m); err == nil {
			t.Errorf("%+v is taken", m)
		}
	}
}
