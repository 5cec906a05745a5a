package soft

import (
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/packet"
)

// tx is the batch of datagrams that is being put together: one behind the other, so that a carrier can hand
// equal ones for one peer to the system in one piece.
type tx struct {
	d      *Device
	buf    []byte
	used   int
	outs   []carrier.Out
	routes []carrier.Route
	sent   int
}

const txBatch = 64

func (t *tx) open(d *Device) {
	t.d = d
	t.buf = make([]byte, txBatch*(4096+packet.MaxOverhead))
	t.outs = make([]carrier.Out, 0, txBatch)
	t.routes = make([]carrier.Route, txBatch)
}

// waiting says whether datagrams wait for the carrier.
func (t *tx) waiting() bool { return len(t.outs) > 0 }

// room makes sure that one more datagram fits, sending what is there if need be; false: the carrier has no room.
func (t *tx) room() bool { return len(t.outs) < txBatch || t.flush() }

// add writes the headers of a datagram for n bytes of payload, and returns where the payload goes. room was true.
func (t *tx) add(r *carrier.Route, p *packet.Packet, n int) []byte {
	size := p.Opcode.Len(n)
	b := t.buf[t.used : t.used+size : t.used+size]
	t.used += size
	head := p.PutHeader(b, n)
	for i := head + n; i < size; i++ { // pad; the ICRC is the carrier's
		b[i] = 0
	}
	i := len(t.outs)
	t.routes[i] = *r
	t.outs = append(t.outs, carrier.Out{Route: &t.routes[i], Data: b})
	return b[head : head+n]
}

// flush hands the batch to the carrier; false: it has not taken all.
func (t *tx) flush() bool {
	n := t.d.c.Send(t.outs[t.sent:])
	if tap := t.d.cfg.Tap; tap != nil {
		for _, o := range t.outs[t.sent : t.sent+n] {
			tap(t.d.now, packet.Flow{Src: t.d.c.Local(), Dst: o.Route.To}, o.Data)
		}
	}
	t.sent += n
	if t.sent < len(t.outs) {
		return false
	}
	t.outs, t.used, t.sent = t.outs[:0], 0, 0
	return true
}
