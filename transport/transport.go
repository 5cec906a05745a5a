package transport

import (
	"log/slog"
	"time"
)

// Transport makes interfaces: one per worker. It holds configuration only.
//
// Source: uct_component, uct_md.
type Transport interface {
	// Name is short and stable: "tcp", "sim".
	Name() string
	// Open makes this transport's interface for one worker.
	Open(Env) (Iface, error)
}

// Env is what a worker hands to a transport: time and luck come from outside, so that a
// simulated run is the same run each time.
type Env struct {
	Now  func() time.Duration // monotonic, since an arbitrary start
	Rand func() uint64
	Log  *slog.Logger // never nil
}

// Attr says what an interface can do. It doesn't change while the interface is open.
//
// Source: uct_iface_attr.
type Attr struct {
	Name     string
	MaxHead  int  // bytes of Frame.Head
	MaxFrame int  // bytes of Head and Payload together
	Local    bool // reaches only the listeners of the same interface
	// Here is set of a transport between processes of one host: what the hosts of addresses begin with that it makes up there when it listens at
	// port 0 of its own name. Another host has another one.
	Here string
	// Speed of each connection in Mbit/s, roughly, where that does not depend on its rail; 0: it does.
	Speed   int
	InOrder bool // data frames are accepted in posting order (so far always; an engine must not assume it)
	// Frame is what one frame takes of the processors of both sides, besides its bytes, roughly; 0: not known.
	Frame time.Duration
	// ZeroCopy is the payload size from which a frame posted with ZeroCopy is cheaper than a copy. 0: never.
	ZeroCopy int
	// Asks says that Progress asks the system also when nothing has arrived. Who has other interfaces to ask may do so less often.
	Asks bool
}

// Iface is one transport of one worker.
//
// Source: uct_iface.
type Iface interface {
	Attr() Attr

	// Listen accepts connections at addr ("host:port", port 0 picks one) and returns the
	// address that is bound. Each connection is announced to a from inside Progress.
	Listen(addr string, a Acceptor) (Listener, error)

	// Dial starts a connection and returns at once; local may be "" or a local address without port.
	// s.Connected is called from Progress when the connection stands, s.OnError if it
	// can't. Control frames may be posted at once; they wait for the connection: nothing leaves before Connected is called, so that the
	// peer has heard nothing of a connection that ends before.
	Dial(local, remote string, o Options, s Sink) (Endpoint, error)

	// Progress takes what has arrived on all endpoints, calls the sinks, and returns the number
	// of frames, acknowledgements and state changes it dealt with: 0 means that nothing happened.
	Progress() int

	// Flush hands to the system what was posted since the last call. The engine calls it at
	// the end of each turn; until then frames are only collected.
	Flush()

	// Deadline is the time (of Env.Now) at which Progress or Flush must run even if nothing arrives, for a
	// delayed acknowledgement; 0 is none.
	Deadline() time.Duration

	// EventFD is a descriptor that polls readable when Progress has something to do; -1 if there is none,
	// then the iface must be polled.
	EventFD() int

	// Watch says whether anybody waits for EventFD; at first somebody does. With false Progress is called again and again, and
	// the descriptor need not tell of frames. With true it tells again, also of what arrived before.
	Watch(on bool)

	// Close closes the listeners and endpoints that are left, as Endpoint.Close does.
	Close() error
}

// Listener is a bound address.
type Listener interface {
	Addr() string
	Close() error
}

// Acceptor is told of incoming connections.
type Acceptor interface {
	// Accepted is called from Progress with a connection that just came in, before any of its
	// frames. It returns the sink and options for it; a nil sink closes the connection.
	Accepted(ep Endpoint) (Sink, Options)
}

// Options are set per endpoint, since the two sides of an endpoint agree on them during wireup.
type Options struct {
	// Window is how many bytes of frames may be posted and not yet acknowledged. Beyond it Post says NoResource.
	Window int
	// Secret: the two ends prove a secret to each other when the lane is made. A transport into whose connections a third party
	// can write all the same refuses it, unless whoever made the transport has allowed that.
	Secret bool
}

// Endpoint is one connection to one peer: one life of a lane. It starts narrow: until Admit it
// takes and accepts only control frames of at most HelloMax bytes.
//
// Source: uct_ep.
type Endpoint interface {
	// Post takes one frame, or says why not; f itself is not kept, f.Head is copied, f.Payload is copied unless
	// f.ZeroCopy. Done: the payload may be reused. Pending: it is the endpoint's until Sent. NoResource:
	// not taken, there is no room; Sink.Room tells when. Failed: not taken, the endpoint is closed, broken or held.
	// Control frames have room of their own and go before data that is not on its way yet.
	Post(f *Frame) Status

	// Admit ends the handshake: from now on frames of up to maxFrame bytes and data are taken and accepted.
	// With retain, frames are kept until acknowledged so that PurgeOutstanding can hand them out. Without, they
	// are let go when the system has taken them (then a purge hands out frames without Payload).
	Admit(maxFrame int, retain bool)

	// RequestAck asks the peer to acknowledge at once what it has accepted by then; goes out with Flush, if anything is unacknowledged then.
	RequestAck()

	// Counts are the endpoint's books.
	Counts() Counts

	// Reached changes when the peer's system says that it has more of what was posted and not there at the look before, though the peer itself may not have
	// taken it yet, or sends; 0 where nobody can tell. It may cost a system call: it is for lanes that have been silent.
	//
	// Source: tcp_info.
	Reached() uint64

	// Quiesce holds the endpoint (if OnError has not done so) and closes it as far as it goes, so that the peer notices.
	// From its return on no data frame that arrives, or has arrived and is not yet accepted, is accepted; no
	// acknowledgement is taken; Post says Failed. A data frame that the sink is taking at this moment counts. Idempotent.
	Quiesce()

	// Position is the count of data frames accepted from the peer. Valid after Quiesce; before that it may grow.
	Position() uint64

	// PurgeOutstanding ends the books of a held endpoint, given the peer's position: frames before it are
	// executed (their Sent and Executed are called with nil), frames at and after it are handed to fn in
	// posting order. What fn gets is valid during the call only, except a ZeroCopy payload, which is the
	// poster's. If fn fails, that frame and the rest stay; the next call goes on from there. On an endpoint that is not
	// held it returns ErrNotHeld and changes nothing; with nothing left it succeeds with zero counts.
	//
	// Errors: ErrNotHeld; ErrPosition if position is below what was acknowledged, above what was posted, or
	// differs from that of an earlier call; fn's error.
	// Source: uct_ep_outstanding_purge.
	PurgeOutstanding(position uint64, fn func(f *Frame) error) (PurgeResult, error)

	// Cancel ends every outstanding frame with err, in any state, and sends nothing.
	//
	// Source: uct_ep_flush with UCT_FLUSH_FLAG_CANCEL.
	Cancel(err error)

	// Detach makes the endpoint let go of the zero-copy payloads of frames whose Done match accepts: they are copied. Their
	// Sent is not called any more, Executed is.
	Detach(match func(done Completer) bool)

	// Unplace takes back the memory that Place gave for a frame that is not whole yet: from its return on nothing is written
	// there, and the frame is handed over in memory of the transport's own, not Placed. Without such a frame it does nothing.
	Unplace()

	// Close gives everything back, in any state; outstanding frames end with ErrClosed. Idempotent.
	Close()

	// Local and Remote are addresses for people and for logs.
	Local() string
	Remote() string
}

// Counts are an endpoint's books: frames are data frames, bytes are their heads and payloads.
type Counts struct {
	Posted, Acked           uint64 // frames, ours
	PostedBytes, AckedBytes uint64
	Accepted, AcceptedBytes uint64 // the peer's
	RoundTrips              uint64 // grows with each acknowledgement that moved Acked: proof of life
}

// PurgeResult counts frames: known executed, handed out, and still there.
type PurgeResult struct {
	Delivered, Handed, Remaining int
}

// HelloMax is the largest control frame that is accepted before Admit, head and payload together.
const HelloMax = 1024
