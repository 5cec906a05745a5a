package perf

import (
	"encoding/binary"
	"fmt"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/catalog"
	"github.com/openbraid/braid/internal/perf/ledger"
	"github.com/openbraid/braid/internal/perf/note"
	"github.com/openbraid/braid/internal/perf/pattern"
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
	mem     *braid.Memory
	body    []byte // of answers
	tags    tags
	taker   *streams.Taker // of a stream

	put puts
}

// maxRoom is the memory that one client may ask for: two places of the largest size.
const maxRoom = 2 * maxSize

// puts is what puts need, and gets.
type puts struct {
	size  int
	slots int
	spot  spot
	key   *braid.RKey // of the client's memory, for latency: answers go there
	next  uint64      // the put that is waited for

	answers [2]answer // the last two
}

// answer is a put back.
type answer struct {
	body []byte
	sent braid.Request
}

func newSession(node *braid.Node, n note.Note, cpu string) (*session, error) {
	t, err := catalog.Lookup(n.Test)
	if err != nil {
		return nil, fmt.Errorf("%q is no test here: use the same braid on both sides", n.Test)
	}
	if n.Size < 0 || n.Size > maxSize || n.Slots < 1 || n.Slots > maxSlots || n.Size*n.Slots > maxRoom || n.Total > 2*maxIterations || n.Verify && n.Total > maxVerified ||
		t.Stream && n.Size == 0 || t.Atomic && n.Size != 4 && n.Size != 8 || t.Put && t.Latency && (n.Size < pattern.WordLen || n.Shared && n.Size != pattern.WordLen) {
		return nil, fmt.Errorf("parameters out of range: size %d, slots %d, total %d", n.Size, n.Slots, n.Total)
	}
	ses := &session{ep: n.From, test: t, verify: n.Verify, total: n.Total, sleep: n.Sleep, body: make([]byte, n.Size)}
	ses.put = puts{size: n.Size, slots: n.Slots, spot: spotOf(n.Size)}
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
	if t.Latency {
		key, err := braid.ParseRKey(n.Key)
		if err != nil {
			return nil, err
		}
		ses.put.key = &key
	}
	if ses.mem, err = node.Alloc(max(ses.put.spot.room, max(n.Size, pattern.WordLen)*n.Slots)); err != nil {
		return nil, err
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
	ep := m.Endpoint()
	ses := s.session(ep)
	if ses == nil {
		return
	}
	ses.arrived++
	if ses.ledger != nil {
		ses.ledger.Message(m.Header(), m.Payload(), false)
	}
	if !ses.test.Latency {
		return
	}
	// A message that is whole is answered from here, so that the answer goes out in this very turn.
	head, body := m.Header(), ses.body
	if ses.verify && len(head) >= pattern.WordLen {
		head = append([]byte(nil), head...) // the library's until it is acknowledged, as the body is
		body = make([]byte, len(ses.body))
		pattern.Fill(body, pattern.Base(binary.LittleEndian.Uint64(head), true))
	} else {
		head = ses.header(len(head))
	}
	ep.PostAM(note.Echo, head, body).Release()
}

// blankHeader is what headers without meaning are cut from.
var blankHeader [maxHeader]byte

func (*session) header(n int) []byte { return blankHeader[:min(n, maxHeader)] }

// answerPut looks whether the next put of a latency test is whole, and answers it. The one after may have come when it returns.
func (ses *session) answerPut(s *server) bool {
	p := &ses.put
	mark := p.next + 1
	if ses.mem.Load64(p.spot.counter) != mark {
		return false
	}
	seq := p.next
	p.next++
	ses.arrived++
	a := &p.answers[seq%uint64(len(p.answers))]
	// It is not waited for until it is sent: who saw its end in memory may have turned to another endpoint, and take the rest later. The one before the last is sent,
	// or the client would not have come so far.
	if seq >= uint64(len(p.answers)) {
		if err := a.sent.Wait(s.ctx); err != nil {
			s.p.Log("answer %d: %v", seq-uint64(len(p.answers)), err) // an endpoint that failed is reported as an event, too
		}
	} else {
		a.body = make([]byte, p.size)
	}
	if ses.verify {
		landed(ses.ledger, s.w, ses.mem.Bytes()[p.spot.offset:p.spot.counter], pattern.Base(seq, false))
		ses.ledger.Note(seq)
		pattern.Fill(a.body, pattern.Base(seq, true))
	}
	binary.LittleEndian.PutUint64(a.body[len(a.body)-pattern.WordLen:], mark)
	a.sent = ses.ep.PostPut(a.body, *p.key, p.spot.offset)
	return true
}

// check looks at the puts of a round, which are all executed.
func (ses *session) check(first, count uint64) {
	if ses.ledger == nil || ses.mem == nil || count > uint64(ses.put.slots) {
		return // it is not what has places to look at
	}
	for i := range count {
		ses.ledger.PutSlot(ses.slot(int(i)), first+i, uint64(ses.put.slots))
	}
}

func (ses *session) slot(i int) []byte {
	return ses.mem.Bytes()[i*ses.put.size : (i+1)*ses.put.size]
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
	if ses.ledger == nil {
		return Tally{Arrived: ses.arrived}
	}
	if ses.test.Put && !ses.test.Latency {
		for i := range ses.put.slots {
			ses.ledger.Rest(ses.slot(i))
		}
	}
	return ses.ledger.Final()
}
