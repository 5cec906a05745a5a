package outbox

import (
	"cmp"
	"fmt"

	"github.com/openbraid/braid/internal/cost"
	"github.com/openbraid/braid/internal/direct"
	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/order"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/owed"
	"github.com/openbraid/braid/internal/protocol"
	"github.com/openbraid/braid/internal/replay"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// Host is the endpoint that a box belongs to.
type Host interface {
	// Report is the user's end of a request.
	Report(r *request.Request, err error)
	// Wake asks for a Dispatch in this turn or the next.
	Wake()
	// Later asks for a Dispatch in the next turn.
	Later()
	// Posted says that something is, or will be, under way: lanes must be watched.
	Posted()
	// Flushed says that everything before a Close is executed.
	Flushed()
	// Lands says whether a lane is writing into the memory of r.
	Lands(r *request.Request) bool
}

// Scratch is what posting would otherwise allocate. One for each worker.
type Scratch struct {
	Frame  transport.Frame
	Once   request.Once // of what ended when it was posted
	Head   [2048]byte
	Fences order.Fences // of the worker
	Memory *memory.Table
}

// Box is an endpoint's operations. New makes one.
type Box struct {
	Terms
	Stats

	host    Host
	pool    *request.Pool
	scratch *Scratch
	shut    error // why nothing more may be posted, nil while it may
	end     error // why everything ended
	queues
	gets gets
	owed.Debts
	seats
	reach   direct.Reach
	waiting uint64 // bytes of operations that wait

	book    *order.Book
	unsent  order.Place // operations whose buffers are not their user's again
	covered uint64      // operations issued up to the last flush that succeeded
	refusal struct {
		err   error  // the first that no flush of everything has told its user
		until uint64 // operations issued when the last one came: it was one of them
	}
	nextID uint64 // of a message of several frames
	credit owed.Allowance
}

// Terms are what bounds the operations.
type Terms struct {
	protocol.Peer
	Addr         string          // of the peer, for errors
	Pending      int             // operations that may wait, per queue
	PendingBytes uint64          // bytes of operations that may wait
	Stay         uint64          // bytes under way up to which small operations stay on the lane of the last one: they share its writes
	Forced       cost.Thresholds // 0: as the lanes are
	Scheme       cost.Scheme     // how what is large is fetched
	Credits      int             // answers to gets and fetches that the peer has room for
	Backlog      uint64          // cost of messages that the peer takes before it has handled them
	Limits       protocol.Limits
	Chosen       func(names []string) ([]string, error) // of lanes by their instances, those that may have something on them. Nil stays nil
}

// Stats are counters.
type Stats struct {
	Puts, Messages uint64 // posted
	Gets, Atomics  uint64
	Direct         uint64 // copied, or changed, from here: not by frames
	Fenced         uint64 // fences at which operations had to wait
	ReplayedFrames uint64
	ReplayedBytes  uint64
	Moves          uint64 // times that messages were moved to a better lane
}

// queues are what can't be posted yet.
type queues struct {
	replayOrdered, replayAny replay.Queue // of operations
	replayOther              replay.Queue // of answers and credits, which no fence may stop: the peer's may wait for them
	pendOrdered, pendAny     request.Queue
	signals                  request.Queue // puts of which only the signal is to be posted
	flushes                  request.Queue
	partial                  request.Queue // flushes of a part of all that there is
	rooms                    request.Queue // wait until more may be posted
}

// New makes an empty box.
func New(h Host, p *request.Pool, s *Scratch, t Terms) *Box {
	b := &Box{Terms: t, host: h, pool: p, scratch: s, book: order.New(&s.Fences)}
	b.init(b)
	b.choose()
	b.Debts.Init((*debtor)(b), &s.Frame, s.Head[:0])
	return b
}

// Host is the endpoint that the box belongs to.
func (b *Box) Host() Host { return b.host }

// debtor is the box as the Host of what it owes.
type debtor Box

func (d *debtor) Wake()   { d.host.Wake() }
func (d *debtor) Posted() { d.host.Posted() }
func (d *debtor) Paid()   { (*Box)(d).Recheck() } // a close waits for it

// Carrier implements owed.Host: what was handed back goes first.
func (d *debtor) Carrier(size int) transport.Endpoint {
	if d.replayOther.Len() > 0 {
		return nil
	}
	if s := (*Box)(d).pick(size); s != nil {
		return s.Tep
	}
	return nil
}

// Shut ends posting: from now on it answers err. What is there goes on.
func (b *Box) Shut(err error) { b.shut = err }

// Uncovered is the number of operations that no successful flush covers.
func (b *Box) Uncovered() uint64 { return b.book.Issued() - b.covered }

// Refused notes that the peer did not carry out an operation: op is its number, or 0 if it has none.
func (b *Box) Refused(op uint64, err error) {
	r := b.pool.Find(op, b)
	if r != nil {
		r.Refused++
		err = b.inPart(r, err)
	}
	if b.refusal.until = b.book.Issued(); b.refusal.err == nil {
		b.refusal.err = err
	}
	if r != nil && r.Err == nil {
		r.Err = err
	}
}

// inPart is a refusal of one frame of r: unknown, while others may be executed.
func (b *Box) inPart(r *request.Request, err error) error {
	e, ok := err.(*outcome.Error)
	if ok && r.Kind == request.Put && r.Posted+uint64(len(r.Payload)) > uint64(b.Limits.MaxFrame-wire.PutSize) {
		e.Fate = outcome.Unknown
	}
	return err
}

// verdict is how a flush ends that has nothing left to wait for. A part, or a flush that nobody asks for, must not be why another says that all is well.
func (b *Box) verdict(r *request.Request) error {
	err := cmp.Or(r.Err, b.refusal.err)
	switch {
	case b.refusal.err == nil || r.Result != nil || r.Issued < b.refusal.until || !r.Heard():
	case r.PartOf != nil: // which may be let go before it ends
		r.PartOf.Result = append(tales(r.PartOf), tale{b, b.refusal.err, r.Issued})
	default:
		b.tell()
	}
	return err
}

// tell is the refusal, for a flush of all that was issued. Those that are under way tell it, too: it may be of what is theirs.
func (b *Box) tell() error {
	err := b.refusal.err
	b.flushes.Fail(err)
	b.partial.Fail(err)
	b.refusal.err = nil
	return err
}

// fail makes err the end of an operation.
func (b *Box) fail(op string, fate outcome.Fate, err error) error {
	return outcome.As(op, b.Addr, fate, err)
}

// Idle says whether nothing is left, for checks: no operation, no replay, nobody waiting.
func (b *Box) Idle() error {
	if n := b.book.Left(); n > 0 {
		return fmt.Errorf("%d frames or operations are not executed", n)
	}
	answers, notes := b.Left()
	if b.replayOrdered.Len()+b.replayAny.Len()+b.replayOther.Len()+b.pendOrdered.Len()+b.pendAny.Len()+b.signals.Len()+b.flushes.Len()+b.partial.Len()+b.rooms.Len()+b.gets.pend.Len()+b.gets.waiting.Len()+b.gets.told.Len()+b.gets.asked+answers+notes > 0 {
		return fmt.Errorf("something still waits")
	}
	if b.waiting != 0 {
		return fmt.Errorf("%d bytes are thought to wait", b.waiting)
	}
	if n := b.unsent.Len(); n > 0 {
		return fmt.Errorf("%d operations are thought to have buffers", n)
	}
	if n := b.ordered.Under(); n != 0 {
		return fmt.Errorf("%d ordered frames are thought to be under way", n)
	}
	return nil
}
