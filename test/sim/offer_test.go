package sim

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/life"
	"github.com/openbraid/braid/internal/offer"
	"github.com/openbraid/braid/internal/outbox"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
)

// Handlers of a side in these seeds: one takes offers, one only what is whole, and to one nobody listens.
const (
	takesOffers = 7
	takesWhole  = 8
	isDeaf      = 9
)

// offered is a message that a side sends, offered or whole, and what became of it at the peer.
type offered struct {
	id       uint16
	data     []byte
	buf      []byte // what was posted: spoiled once it is the user's again
	header   []byte // the same of the header
	r        *request.Request
	large    bool // its payload stays here
	canceled bool
	ended    bool
	err      error
	ran      int
	got      bool // whole, or as much as there was room for
	gaveUp   bool // the peer has let go of it
	unwanted bool // for its handler did not want it
}

// taking is how a side receives one.
type taking struct {
	m      *delivery.Message
	of     *offered
	way    int                // one of those below
	buf    []byte             // whole, or two pieces
	r      *request.Request   // of the whole
	pieces []*request.Request // under way, at most two
	asked  int                // bytes
	read   int
	over   bool
	keeps  bool // the message is retained
}

// The ways of a handler.
const (
	atOnce  = iota // into memory for all of it
	short          // into too little
	pieces         // piece by piece
	later          // retained, and one of those above
	refused        // not at all
	ways
)

// offerer is one side's offers.
type offerer struct {
	*side
	peer   *offerer
	sends  []*offered
	takes  []*taking
	last   int // number of the message that was handled last, of those that take offers
	gives  bool
	pieced int // messages that were read in pieces
}

func (t *offerer) listen() {
	t.last = -1
	t.eng.Calls().Watch = nil // which is for other headers
	t.eng.HandleOffer(takesOffers, t.handle)
	t.eng.Handle(takesWhole, t.handle)
}

func (t *offerer) send() {
	w := t.w
	n := []int{0, 1, 500, 3000, 3001, 9000, 40_000}[w.n(7)]
	m := &offered{id: []uint16{takesOffers, takesOffers, takesOffers, takesWhole, isDeaf}[w.n(5)], data: make([]byte, n), large: n > 3000}
	m.header = binary.LittleEndian.AppendUint32(nil, uint32(len(t.sends)))
	for i := range n {
		m.data[i] = byte(i*7 + len(t.sends))
	}
	m.buf = bytes.Clone(m.data)
	var err error
	if w.n(5) == 0 {
		m.large = false
		m.r, err = t.ep.PostAM(m.id, m.header, m.buf)
	} else {
		m.r, err = t.eng.Offers().Send(t.ep.Box(), m.id, m.header, m.buf)
	}
	if errors.Is(err, outcome.ErrBackPressure) {
		return
	}
	if m.err = err; m.r == nil {
		m.back()
	}
	t.sends = append(t.sends, m)
}

// back: buffers are their user's again.
func (m *offered) back() {
	m.ended = true
	spoil(m.buf)
	spoil(m.header)
}

func spoil(b []byte) {
	for i := range b {
		b[i] = spoiled
	}
}

// handle is a message of the peer's.
func (t *offerer) handle(m *delivery.Message) {
	i := int(binary.LittleEndian.Uint32(m.Header))
	if i >= len(t.peer.sends) {
		t.w.failf("%s: message %d was never sent", t.name, i)
		return
	}
	x := t.peer.sends[i]
	x.ran++
	switch {
	case x.ran > 1 || m.ID != x.id || i <= t.last:
		t.w.failf("%s: message %d runs %d times, for %d instead of %d, behind message %d", t.name, i, x.ran, m.ID, x.id, t.last)
	case offer.Size(m) != uint64(len(x.data)) || (m.Offer != nil) != x.large:
		t.w.failf("%s: message %d of %d bytes has %d, offered=%v", t.name, i, len(x.data), offer.Size(m), m.Offer != nil)
	case !x.large && !bytes.Equal(m.Payload, x.data):
		t.w.failf("%s: message %d differs", t.name, i)
	case x.err != nil && fate(x.err) == outcome.NotExecuted:
		t.w.failf("%s: message %d runs although its sender was told that it doesn't: %v", t.name, i, x.err)
	}
	t.last = i
	k := &taking{m: m, of: x, way: t.w.n(ways)}
	t.takes = append(t.takes, k)
	if k.way == later || k.way == pieces { // goes on after the handler
		m.Retain()
		k.keeps = true
	}
	if k.way != later {
		t.take(k)
	}
}

// take begins to receive.
func (t *offerer) take(k *taking) {
	if k.way == pieces && !k.of.large {
		k.way = atOnce
	}
	switch k.way {
	case atOnce:
		k.buf = make([]byte, len(k.of.data))
	case short:
		k.buf = make([]byte, len(k.of.data)/2)
	case pieces:
		k.buf = make([]byte, 2*(500+t.w.n(4000)))
		t.pieced++
		return
	case refused:
		k.of.gaveUp, k.of.unwanted, k.over = true, true, true
		return
	}
	r, err := t.eng.Offers().Receive(k.m, k.buf)
	if err != nil {
		t.refusedTo(k, err)
		return
	}
	k.r = r
}

// refusedTo: a receive, or a piece, is not begun.
func (t *offerer) refusedTo(k *taking, err error) {
	k.over, k.of.gaveUp = true, true
	spoil(k.buf)
	if !errors.Is(err, outcome.ErrCanceled) || !k.of.canceled {
		t.w.failf("%s: a receive of %d bytes: %v", t.name, len(k.of.data), err)
	}
}

// step goes on with one that is not over.
func (t *offerer) step(k *taking) {
	switch {
	case k.over:
	case k.way == later:
		if t.w.n(10) == 0 {
			k.way = []int{atOnce, short, pieces, refused}[t.w.n(4)]
			t.take(k)
		}
	case k.r != nil && k.r.Reported:
		t.received(k, k.r.Err)
		t.eng.Release(k.r)
	case k.way == pieces:
		t.stepPieces(k)
	}
	if k.over && k.keeps {
		if k.m.Offer != nil {
			k.m.Offer.LetGo()
		}
		k.m.Release()
		k.keeps = false
	}
}

// received: all of a message is here, or there was not enough room.
func (t *offerer) received(k *taking, err error) {
	k.over = true
	n := len(k.buf)
	switch truncated := errors.Is(err, outcome.ErrTruncated); {
	case err == nil || truncated:
		if k.of.got = true; truncated != (n < len(k.of.data)) || !bytes.Equal(k.buf, k.of.data[:n]) {
			t.w.failf("%s: %d bytes of a message of %d differ, or: %v", t.name, n, len(k.of.data), err)
		}
	default:
		if k.of.gaveUp = true; !errors.Is(err, outcome.ErrCanceled) {
			t.w.failf("%s: a receive ended with %v", t.name, err)
		}
	}
	spoil(k.buf)
}

// stepPieces asks for the next piece, and looks at one that has come.
func (t *offerer) stepPieces(k *taking) {
	each, size := len(k.buf)/2, len(k.of.data)
	for len(k.pieces) < 2 && k.asked < size {
		from := k.asked / each % 2 * each
		n := min(each, size-k.asked)
		r, err := t.eng.Offers().Piece(k.m, k.buf[from:from+n], uint64(k.asked))
		if err != nil {
			t.giveUpPieces(k)
			t.refusedTo(k, err)
			return
		}
		k.pieces, k.asked = append(k.pieces, r), k.asked+n
	}
	r := k.pieces[0]
	if !r.Reported {
		return
	}
	from, n := k.read/each%2*each, min(each, size-k.read)
	if err := r.Err; err != nil { // before it is let go of
		t.giveUpPieces(k)
		t.refusedTo(k, err)
		return
	}
	if !bytes.Equal(k.buf[from:from+n], k.of.data[k.read:k.read+n]) {
		t.w.failf("%s: %d bytes at %d of a message of %d differ", t.name, n, k.read, size)
	}
	t.eng.Release(r)
	if k.pieces, k.read = k.pieces[1:], k.read+n; k.read == size {
		k.over, k.of.got = true, true
		t.eng.Offers().Close(k.m, true)
		spoil(k.buf)
	}
}

// giveUpPieces ends a loop in the middle of it.
func (t *offerer) giveUpPieces(k *taking) {
	for _, r := range k.pieces {
		t.eng.Abandon(r, context.Canceled)
	}
	k.pieces, k.over, k.of.gaveUp = nil, true, true
	spoil(k.buf)
	t.eng.Offers().Close(k.m, false)
}

// giveUpSome cancels or abandons one of what is under way.
func (t *offerer) giveUpSome() {
	if n := len(t.sends); n > 0 {
		if m := t.sends[t.w.n(n)]; !m.ended {
			m.canceled = true
			if t.impatient(m.r) {
				m.err = outcome.As("am offer", "", outcome.Unknown, context.DeadlineExceeded)
				m.back()
			}
		}
	}
	if n := len(t.takes); n > 0 {
		switch k := t.takes[t.w.n(n)]; {
		case k.over:
		case k.r != nil:
			k.of.gaveUp = true
			if t.impatient(k.r) {
				k.over = true
				spoil(k.buf)
			}
		case k.way == pieces:
			t.giveUpPieces(k)
		}
	}
}

// look sees what has ended, and goes on with what has not.
func (t *offerer) look() {
	for _, m := range t.sends {
		if !m.ended && m.r.Reported {
			m.err = m.r.Err
			t.eng.Release(m.r)
			m.back()
			t.told(m)
		}
	}
	for _, k := range t.takes {
		t.step(k)
	}
}

// told is an end of a message, as its sender hears of it.
func (t *offerer) told(m *offered) {
	switch {
	case m.err != nil && fate(m.err) == outcome.NotExecuted && m.ran > 0:
		t.w.failf("%s: a message was handled although %v", t.name, m.err)
	case m.err != nil && errors.Is(m.err, outcome.ErrHandler) && m.id == takesOffers:
		t.w.failf("%s: %v", t.name, m.err)
	case m.err != nil && m.large && m.id != takesOffers && !errors.Is(m.err, outcome.ErrHandler) && !m.canceled:
		t.w.failf("%s: an offer that nobody handles ended with %v", t.name, m.err)
	}
}

// check looks at all of it in the end.
func (t *offerer) check() {
	for i, m := range t.sends {
		handled := m.id == takesOffers || m.id == takesWhole && !m.large
		switch {
		case handled && m.ran == 0 && !m.canceled:
			t.w.failf("%s: message %d was not handled: %v", t.name, i, m.err)
		case !handled && m.ran > 0:
			t.w.failf("%s: message %d was handled by somebody else", t.name, i)
		case m.large && handled && !m.canceled && !m.gaveUp && (m.err == nil) != m.got:
			t.w.failf("%s: message %d, received=%v, ended with %v", t.name, i, m.got, m.err)
		case m.large && m.unwanted && !m.canceled && !errors.Is(m.err, outcome.ErrCanceled):
			t.w.failf("%s: message %d, which nobody wanted, ended with %v", t.name, i, m.err)
		}
	}
	for i, k := range t.takes {
		if bytes.Count(k.buf, []byte{spoiled}) != len(k.buf) {
			t.w.failf("%s: receive %d was written to after its end", t.name, i)
		}
	}
	if n := t.eng.Offers().Open(); n > 0 {
		t.w.failf("%s: %d offers are left", t.name, n)
	}
}

// runOffers is one seed.
func runOffers(seed uint64) *world {
	s := shapeOf(seed)
	s.config.Eager = 3000
	s.config.Rendezvous = 1 + int(seed%2)
	w := newWorld(seed, s)
	if !w.connect() {
		return w
	}
	w.plan()
	a, b := &offerer{side: w.a}, &offerer{side: w.b}
	a.peer, b.peer = b, a
	both := [2]*offerer{a, b}
	for _, t := range both {
		t.listen()
		t.gives = w.n(2) == 0
	}
	w.until(5*time.Second, func() bool {
		for _, t := range both {
			t.act()
		}
		return len(a.sends) >= w.ops && len(b.sends) >= w.ops
	})
	over := func() bool {
		a.look()
		b.look()
		for _, t := range both {
			for _, m := range t.sends {
				if !m.ended {
					return false
				}
			}
			for _, k := range t.takes {
				if !k.over {
					return false
				}
			}
			if t.ep.Idle() != nil {
				return false
			}
		}
		return true
	}
	if !w.until(60*time.Second, over) {
		w.failf("did not end: %v, %v; %d and %d offers are open", a.ep.Idle(), b.ep.Idle(), a.eng.Offers().Open(), b.eng.Offers().Open())
		return w
	}
	for _, t := range both {
		t.check()
		t.covered()
	}
	switch {
	case len(w.fails) > 0:
	case seed%8 == 0:
		a.abandoned(b)
	default:
		w.close()
	}
	return w
}

// abandoned offers something that the peer keeps, and goes.
func (t *offerer) abandoned(peer *offerer) {
	var kept *delivery.Message
	peer.eng.HandleOffer(takesOffers, func(m *delivery.Message) {
		m.Retain()
		kept = m
	})
	if _, err := t.eng.Offers().Send(t.ep.Box(), takesOffers, nil, make([]byte, 9000)); err != nil || !t.w.until(20*time.Second, func() bool { return kept != nil }) {
		t.w.failf("%s: the last offer has not come: %v", t.name, err)
		return
	}
	t.ep.Abort()
	if !t.w.until(time.Minute, func() bool { return peer.ep.State() == life.Failed }) || peer.eng.Offers().Open() > 0 {
		t.w.failf("%s: %v, and keeps %d offers", peer.name, peer.ep.State(), peer.eng.Offers().Open())
	}
	if r, err := peer.eng.Offers().Receive(kept, make([]byte, 9000)); err != nil || r.Err == nil || !r.Reported {
		t.w.failf("%s: what is gone is received: %v", peer.name, err)
	}
}

// covered flushes: who was refused hears of that here, too.
func (t *offerer) covered() {
	r, err := t.ep.PostFlush(outbox.Flushing{})
	if r == nil && err == nil {
		return
	}
	if err != nil || !t.w.until(20*time.Second, func() bool { return r.Reported }) || r.Err != nil && !errors.Is(r.Err, outcome.ErrHandler) && !errors.Is(r.Err, outcome.ErrRefused) {
		t.w.failf("%s: the last flush: %v, %v", t.name, err, r.Err)
		return
	}
	t.eng.Release(r)
}

// act has a side do something, sometimes.
func (t *offerer) act() {
	w := t.w
	for range w.n(3) {
		if len(t.sends) < w.ops {
			t.send()
		}
	}
	if t.gives && w.n(25) == 0 {
		t.giveUpSome()
	}
	if ls := t.ep.Lanes(); w.n(15) == 0 && len(ls) > 0 {
		t.ep.Box().Prefer(ls[w.n(len(ls))].Instance.String())
	}
	t.look()
}

// TestOffers: messages of any size, offered or whole, are each handled once and in order; what a handler wants it gets, at once, later or in pieces, or its sender knows better, whatever
// happens to lanes; and no memory is written to, or read, once it is its user's again.
func TestOffers(t *testing.T) { eachSeed(t, 100, 16, runOffers) }
