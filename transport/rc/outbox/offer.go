package outbox

import (
	"github.com/openbraid/braid/internal/ledger"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc/queue"
	"github.com/openbraid/braid/transport/rc/window"
	"github.com/openbraid/braid/transport/rc/wire"
)

// offer is a frame that the peer was told of, and whose payload it may be reading.
type offer struct {
	frame uint64
	b     *queue.Block // held until the frame is acknowledged
	key   *window.Key
}

// offer encodes a frame in a block of its own, which the peer is given a key to.
//
//	block:  | where | header | head | payload |
//	        what is sent: all before the payload; or, if there is no key, all behind the first 16 bytes in parts
func (o *Box) offer(f *transport.Frame, e *ledger.Entry, n uint64) error {
	size := wire.OfferLen + wire.HeaderLen + f.Len()
	b, err := o.Memory.Get(size)
	if err != nil {
		return err
	}
	e.Head, e.Payload = encode(b.Bytes[wire.OfferLen:size], f)
	e.Mem = b.Buffer
	head := size - len(f.Payload)
	key := o.Keys.Open(b, head, len(f.Payload), o.Owner)
	if key != nil {
		b.Lock = key
	}
	o.data.push(run{b: b, at: wire.OfferLen, to: size, frame: n, key: key, head: head})
	return nil
}

// offerOf is the piece that offers a run, or its first part if it must be sent.
func (o *Box) offerOf(p Piece, r *run) (Piece, bool) {
	switch r.key.State() {
	case window.Binding:
		return p, false
	case window.Open:
		wire.Offer{Addr: r.key.Addr, RKey: r.key.RKey}.Emit(r.b.Bytes)
		p.Kind, p.Block, p.At, p.To = wire.Offers, r.b, 0, r.head
		return p, true
	case window.Free, window.Refused, window.Closing, window.Shut:
	}
	r.key = nil
	return o.Peek()
}

// offered: the peer is being told.
func (o *Box) offered(r *run) {
	r.b.Retain()
	o.offers = append(o.offers, offer{frame: r.frame, b: r.b, key: r.key})
}

// Acked lets go of what the peer has read: frames before n.
func (o *Box) Acked(n uint64) {
	k := 0
	for ; k < len(o.offers) && o.offers[k].frame < n; k++ {
		o.offers[k].b.Release()
	}
	if k > 0 {
		rest := copy(o.offers, o.offers[k:])
		clear(o.offers[rest:])
		o.offers = o.offers[:rest]
	}
}

// withdraw takes back what was offered, and the keys of what was to be, at once: the connection has ended.
func (o *Box) withdraw() {
	for i := o.data.head; i < len(o.data.runs); i++ {
		if k := o.data.runs[i].key; k != nil {
			k.Shut()
		}
	}
	for i := range o.offers {
		o.offers[i].key.Shut()
		o.offers[i].b.Release()
		o.offers[i] = offer{}
	}
	o.offers = o.offers[:0]
}

// Offers walks over the keys by which the peer may read.
func (o *Box) Offers(fn func(*window.Key)) {
	for i := range o.offers {
		fn(o.offers[i].key)
	}
}
