package rc

import (
	"fmt"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport/rc/queue"
	"github.com/openbraid/braid/transport/rc/wire"
)

// reading is what was offered and is not handed over yet, and what came behind it: data frames keep their order.
//
//	waiting:  | offer: done | offer: under way | segment | offer | segment |
//	            handed over next                           begins when there is room for it
type reading struct {
	waiting []item
	done    int  // payloads that were read
	inLine  bool // in port.readers
}

// item is a receive that waits for its turn: a segment as it came, or an offer.
type item struct {
	at    uint16 // of the receive; an offer gives it back when it begins
	n     int    // bytes in it
	offer bool
	begun bool
	done  bool
	where wire.Offer
	h     wire.Header
	b     *queue.Block // of an offer that was begun: head, then payload; held
}

// holds says whether data frames must wait.
func (r *reading) holds() bool { return len(r.waiting) > 0 }

// drop forgets what waits. What is under way is the device's until it is flushed.
func (r *reading) drop() {
	for i := range r.waiting {
		if b := r.waiting[i].b; b != nil {
			b.Release()
		}
	}
	clear(r.waiting)
	r.waiting = r.waiting[:0]
}

// pop takes the first item out.
func (r *reading) pop() item {
	it := r.waiting[0]
	rest := copy(r.waiting, r.waiting[1:])
	r.waiting[rest] = item{}
	r.waiting = r.waiting[:rest]
	return it
}

// offered takes an offer. Its receive is kept until there is room to read.
func (ep *endpoint) offered(at uint16, body []byte) {
	if len(body) < wire.OfferLen+wire.HeaderLen {
		ep.strange("an offer of %d bytes", len(body))
		return
	}
	where, ok := wire.ParseOffer(body)
	h := wire.ParseHeader(body[wire.OfferLen:])
	if head := len(body) - wire.OfferLen - wire.HeaderLen; !ok || !h.Valid(ep.lim) || h.Control() || int(h.Head) != head || h.Size == uint32(h.Head) || ep.out.ReadFrom == 0 {
		ep.strange("the offer of a frame of id %d, flags %#x, head %d and %d bytes, %d here; taken are %+v, from %d on", h.ID, h.Flags, h.Head, h.Size, head, ep.lim, ep.out.ReadFrom)
		return
	}
	ep.reads.waiting = append(ep.reads.waiting, item{at: at, n: wire.SegmentLen + len(body), offer: true, where: where, h: h})
	ep.soil()
}

// read begins what was offered, as far as there is room: in the order of the offers, and of the endpoints.
func (ep *endpoint) read() {
	for i := range ep.reads.waiting {
		it := &ep.reads.waiting[i]
		if !it.offer || it.begun {
			continue
		}
		if !ep.mayRead(it.size()) {
			return
		}
		if err := ep.begins(it); err != nil {
			ep.fail("read", err)
			return
		}
	}
}

// size is how many bytes are to be read.
func (it *item) size() int { return int(it.h.Size) - int(it.h.Head) }

// mayRead takes room for a READ of so many bytes: in the ring, in the completion queue, and among the bytes that may be read at a time. Who
// finds none gets in line.
func (ep *endpoint) mayRead(n int) bool {
	p := ep.p
	if first := len(p.readers) == 0 || p.readers[0] == ep; !first || p.reads.Free < n {
		if !ep.reads.inLine {
			ep.reads.inLine = true
			p.readers = append(p.readers, ep)
		}
		return false
	}
	if !ep.place() {
		return false
	}
	p.reads.Take(n)
	ep.leaveLine()
	return true
}

// begins posts one READ.
func (ep *endpoint) begins(it *item) error {
	b, err := ep.p.mem.Get(int(it.h.Size))
	if err != nil {
		return err
	}
	head := int(it.h.Head)
	copy(b.Bytes, ep.recvs[it.at].Bytes[it.n-head:it.n])
	it.b, it.begun = b, true
	ep.again(it.at)
	b2 := &ep.f.batch
	wr := &b2.wrs[0]
	b2.sges[0][0] = b.SGE(head, it.size())
	*wr = rdma.SendWR{Op: rdma.OpRead, Flags: rdma.FlagSignaled, SGL: b2.sges[0][:1], RKey: it.where.RKey, Addr: it.where.Addr}
	wr.ID = ep.id(ep.ring.Post(ep.qp.Blocks(wr), ep.out.Sent, true, b.Buffer))
	ep.ring.Reads(it.size())
	if n, st := ep.qp.PostSend(b2.wrs[:1]); n == 0 {
		ep.fail("read", fmt.Errorf("the device did not take a READ: %v", st))
	}
	return nil
}

// leaveLine has the next one try.
func (ep *endpoint) leaveLine() {
	p := ep.p
	if !ep.reads.inLine {
		return
	}
	ep.reads.inLine = false
	for i, x := range p.readers {
		if x == ep {
			p.readers = append(p.readers[:i], p.readers[i+1:]...)
			break
		}
	}
	if len(p.readers) > 0 {
		p.readers[0].soil()
	}
}

// arrived: so many READs are done, in the order in which they were begun.
func (ep *endpoint) arrived(n int) {
	for i := 0; i < len(ep.reads.waiting) && n > 0; i++ {
		if it := &ep.reads.waiting[i]; it.begun && !it.done {
			it.done = true
			ep.reads.done++
			n--
		}
	}
	for ep.state == up && ep.reads.holds() && (ep.reads.waiting[0].done || !ep.reads.waiting[0].offer) {
		it := ep.reads.pop()
		if it.offer {
			ep.handRead(&it)
			continue
		}
		b := ep.recvs[it.at]
		b.Retain() // a callback may close the endpoint
		ep.takeBody(wire.ParseSegment(b.Bytes), b, b.Bytes[wire.SegmentLen:it.n])
		b.Release()
		if ep.state == up && ep.recvs[it.at] == b {
			ep.again(it.at)
		}
	}
}

// handRead hands a frame over whose payload was read.
func (ep *endpoint) handRead(it *item) {
	defer it.b.Release()
	head, payload := it.b.Bytes[:it.h.Head], it.b.Bytes[it.h.Head:it.h.Size]
	if ep.in.data.mem != nil {
		ep.strange("an offer within another frame")
		return
	}
	var place []byte
	if len(payload) > placeFrom {
		place = ep.askPlace(it.h.ID, head, len(payload))
	}
	if ep.state != up {
		return
	}
	if place != nil {
		copy(place, payload)
		payload = place
	}
	ep.hand(it.h, head, payload, place != nil, it.b.Buffer)
}
