package perf

import (
	"encoding/binary"
	"fmt"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/catalog"
	"github.com/openbraid/braid/internal/perf/landing"
	"github.com/openbraid/braid/internal/perf/ledger"
	"github.com/openbraid/braid/internal/perf/note"
	"github.com/openbraid/braid/internal/perf/pattern"
	"github.com/openbraid/braid/internal/perf/puts"
	"github.com/openbraid/braid/internal/perf/streams"
)

// session is one test as the server sees it.
type session struct {
	ep      *braid.Endpoint
	test    catalog.Test
	verify  bool
	sleep   bool
	arrived uint64         // messages
	total   uint64         // operations that there are to be
	ledger  *ledger.Ledger // with verify
	size    int
	mem     *braid.Memory
	echo    *puts.Echo // of puts, for latency
	board   puts.Board // of puts and gets
	body    []byte     // of answers
	field   landing.Field
	tags    tags
	taker   *streams.Taker // of a stream
}

// maxRoom is the memory that one client may ask for: two places of the largest size.
const maxRoom = 2 * maxSize

func newSession(node *braid.Node, n note.Note, cpu string) (*session, error) {
	t, err := catalog.Lookup(n.Test)
	if err != nil {
		return nil, fmt.Errorf("%q is no test here: use the same braid on both sides", n.Test)
	}
	if n.Size < 0 || n.Size > maxSize || n.Slots < 1 || n.Slots > maxSlots || n.Size*n.Slots > maxRoom || n.Total > 2*maxIterations || n.Verify && n.Total > maxVerified ||
		t.Stream && n.Size == 0 || t.Atomic && n.Size != 4 && n.Size != 8 || t.Put && t.Latency && !t.Signal && (n.Size < pattern.WordLen || n.Shared && n.Size != pattern.WordLen) {
		return nil, fmt.Errorf("parameters out of range: size %d, slots %d, total %d", n.Size, n.Slots, n.Total)
	}
	ses := &session{ep: n.From, test: t, verify: n.Verify, total: n.Total, sleep: n.Sleep, size: n.Size, body: make([]byte, n.Size)}
	if n.Verify && !t.Get && !t.Atomic { // gets arrive at the client
		ses.ledger = ledger.New(n.Total)
	}
	switch {
	case t.Stream:
		ses.taker = streams.NewTaker(n.Size, t.Latency, ses.ledger, cpu)
		return ses, nil
	case n.Pieces != nil:
		return ses, ses.scatter(n.Pieces)
	case !t.Put && !t.Get && !t.Atomic:
		ses.expectTags()
		return ses, nil
	}
	spot, layout := puts.SpotOf(n.Size, t.Signal), puts.Layout{Size: n.Size, Slots: n.Slots, Signals: t.Signal}
	if ses.mem, err = node.Alloc(max(spot.Room, layout.Room())); err != nil {
		return nil, err
	}
	ses.board = puts.Board{Layout: layout, Mem: ses.mem, Ledger: ses.ledger}
	if t.Latency {
		key, err := braid.ParseRKey(n.Key)
		if err != nil {
			return nil, err
		}
		ses.echo = &puts.Echo{Lane: puts.Lane{Spot: spot, Mem: ses.mem, Ledger: ses.ledger}, Key: key}
	}
	if t.Get {
		ses.offer()
	}
	return ses, nil
}

// rights are what the client needs.
func (ses *session) rights() braid.Rights {
	switch {
	case ses.test.Get:
		return braid.Read
	case ses.test.Atomic:
		return braid.Atomic
	}
	return braid.Write
}

// data is the handler of the messages that are measured.
func (s *server) data(m *braid.Message) {
	ses := s.session(m.Endpoint())
	if ses != nil && ses.field.Receive(m, ses.came) {
		ses.came(m.Header(), m.Payload())
	}
}

// came counts a message, and answers that of a latency test: from here, so that the answer goes out in this very turn.
func (ses *session) came(head, body []byte) {
	ses.count(head, body)
	if !ses.test.Latency {
		return
	}
	body = ses.body
	if ses.verify && len(head) >= pattern.WordLen {
		head = append([]byte(nil), head...) // the library's until it is acknowledged, as the body is
		body = make([]byte, len(ses.body))
		pattern.Fill(body, pattern.Base(binary.LittleEndian.Uint64(head), true))
	} else {
		head = ses.header(len(head))
	}
	if ses.test.Offer {
		ses.ep.PostOfferAM(note.Echo, head, body).Release()
	} else {
		ses.ep.PostAM(note.Echo, head, body).Release()
	}
}

func (ses *session) count(head, body []byte) {
	ses.arrived++
	if ses.ledger != nil {
		ses.ledger.Message(head, body, false)
	}
}

// blankHeader is what headers without meaning are cut from.
var blankHeader [maxHeader]byte

func (*session) header(n int) []byte { return blankHeader[:min(n, maxHeader)] }

// answerPut answers the next put of a latency test, if it is there.
func (ses *session) answerPut(s *server) bool {
	answered, err := ses.echo.Answer(s.ctx, s.w, ses.ep)
	if err != nil {
		s.p.Log("%v", err)
	}
	return answered
}

// check looks at the puts of a round, which are all executed.
func (ses *session) check(first, count uint64) {
	if ses.board.Mem != nil {
		ses.board.Check(first, count)
	}
}

// trim takes the number of operations from who knows it in the end.
func (ses *session) trim(total uint64) {
	if total > 0 {
		ses.total = total
	}
	if ses.ledger != nil {
		ses.ledger.Trim(total)
	}
}

// final is what arrived in all.
func (ses *session) final() Tally {
	if ses.test.Atomic {
		return ses.sum()
	}
	if ses.taker != nil {
		ses.arrived = ses.taker.Close()
	}
	if ses.echo != nil {
		ses.arrived = ses.echo.Arrived()
	}
	switch {
	case ses.ledger == nil:
		return Tally{Arrived: ses.arrived}
	case ses.echo != nil:
		ses.echo.Rest(ses.total)
	case ses.test.Put:
		ses.board.Rest()
	}
	return ses.ledger.Final()
}
