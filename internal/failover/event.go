package failover

import "github.com/openbraid/braid/internal/wire"

// What happened.
type What uint8

const (
	// Opened: this side sent HELLO for ID, which NextInstance named.
	Opened What = iota
	// HelloArrived: a HELLO for ID, with the right names in it (see Names.Hello). Unconfirmed: it may be an old one that
	// somebody sends again; ID is up only when its opener has confirmed it.
	HelloArrived
	// StrangerArrived: a HELLO whose "my" isn't the peer that this endpoint knows.
	StrangerArrived
	// HelloAcked: HELLO-ACK for ID; or, where this side sent that and the opener was to confirm it, CONFIRM.
	HelloAcked
	// BusyArrived: BUSY for the attempt ID, or any other answer that says: not this instance. Or its HELLO never left.
	BusyArrived
	// ClosedArrived: EP_CLOSED for the attempt ID. Echo: it carries the nonce of that attempt's HELLO.
	// Restarted: and another incarnation than the known one.
	ClosedArrived
	// Broke: this side found ID lost, has quiesced it, and its position is Position.
	Broke
	// LostArrived: LOST{ID, Position, Have} came on On. If Live(ID) the engine has quiesced ID before, and its own
	// position is Own. Bytes and Refusals ride along to Purge.
	LostArrived
	// GoneArrived: GONE{ID} came on On.
	GoneArrived
	// Dropped: the transport endpoint of ID was canceled or destroyed here. If Live(ID), it was
	// quiesced before, with Position.
	Dropped
	// Ended: the endpoint ended or failed, or its peer is known to have restarted.
	Ended

	// The rest is for the table only: what one record's step means to the others.
	lostConfirmed // LostArrived with Have
	carrierLost   // the lane that carried a record's last frame is lost
	turnCame      // this record is marked, a lane is up, and there is room under way
	whats
)

var whatNames = [whats]string{
	"Opened", "HelloArrived", "StrangerArrived", "HelloAcked", "BusyArrived",
	"ClosedArrived", "Broke", "LostArrived", "GoneArrived", "Dropped", "Ended",
	"LostArrived have", "carrier lost", "turn came",
}

func (w What) String() string {
	if w < whats {
		return whatNames[w]
	}
	return "What(?)"
}

// Event is one thing that happened. Each What says which fields it uses.
type Event struct {
	What      What
	ID        wire.Instance
	On        wire.Instance // the instance on which the frame came
	Position  uint64
	Own       uint64
	Bytes     uint64
	Refusals  uint64
	Have      bool
	Echo      bool
	Restarted bool

	Unconfirmed bool
}

// Verb is what the engine is asked to do.
type Verb uint8

const (
	// SendAck: answer HELLO-ACK on ID, which is up from now on, unless it is to be confirmed. It goes before the frames of later actions.
	SendAck Verb = iota
	// SendBusy: answer BUSY on the connection on which the HELLO came.
	SendBusy
	// SendClosed: answer EP_CLOSED on the connection on which the frame came.
	SendClosed
	// Redial: open an own instance at once if the peer can be dialled: only the answer to an own HELLO
	// proves that the peer restarted.
	Redial
	// SendLost: send LOST{ID, Position, Have} on On.
	SendLost
	// SendGone: send GONE{ID} on On.
	SendGone
	// Purge: end what is outstanding on ID with the peer's Position, and replay the rest.
	Purge
	// Release: the record of ID ended, nobody will ask about it again: its transport endpoint can be closed.
	Release
	// Fail: the endpoint fails with Err.
	Fail
	verbs
)

var verbNames = [verbs]string{
	"send HELLO-ACK", "send BUSY", "send EP_CLOSED", "redial", "send LOST", "send GONE", "purge", "release", "fail",
}

func (v Verb) String() string {
	if v < verbs {
		return verbNames[v]
	}
	return "Verb(?)"
}

// Action is one thing to do, in the order given. Each Verb says which fields it uses. A SendLost or SendGone that
// can't be posted because On just broke is dropped: Broke{On} follows, and the machine sends again.
type Action struct {
	Do       Verb
	ID       wire.Instance
	On       wire.Instance
	Position uint64
	Bytes    uint64 // of the LOST that gave Position
	Refusals uint64
	Have     bool
	Err      error
}
