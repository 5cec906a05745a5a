package rc

import (
	"fmt"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc/outbox"
	"github.com/openbraid/braid/transport/rc/queue"
	"github.com/openbraid/braid/transport/rc/wire"
)

const (
	// moderation is how many work requests complete with one completion.
	moderation = 8
	// earlySend is how much may be collected before Post sends by itself.
	earlySend = 64 << 10
	maxInline = 128
	// ackBytes is how much one acknowledgement covers at most: each costs both sides a packet (docs/performance.md).
	ackBytes = 256 << 10
	// maxControl is how much control frames may wait; a single larger one is taken too. There is one for each message that is
	// refused, and a turn may bring ten thousands.
	maxControl = 16 << 20
)

// Post implements transport.Endpoint.
func (ep *endpoint) Post(f *transport.Frame) transport.Status {
	if !ep.writes() {
		return transport.Failed
	}
	if size := f.Len(); len(f.Head) > wire.MaxHead || size > int(ep.lim.Frame) || f.ID == 0 ||
		f.Class == transport.Data && !ep.lim.Data {
		panic(fmt.Errorf("rc: post of frame id %d, head %d, %d bytes, class %d; admitted is %+v: %w",
			f.ID, len(f.Head), size, f.Class, ep.lim, transport.ErrFrame))
	}
	if f.Class == transport.Control {
		return ep.postControl(f)
	}
	if n := ep.led.Len(); n > 0 && (ep.led.Bytes()+uint64(f.Len()) > ep.window || n >= maxOutstanding) {
		ep.starve()
		return transport.NoResource
	}
	copied := *f
	copied.ZeroCopy = false
	n := ep.led.Posted()
	e := ep.led.Push(&copied)
	if err := ep.out.Put(f, e, n); err != nil {
		// It is in the books and nowhere else: as if the connection broke right after.
		e.Head, e.Payload = append([]byte(nil), f.Head...), append([]byte(nil), f.Payload...)
		ep.fail("send", err)
		return transport.Done
	}
	ep.soil()
	if _, data := ep.out.Waiting(); data >= earlySend {
		ep.push()
	}
	return transport.Done
}

func (ep *endpoint) postControl(f *transport.Frame) transport.Status {
	if n, _ := ep.out.Waiting(); n > 0 && n+f.Len() > maxControl {
		ep.starved = true
		return transport.NoResource
	}
	if err := ep.out.Put(f, nil, 0); err != nil {
		ep.fail("send", err)
		return transport.Failed
	}
	ep.soil()
	return transport.Done
}

// starve remembers that somebody waits for room, and doesn't leave the peer the time to delay it.
func (ep *endpoint) starve() {
	if !ep.starved {
		ep.starved = true
		ep.RequestAck()
	}
}

// roomy says whether a post would find room, for data and for control frames.
func (ep *endpoint) roomy() bool {
	control, _ := ep.out.Waiting()
	return ep.led.Len() < maxOutstanding && (ep.led.Len() == 0 || ep.led.Bytes() <= ep.window/2) && control < maxControl/2
}

// flush posts what waits, as far as it goes, then what the peer must know at once.
func (ep *endpoint) flush() {
	if ep.state != up || !ep.writes() {
		return
	}
	ep.read()
	ep.refill()
	ep.push()
	if ep.due() && ep.state == up && ep.failing == nil && ep.maySend(0) {
		b := &ep.f.batch
		ep.segment(b, nil)
		ep.doorbell(b)
	}
}

// due says whether the peer must be told something that no frame carries.
func (ep *endpoint) due() bool {
	return ep.acks.Due(ep.in.accepted, ep.in.acceptedBytes, ackBytes) || ep.asks() || ep.flow.posted-ep.flow.told >= uint32(ep.receiving()/2)
}

// asks says whether the next segment asks for an acknowledgement: it is the last one of what was posted before.
func (ep *endpoint) asks() bool {
	_, data := ep.out.Waiting()
	return ep.out.Asking && data == 0
}

// maySend says whether one more segment may be sent, with keep credits left after it, and takes a place for it. Who lacks one in the
// completion queue gets in line.
func (ep *endpoint) maySend(keep int32) bool { return ep.flow.left() > keep && ep.place() }

// place takes a place in the completion queue for one more work request, if the ring has room for it.
func (ep *endpoint) place() bool {
	if !ep.ring.Room(ep.p.can.blocks) {
		return false
	}
	if !ep.p.credits.Take(1) {
		ep.p.queueUp(ep)
		return false
	}
	return true
}

// batch is work requests that are posted with one ring of the doorbell.
type batch struct {
	wrs    [16]rdma.SendWR
	sges   [16][2]rdma.SGE
	inline [16][maxInline]byte
	n      int
}

// push makes segments of what waits: control frames first, but not between the segments of one of them.
func (ep *endpoint) push() {
	if ep.state != up || ep.failing != nil {
		return
	}
	b := &ep.f.batch
	for {
		piece, ok := ep.out.Peek()
		if !ok || !ep.maySend(1) {
			break
		}
		ep.segment(b, &piece)
		if b.n == len(b.wrs) {
			ep.doorbell(b)
		}
	}
	ep.doorbell(b)
}

// segment adds one segment to a batch: a piece of what waits, or with nil a header alone.
func (ep *endpoint) segment(b *batch, p *outbox.Piece) {
	i := b.n
	b.n++
	wr := &b.wrs[i]
	*wr = rdma.SendWR{Op: rdma.OpSend}
	s := wire.Segment{Kind: wire.Nothing, Granted: ep.flow.posted, Ack: ep.in.accepted}
	var body []byte
	if p != nil {
		s.Kind, s.Flags = p.Kind, p.Flags
		body = p.Block.Bytes[p.At:p.To]
		ep.out.Entering(p)
		defer ep.out.Took(p)
	}
	if ep.asks() {
		s.Flags, ep.out.Asking = s.Flags|wire.SegAckNow, false
	}
	ep.flow.sent++
	ep.flow.told = ep.flow.posted
	ep.acks.Said(ep.in.accepted, ep.in.acceptedBytes, &ep.f.owing)
	if size := wire.SegmentLen + len(body); size <= ep.p.can.inline {
		wr.Inline = b.inline[i][:size]
		s.Emit(wr.Inline)
		copy(wr.Inline[wire.SegmentLen:], body)
		ep.took(wr)
		return
	}
	head := ep.ring.Next() * wire.SegmentLen
	s.Emit(ep.heads.Bytes[head : head+wire.SegmentLen])
	b.sges[i] = [2]rdma.SGE{ep.heads.SGE(head, wire.SegmentLen), p.Block.SGE(p.At, len(body))}
	wr.SGL = b.sges[i][:]
	ep.took(wr, p.Block.Buffer)
}

// took enters a work request in the books, before the device has it.
func (ep *endpoint) took(wr *rdma.SendWR, bufs ...*transport.Buffer) {
	if ep.ring.Quiet+1 >= moderation || ep.p.credits.Low() {
		wr.Flags = rdma.FlagSignaled
	}
	at := ep.ring.Post(ep.qp.Blocks(wr), ep.out.Sent, wr.Flags != 0, bufs...)
	wr.ID = ep.id(at)
}

// id is what the completion of a work request comes back with.
func (ep *endpoint) id(at uint16) uint64 {
	return uint64(ep.slot)<<32 | uint64(ep.p.uses[ep.slot])<<16 | uint64(at)
}

// doorbell posts a batch and rings the doorbell. Its last work request says when it is done: nothing may follow that would.
func (ep *endpoint) doorbell(b *batch) {
	if b.n == 0 {
		return
	}
	b.wrs[b.n-1].Flags = rdma.FlagSignaled
	ep.ring.Quiet = 0
	n, st := ep.qp.PostSend(b.wrs[:b.n])
	if n < b.n {
		// The books said that there is room. The rest is ended with the queue pair.
		ep.fail("send", fmt.Errorf("the device took %d of %d work requests: %v", n, b.n, st))
	}
	b.n = 0
}

// sendEnded takes a completion of what was sent: with it, of all that was posted before. Memory and places come back in any
// state of the endpoint; what failed is told once.
func (ep *endpoint) sendEnded(wc *rdma.WC) {
	e := ep.ring.Complete(uint16(wc.ID))
	ep.p.credits.Give(e.N)
	ep.p.reads.Ended(e.Bytes)
	switch {
	case ep.state == closed:
		if ep.ring.Len() == 0 {
			ep.finish()
		}
		return
	case wc.Status == rdma.StatusSuccess:
	case ep.state <= up && wc.Status == rdma.StatusFlushed:
		ep.lost(ep.wrap("send", transport.ErrReset, errViolation))
	case ep.state <= up:
		kind, err := queue.Failure(wc)
		ep.lost(ep.wrap("send", kind, err))
	}
	if ep.state == up && e.Reads > 0 {
		ep.arrived(e.Reads)
	}
	if ep.state != up {
		return
	}
	if !ep.retain {
		ep.out.Let(e.Frame)
	}
	ep.out.Settle()
	if !ep.out.Empty() || ep.reads.holds() {
		ep.soil()
	}
	ep.room()
}
