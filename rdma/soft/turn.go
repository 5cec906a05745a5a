package soft

import (
	"net/netip"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/packet"
)

const (
	quantum    = 32 // packets that a queue pair sends before the next one's turn
	recvRounds = 4  // batches that one Progress takes
)

// Progress implements rdma.Device.
func (d *Device) Progress() int {
	if d.closed {
		return 0
	}
	d.now = d.cfg.Now()
	n := d.notice()
	for range recvRounds {
		k := d.c.Recv(d.ins[:])
		for i := range d.ins[:k] {
			d.take(&d.ins[i])
		}
		n += k
		if k < len(d.ins) {
			break
		}
	}
	n += d.timers.Run(d.now)
	d.work()
	return n
}

// notice takes what the carrier saw by itself.
func (d *Device) notice() (n int) {
	for {
		e, ok := d.c.Event()
		if !ok {
			return n
		}
		n++
		switch e.Type {
		case carrier.Up:
			d.down = false
			d.event(rdma.Event{Type: rdma.EventPortActive})
		case carrier.Down:
			d.down = true
			d.event(rdma.Event{Type: rdma.EventPortDown})
		case carrier.Neighbour:
			d.event(rdma.Event{Type: rdma.EventNeighbour, GID: rdma.GIDFrom(e.Addr)})
		}
	}
}

// wake lets a queue pair have a turn.
func (d *Device) wake(q *queuePair) {
	if !q.queued {
		q.queued = true
		d.ready = append(d.ready, q)
	}
}

// run gives a queue pair its turn at once.
func (d *Device) run(q *queuePair) {
	d.wake(q)
	d.work()
}

// work gives turns until nobody has anything to send, or the carrier has no room.
func (d *Device) work() {
	for len(d.ready) > 0 && d.tx.room() {
		cur := d.ready
		d.ready = d.spare[:0]
		for i, q := range cur {
			if !d.tx.room() {
				d.ready = append(d.ready, cur[i:]...)
				break
			}
			q.queued = false
			if !q.gone && q.turn() {
				d.wake(q)
			}
		}
		clear(cur)
		d.spare = cur[:0]
	}
	if d.tx.waiting() {
		d.tx.flush()
	}
}

// turn sends answers, then what is posted. True: there is more.
func (q *queuePair) turn() bool {
	n, more := q.rsp.emit(q, quantum)
	if more {
		return true
	}
	_, more = q.req.transmit(q, quantum-n)
	return more
}

// take handles one datagram.
func (d *Device) take(in *carrier.In) {
	d.stats.RxPackets++
	if d.cfg.Tap != nil {
		d.cfg.Tap(d.now, packet.Flow{Src: in.From, Dst: d.c.Local()}, in.Data)
	}
	var p packet.Packet
	if p.Parse(in.Data) != nil || p.PKey&0x7fff != packet.DefaultPKey&0x7fff {
		d.stats.BadPacket++
		return
	}
	q := d.qps[p.DestQP]
	if q == nil {
		d.stats.UnknownQP++
		return
	}
	maxID := uint16(0xffff)
	if !q.datagram {
		if !q.from(in.From) {
			d.stats.WrongPeer++
			return
		}
		if q.route.To.Port() != rdma.RoCEPort {
			maxID = d.c.MaxID() // a device like this one
		}
	}
	if !d.sum.Check(packet.Flow{Src: in.From, Dst: d.c.Local()}, in.Data, in.ID, maxID) {
		d.stats.BadICRC++
		return
	}
	h := p.Opcode.Has()
	switch {
	case q.datagram != (h&packet.Datagram != 0):
		d.stats.BadPacket++
	case h&packet.Answer != 0:
		q.req.answered(q, &p)
	case !q.state.Responds():
		d.stats.WrongState++
	case q.datagram:
		q.datagramIn(in.From, &p)
	default:
		q.rsp.request(q, &p)
		d.wake(q)
	}
}

// from says whether a datagram comes from the queue pair's peer. One with a port of its own sends from it; hardware and
// the kernel answer to the standard's port and send from any.
func (q *queuePair) from(a netip.AddrPort) bool {
	to, port := q.route.To, q.attr.AV.From
	if port == 0 {
		port = to.Port()
	}
	return to.IsValid() && a.Addr() == to.Addr() && (to.Port() == rdma.RoCEPort || a.Port() == port)
}
