package request

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/openbraid/braid/internal/family"
	"github.com/openbraid/braid/internal/match"
	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/wire"
)

// Kind is what is to be done.
type Kind uint8

const (
	None    Kind = iota
	Put          // write Payload at Offset of the peer's region
	Get          // read into Payload from Offset of the peer's region
	AM           // deliver Header and Payload to handler ID of the peer
	Flush        // wait until everything before is executed
	Close        // flush, then end the endpoint in agreement with the peer
	Dial         // wait for the first lanes of an endpoint
	Accept       // wait for an endpoint, which will be the Result
	Room         // wait until more may be posted
	Atomic       // change a word of the peer's region
	Receive      // wait for a tagged message, into Dst; once an offer is matched, read it as a Get does. With the ID of offers: read one
)

func (k Kind) String() string {
	switch k {
	case None:
		return "none"
	case Put:
		return "put"
	case Get:
		return "get"
	case AM:
		return "am"
	case Flush:
		return "flush"
	case Close:
		return "close"
	case Dial:
		return "dial"
	case Accept:
		return "accept"
	case Room:
		return "room"
	case Atomic:
		return "atomic"
	case Receive:
		return "tag receive"
	}
	return "kind(?)"
}

// Owner is told how a request goes on. It is the endpoint.
type Owner interface {
	// FrameSent: a zero-copy frame let go of the payload.
	FrameSent(r *Request)
	// FrameExecuted: a frame is accepted by the peer, or ended with err; tag is what it was posted with.
	FrameExecuted(r *Request, tag uint64, err error)
}

// Request is one operation. The exported fields are the engine's.
type Request struct {
	Kind  Kind
	Owner Owner
	Next  *Request // in one queue
	prev  *Request
	in    *Queue

	Operation
	Progress
	Trace Trace

	Err    error
	Result any         // of an Accept or a receive that takes; of a flush of a part, what it waits for
	OnSent func(error) // user's callback, run by the engine at the end of a turn
	PartOf *Request    // of a flush of one endpoint, for one of all

	ended uint32 // as Reported, for who looks without the engine's lock
	wake  chan struct{}
	slot  uint32
	gen   uint32
}

// Operation is what is to be done.
type Operation struct {
	ID      uint16 // active message id
	Header  []byte
	Payload []byte // what is not in frames yet; of a get, what was not asked for yet
	Dst     []byte // of a get: all of its memory, nil once the user has let go
	Key     wire.RKey
	Offset  uint64 // of a put in its region
	Message uint64 // id of a message of several frames
	Copied  bool   // Header and Payload are the engine's own copies
	Part    int    // bytes of each part of a message that goes over several lanes; 0: it doesn't
	Total   uint64 // bytes of a message of several frames, while the peer must hold it unfinished
	Signal  wire.Signal
	Signals bool   // Signal follows the put
	Cost    uint64 // of a message that was admitted: what it counts until the peer has handled it
	Change  wire.AtomicOp
	Word    [8]byte // of a fetch: its Dst; what the word was, little-endian
	Tagged
}

// Tagged is what is to be done with a tagged message, and of a receive what came.
type Tagged struct {
	Tag   uint64
	Size  uint64                // of the message
	Offer uint64                // of a receive that reads: the sender's number for the message; 0: he has been told
	Node  *match.Node[*Request] // of a receive: where it waits to be matched, nil once it is
	Lent  *memory.Region        // of a send: what the peer reads
	Told  bool                  // and has read: it ends when no lane needs the memory
	Takes bool                  // of a receive: it wants the message as it is, which will be the Result
	Put   bool                  // the sender puts the message where the receiver wants it
	Room  bool                  // of such a send: the receiver has said where
	Asked uint64                // of such a receive: bytes that it has room for, or, once the sender has taken it back, that were put;
	Left  uint64                // and of them, those that are not here
	Own   [wire.TagOfferSize]byte
}

// Progress is how far it is.
type Progress struct {
	Epoch    uint64
	Issued   uint64 // operations of the endpoint issued before, for a flush
	Waits    uint64 // bytes that count for the limit of what waits
	Posted   uint64 // bytes that are in frames
	Frames   uint32 // posted and not executed
	Over     uint32 // posted, and executed or ended
	Refused  uint32 // of these, by the peer
	Lane     uint64 // of a put with a signal: where its frames are that are not executed; AnyLane: on several
	Replies  uint32 // asked for and not here
	Borrowed uint32 // zero-copy frames that hold the payload
	Begun    bool   // a frame was posted
	Unsent   bool   // its buffers are not its user's again
	Off      bool   // in the book as an operation on no lane: not all of it is on lanes; a get: not answered
	Closing  bool   // of a message of parts, and of a put with a signal: the last frame was posted
	Whole    bool   // the last frame was posted; a flush: nothing is left to wait for

	Reported bool // the user's end
	Retired  bool // the target's end
	Held     bool // the user has not let go
	Waited   bool // the user has somebody wait, who will let go of it
	Canceled bool // the user wants it to end unexecuted, if that is still possible
}

// AnyLane is no lane's number.
const AnyLane = 1<<64 - 1

// Follows notes on which lane a frame of a put is going.
func (r *Request) Follows(lane uint64) {
	switch {
	case r.Frames == 0:
		r.Lane = lane
	case r.Lane != lane:
		r.Lane = AnyLane
	}
}

// Sent implements transport.Completer.
func (f *Frames) Sent(uint64) { r := (*Request)(f); r.Owner.FrameSent(r) }

// Executed implements transport.Completer.
func (f *Frames) Executed(tag uint64, err error) {
	r := (*Request)(f)
	r.Owner.FrameExecuted(r, tag, err)
}

// Frames is a request as the Completer of its frames.
type Frames Request

// Done is what the request's frames report to.
func (r *Request) Done() *Frames { return (*Frames)(r) }

// Name is what it is called towards people.
func (r *Request) Name() string {
	switch {
	case r.Kind == AM:
		return family.Name(r.ID)
	case r.Kind == Receive && r.ID == family.Offer:
		return "am receive"
	}
	return r.Kind.String()
}

// Reads says whether it reads the peer's memory.
func (r *Request) Reads() bool { return r.Kind == Get || r.Kind == Receive }

// Indirect says whether the endpoint's user has not posted it there himself: a receive that reads its message, and a message of a stream.
func (r *Request) Indirect() bool {
	return r.Kind == Receive || r.Kind == AM && family.Inner(r.ID)
}

// WorksOn says whether it is for the memory that a key is of, its bytes or its signal. The number of a region that is gone may be another one's now; its
// secrets are not, and there is one for each set of rights.
func (r *Request) WorksOn(key *wire.RKey) bool {
	if r.Kind != Put && r.Kind != Get && r.Kind != Atomic {
		return false
	}
	return r.Key.Index == key.Index && (r.Key.Rights != key.Rights || r.Key.Secret == key.Secret) || r.Signals && r.Signal.Index == key.Index
}

// Fetches says whether the peer answers it with bytes.
func (r *Request) Fetches() bool { return r.Reads() || r.Kind == Atomic && r.Change.Fetch }

// Old is what a fetch brought: the word before it was changed.
func (r *Request) Old() uint64 { return binary.LittleEndian.Uint64(r.Word[:]) }

// Op is the number that names the request towards the peer.
func (r *Request) Op() uint64 { return uint64(r.gen)<<32 | uint64(r.slot) }

// Gen changes each time the request is handed out anew.
func (r *Request) Gen() uint32 { return r.gen }

// Wake is a channel that gets a value when the user's end is reported.
func (r *Request) Wake() <-chan struct{} {
	if r.wake == nil {
		r.wake = make(chan struct{}, 1)
	}
	return r.wake
}

// Ended says whether the user's end is reported. It may be asked from any goroutine that holds the request.
func (r *Request) Ended() bool { return atomic.LoadUint32(&r.ended) != 0 }

// End notes the user's end and wakes who waits, if somebody does.
func (r *Request) End(err error) {
	r.Reported, r.Err = true, err
	atomic.StoreUint32(&r.ended, 1)
	if r.wake == nil {
		return
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Heard says whether somebody will be told how a flush ends.
func (r *Request) Heard() bool {
	if r.PartOf != nil {
		return r.PartOf.Heard()
	}
	return !r.Reported && (r.Held || r.OnSent != nil)
}
