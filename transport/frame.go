package transport

import "sync/atomic"

// Status is how a post ended. It is its own type, never an error with a second meaning.
type Status uint8

const (
	Done       Status = iota // taken; buffers may be reused
	Pending                  // taken; a zero-copy payload is in use until Completer.Sent
	NoResource               // not taken: no room now
	Failed                   // not taken: closed, broken or held
)

func (s Status) String() string {
	switch s {
	case Done:
		return "done"
	case Pending:
		return "pending"
	case NoResource:
		return "no resource"
	case Failed:
		return "failed"
	}
	return "status(?)"
}

// Class separates what counts from what doesn't.
type Class uint8

const (
	// Data frames are counted, acknowledged, kept, and handed out when the endpoint is lost.
	Data Class = iota
	// Control frames are none of that: who sends one sends it again if it matters.
	Control
)

// Frame is one post. ID and Head mean something to the engine only.
type Frame struct {
	ID      uint8 // 1..255; 0 is the transport's own
	Class   Class
	Head    []byte // copied by Post
	Payload []byte
	// ZeroCopy: Payload is sent from where it stands, and must not change until Sent. If that is when it is acknowledged, the
	// transport asks for the acknowledgement by itself, of the last such frame that goes out at a time.
	ZeroCopy bool
	// AckNow asks the peer to acknowledge this frame at once.
	AckNow bool
	// Done is told how a data frame ends. Nil for control frames.
	Done Completer
	Tag  uint64 // handed back with each call of Done
}

// Len is the bytes of head and payload together.
func (f *Frame) Len() int { return len(f.Head) + len(f.Payload) }

// Completer is told how data frames end: from Progress, Purge, Cancel or Close, never from inside Post.
// An interface and not a closure: it costs no allocation.
type Completer interface {
	// Sent is called once for a frame whose Post said Pending, when its payload may be reused, before Executed.
	Sent(tag uint64)
	// Executed is called once for each frame: nil when the peer is known to have accepted it, an error
	// if it ended otherwise (Cancel, Close, or a failure answered with Complete). Not for frames handed out by a purge.
	Executed(tag uint64, err error)
}

// Incoming is one frame that arrived. It is valid during Sink.Frame only.
type Incoming struct {
	ID      uint8
	Class   Class
	Head    []byte // valid while Buf is kept, or during the call
	Payload []byte
	// Placed: Payload is the memory that Place returned, already filled.
	Placed bool
	// Buf owns Head, and Payload unless it is placed. Keep it to use them after the call.
	Buf *Buffer
}

// Sink is the engine's side of an endpoint. All calls come from inside Iface.Progress.
type Sink interface {
	// Connected: a dialed connection stands. Not called for accepted ones.
	Connected()

	// Place is asked, once per large data frame whose payload is still arriving, for memory of exactly size
	// bytes to read the payload into; nil lets the transport use its own. It may be filled partly and never completed if
	// the endpoint is lost: then Frame isn't called, and the frame does not count.
	Place(id uint8, head []byte, size int) []byte

	// Frame takes one frame. When it returns, a data frame is accepted: it counts.
	Frame(in *Incoming)

	// Room: an endpoint that said NoResource has room again.
	Room()

	// OnError: the connection broke. It is called before any completion of that failure, at most once, and not
	// for an endpoint that the engine has quiesced or closed. The sink may call Quiesce, but not Close.
	OnError(err error) Decision
}

// Decision is what becomes of the frames that were outstanding on a broken endpoint.
//
// Source: the status returned by an uct_error_handler_t.
type Decision uint8

const (
	// Complete: they end with the error at once.
	Complete Decision = iota
	// Hold: they stay until PurgeOutstanding, Cancel or Close. New posts fail.
	Hold
)

// Buffer is pooled memory that came from a transport, counted because a receiver may keep it.
// It is safe for concurrent use.
type Buffer struct {
	Bytes []byte
	refs  atomic.Int32
	free  func(*Buffer)
}

// NewBuffer makes a buffer with one reference; free is called when the last one is gone.
func NewBuffer(size int, free func(*Buffer)) *Buffer {
	b := &Buffer{Bytes: make([]byte, size), free: free}
	b.refs.Store(1)
	return b
}

// Retain adds a reference.
func (b *Buffer) Retain() { b.refs.Add(1) }

// Release gives one reference back.
func (b *Buffer) Release() { b.Take(1) }

// Give adds n references at once, for who hands them out one by one; Take gives n back.
func (b *Buffer) Give(n int) { b.refs.Add(int32(n)) }

// Take gives n references back.
func (b *Buffer) Take(n int) {
	switch n := b.refs.Add(-int32(n)); {
	case n == 0:
		if b.free != nil {
			b.free(b)
		}
	case n < 0:
		panic("transport: buffer released more often than retained")
	}
}

// Shared says whether anybody but the caller, who holds one reference, holds one.
func (b *Buffer) Shared() bool { return b.Beyond(1) }

// Beyond is Shared for a caller who holds so many.
func (b *Buffer) Beyond(n int) bool { return b.refs.Load() > int32(n) }

// Revive gives a buffer whose last reference went its first one again: for pools.
func (b *Buffer) Revive() { b.refs.Store(1) }
