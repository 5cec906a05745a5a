package protocol

import (
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// Limits are what the two sides of an endpoint agreed on.
type Limits struct {
	MaxFrame int // head and payload of a data frame
	ZeroCopy int // payload from which a frame is sent from where it stands; 0: never
}

// Short says whether a frame is small enough to be copied at once.
func (l Limits) Short(n int) bool { return n <= l.MaxFrame && (l.ZeroCopy == 0 || n < l.ZeroCopy) }

// MaxHeader is the longest header of an active message.
const MaxHeader = 1024

// OneFrame says whether a message that was not begun fits one frame.
func OneFrame(r *request.Request, lim Limits) bool {
	return !r.Begun && wire.AMSize+len(r.Header)+len(r.Payload) <= lim.MaxFrame
}

// Next fills f with the next frame of r, its head appended to head[:0]. It returns false if r is whole.
func Next(r *request.Request, lim Limits, head []byte, f *transport.Frame) bool {
	if r.Whole {
		return false
	}
	rest := r.Payload
	*f = transport.Frame{Done: r.Done()} // nothing of the frame before, such as that it asked for an acknowledgement
	switch {
	case r.Kind == request.Put:
		f.ID = wire.IDPut
		f.Head = wire.Put{Index: r.Key.Index, Secret: r.Key.Secret, Offset: r.Offset + r.Posted, Op: r.Op()}.AppendTo(head[:0])
	case r.Reads():
		n := min(len(rest), lim.MaxFrame-wire.GetDataSize)
		f.ID = wire.IDGet
		f.Head = wire.Get{Index: r.Key.Index, Size: uint32(n), Secret: r.Key.Secret, Offset: r.Offset + r.Posted, Op: r.Op(), At: r.Posted}.AppendTo(head[:0])
		return true
	case r.Kind == request.Atomic:
		*f = transport.Frame{ID: wire.IDAtomicOp, Done: r.Done(), Head: r.Change.AppendTo(head[:0])}
		return true
	case r.Begun:
		f.ID = wire.IDAMFrag
		f.Head = wire.AMFrag{Msg: r.Message, Offset: r.Posted}.AppendTo(head[:0])
	case wire.AMSize+len(r.Header)+len(rest) <= lim.MaxFrame:
		f.ID = wire.IDAM
		f.Head = wire.AM{ID: r.ID, Header: r.Header}.AppendTo(head[:0])
	default:
		f.ID = wire.IDAMFirst
		f.Head = wire.AMFirst{ID: r.ID, Msg: r.Message, Total: uint64(len(rest)), Header: r.Header}.AppendTo(head[:0])
	}
	n := min(len(rest), lim.MaxFrame-len(f.Head))
	f.Payload = rest[:n:n]
	f.ZeroCopy = !r.Copied && lim.ZeroCopy > 0 && n >= lim.ZeroCopy
	return true
}

// Part fills f with the next part of a message that goes over several lanes. It returns false if none is left.
func Part(r *request.Request, lim Limits, head []byte, f *transport.Frame) bool {
	if len(r.Payload) == 0 {
		return false
	}
	*f = transport.Frame{ID: wire.IDAMPart, Done: r.Done()}
	f.Head = wire.AMPart{Msg: r.Message, Offset: r.Posted, Total: r.Total}.AppendTo(head[:0])
	n := min(len(r.Payload), r.Part, lim.MaxFrame-len(f.Head))
	f.Payload = r.Payload[:n:n]
	f.ZeroCopy = !r.Copied && lim.ZeroCopy > 0 && n >= lim.ZeroCopy
	f.AckNow = n == len(r.Payload) // the message is closed when all of it is acknowledged
	return true
}

// Last fills f with the frame that closes such a message.
func Last(r *request.Request, head []byte, f *transport.Frame) {
	*f = transport.Frame{ID: wire.IDAMLast, Done: r.Done(), AckNow: true}
	f.Head = wire.AMLast{ID: r.ID, Msg: r.Message, Total: r.Total, Header: r.Header}.AppendTo(head[:0])
}

// Signal fills f with the frame that ends a put with a signal: with its payload, if none of it was posted before.
func Signal(r *request.Request, head []byte, f *transport.Frame) {
	*f = transport.Frame{ID: wire.IDPutSignal, Done: r.Done(), Payload: r.Payload}
	f.Head = wire.PutSignal{
		Put:    wire.Put{Index: r.Key.Index, Secret: r.Key.Secret, Offset: r.Offset + r.Posted, Op: r.Op()},
		Signal: r.Signal,
	}.AppendTo(head[:0])
}

// Asked notes that a frame that will be answered, made by Next, was posted.
func Asked(r *request.Request, lim Limits, f *transport.Frame, on wire.Instance) {
	n := min(len(r.Payload), lim.MaxFrame-wire.GetDataSize)
	r.Begun = true
	r.Posted += uint64(n)
	r.Frames++
	r.Replies++
	r.Payload = r.Payload[n:]
	r.Whole = len(r.Payload) == 0
	r.Trace.Went(on, f)
}

// Taken notes that f, made by Next, was posted on a lane with the given status.
func Taken(r *request.Request, f *transport.Frame, s transport.Status, on wire.Instance) {
	r.Begun = true
	r.Posted += uint64(len(f.Payload))
	r.Frames++
	if s == transport.Pending {
		r.Borrowed++
	}
	r.Payload = r.Payload[len(f.Payload):]
	r.Closing = f.ID == wire.IDAMLast || f.ID == wire.IDPutSignal
	r.Whole = len(r.Payload) == 0 && (r.Part == 0 && !r.Signals || r.Closing)
	r.Trace.Went(on, f)
}
