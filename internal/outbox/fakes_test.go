package outbox

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/openbraid/braid/internal/cost"
	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/ledger"
	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/protocol"
	"github.com/openbraid/braid/internal/replay"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// conn is a connection of which there are the books only: what it is given is there until somebody acknowledges it, or purges.
type conn struct {
	ledger.Ledger
	room int // frames that it still takes
	name string
	asks int
}

func (c *conn) Post(f *transport.Frame) transport.Status {
	switch {
	case c.Held():
		return transport.Failed
	case c.room == 0:
		return transport.NoResource
	}
	c.room--
	e := c.Push(f)
	e.Head = append([]byte(nil), f.Head...)
	if f.ZeroCopy {
		return transport.Pending
	}
	e.Payload = append([]byte(nil), f.Payload...)
	return transport.Done
}

func (c *conn) Counts() (n transport.Counts) {
	c.Ledger.Counts(&n)
	return n
}

func (c *conn) PurgeOutstanding(position uint64, fn func(*transport.Frame) error) (transport.PurgeResult, error) {
	return c.Purge(position, fn)
}

func (c *conn) Detach(match func(transport.Completer) bool) { c.Ledger.Detach(match) }
func (c *conn) Admit(int, bool)                             {}
func (c *conn) RequestAck()                                 { c.asks++ }
func (c *conn) Reached() uint64                             { return 0 }
func (c *conn) Quiesce()                                    { c.Hold() }
func (c *conn) Position() uint64                            { return 0 }
func (c *conn) Unplace()                                    {}
func (c *conn) Close()                                      {}
func (c *conn) Local() string                               { return c.name }
func (c *conn) Remote() string                              { return c.name }

// world is a box without an engine: the test is its host, and its lanes are conns.
type world struct {
	*testing.T
	*Box
	request.Desk
	pool    request.Pool
	calls   delivery.Queue
	lanes   []*lane.Lane
	hands   []*replay.Handover
	over    int // hand-overs that are settled
	key     wire.RKey
	wakes   int
	owes    []transport.Frame // while it does not answer: what it would have answered
	mute    bool
	took    []byte // payloads that the peer has, and a byte for each frame without, but for notes
	offered uint64 // number of the message that is put there
	put     int    // bytes of a message that the peer has room for and has not got
}

func (w *world) Wake()    { w.wakes++ }
func (w *world) Later()   { w.wakes++ }
func (w *world) Posted()  {}
func (w *world) Flushed() {}

func (w *world) Lands(*request.Request) bool { return false }

// Frames of the tests are small: what has more than one is easy to make.
const (
	maxFrame = 256
	zeroCopy = 64 // from here on an operation has a request
)

// newWorld has so many lanes.
func newWorld(t *testing.T, lanes int) *world {
	w := &world{T: t}
	w.Desk = request.DeskOf(&w.pool, &w.calls)
	n := uint64(0)
	mem := memory.NewTable(func() uint64 { n++; return n })
	w.key = mem.Add(make([]byte, 4096)).Key(wire.Write|wire.Read|wire.Atomic, 1)
	w.Box = New(w, &w.pool, &Scratch{Memory: mem}, Terms{Addr: "peer", Pending: 16, PendingBytes: 1 << 20, Credits: 4, Backlog: 1 << 20,
		Peer: protocol.Peer{MaxMessage: 1 << 20}, Limits: protocol.Limits{MaxFrame: maxFrame},
		Chosen: func(names []string) ([]string, error) { return names, nil }})
	w.Forced.ZeroCopy, w.Clears, w.Scheme = zeroCopy, true, cost.ByPut
	w.choose()
	for range lanes {
		w.addLane()
	}
	return w
}

func (w *world) addLane() {
	n := len(w.lanes) + 1
	l := &lane.Lane{ID: wire.Instance{Opener: wire.Dialer, N: uint64(n)}, Tep: &conn{room: 1 << 20, name: fmt.Sprint("d", n)}, InOrder: true, ZeroCopy: zeroCopy}
	l.Note(lane.Answered)
	w.lanes, w.hands = append(w.lanes, l), append(w.hands, nil)
	w.LaneUp(l)
	w.Dispatch()
}

func (w *world) conn(i int) *conn { return w.lanes[i].Tep.(*conn) }

// lose loses a lane. Nothing is known yet of what the peer has.
func (w *world) lose(i int) {
	w.lanes[i].Note(lane.Broke)
	w.conn(i).Hold()
	w.LaneLost(w.lanes[i])
	w.Dispatch()
}

// back has a lost lane hand back all but the first frames that it had, which the peer has.
func (w *world) back(i int, has uint64) {
	c := w.conn(i)
	for at := c.Acked(); at < c.Acked()+has; at++ {
		w.take(&c.At(at).Frame)
	}
	w.hands[i] = &replay.Handover{Settled: func() { w.over++ }}
	if err := w.TakeBack(w.lanes[i], c.Acked()+has, w.hands[i]); err != nil {
		w.Fatal(err)
	}
}

// ack has the peer take what is on all lanes that are up, until nothing more comes, and answer what was asked.
func (w *world) ack() {
	for again := true; again; {
		again = w.Dispatch() > 0
		for i, l := range w.lanes {
			c := w.conn(i)
			if l.State() != lane.Up || c.Len() == 0 {
				continue
			}
			again = true
			for at := c.Acked(); at < c.Posted(); at++ {
				w.take(&c.At(at).Frame)
			}
			if err := c.Ack(c.Posted()); err != nil {
				w.Fatal(err)
			}
		}
	}
}

// take is what the peer does with a frame: it answers what asks.
func (w *world) take(f *transport.Frame) {
	if w.took = append(w.took, f.Payload...); len(f.Payload) == 0 && f.ID != wire.IDTagNote {
		w.took = append(w.took, 0)
	}
	if w.mute {
		w.owes = append(w.owes, transport.Frame{ID: f.ID, Head: bytes.Clone(f.Head), Payload: bytes.Clone(f.Payload), Done: f.Done})
		return
	}
	w.answer(f)
}

// speak has the peer answer what it owes.
func (w *world) speak() {
	w.mute = false
	for i := range w.owes {
		w.answer(&w.owes[i])
	}
}

func (w *world) answer(f *transport.Frame) {
	r := replay.Request(f.Done)
	if w.puts(f, r) {
		return
	}
	var h wire.GetData
	var b []byte
	switch {
	case r == nil || !r.Fetches():
		return
	case f.ID == wire.IDGet:
		g, err := wire.DecodeGet(f.Head)
		if err != nil {
			w.Fatal(err)
		}
		h, b = wire.GetData{Op: g.Op, At: g.At}, make([]byte, g.Size)
	default:
		h, b = wire.GetData{Op: r.Op()}, make([]byte, r.Change.Size)
	}
	if err := w.Answered(h, b, false); err != nil {
		w.Fatal(err)
	}
}

// puts is what the peer does with frames by which an offered message is put, to it and by it: a word that nobody waits for is dropped. Its room has the name 9.
func (w *world) puts(f *transport.Frame, r *request.Request) bool {
	var err error
	switch {
	case f.ID == wire.IDAM && r != nil && r.Replies > 0:
		w.put = 300
		err = w.Cleared(wire.TagClear{Op: r.Op(), To: 9, Size: 300})
	case f.ID == wire.IDTagPut:
		h, _ := wire.DecodeTagPut(f.Head)
		if w.put -= len(f.Payload); h.To != 9 || h.Code != 0 && h.At != uint64(300-w.put) {
			w.Errorf("%+v, with %d left of 300", h, w.put)
		}
		code := wire.TagMatched
		switch {
		case h.Code != 0:
			code = wire.TagGivenUp
		case w.put > 0:
			return true
		}
		err = w.Told(wire.TagNote{Code: code, Op: w.offered})
	case f.ID == wire.IDTagClear:
		h, _ := wire.DecodeTagClear(f.Head)
		for at := h.Size; at > 0 && err == nil; at -= 100 { // from the end
			err = w.Landed(wire.TagPut{To: h.To, At: at - 100}, make([]byte, 100), false, wire.Instance{N: 1})
		}
	default:
		return false
	}
	if err != nil {
		w.Error(err)
	}
	return true
}

// end lets go of a request, and looks whether anything is left.
func (w *world) end(rs ...*request.Request) {
	w.Helper()
	for _, r := range rs {
		if !r.Reported {
			w.Errorf("%v did not end", r.Kind)
		}
		w.Release(r)
	}
	if err := w.Idle(); err != nil && w.Box.end == nil { // nobody answers any more
		w.Error(err)
	}
	if n := w.pool.Live(); n > 0 {
		w.Errorf("%d requests are left", n)
	}
	for i, h := range w.hands {
		if h != nil && !h.Over() && w.Box.end == nil {
			w.Errorf("of lane %d something is left", i)
		}
	}
}
