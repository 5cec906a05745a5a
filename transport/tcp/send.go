package tcp

import (
	"fmt"

	"github.com/openbraid/braid/internal/ledger"
	"github.com/openbraid/braid/transport"
)

// ackBytes is how much one acknowledgement covers at most, or what fills a quarter of a window.
const ackBytes = 1 << 20

// Of giveBackEach payloads of up to giveBackMost bytes that are lent one is copied. More of them cost more than they bring.
const (
	giveBackMost = 32 << 10
	giveBackEach = 16
)

// Post implements transport.Endpoint.
func (ep *endpoint) Post(f *transport.Frame) transport.Status {
	if ep.state > up || ep.led.Held() {
		return transport.Failed
	}
	if size := f.Len(); len(f.Head) > maxHead || size > int(ep.lim.frame) || f.ID == 0 ||
		f.Class == transport.Data && !ep.lim.data {
		panic(fmt.Errorf("tcp: post of frame id %d, head %d, %d bytes, class %d; admitted is %+v: %w",
			f.ID, len(f.Head), size, f.Class, ep.lim, transport.ErrFrame))
	}
	if f.Class == transport.Control {
		return ep.postControl(f)
	}
	if n := ep.led.Len(); n > 0 && (ep.led.Bytes()+uint64(f.Len()) > ep.window || n >= maxOutstanding) {
		ep.starve()
		return transport.NoResource
	}
	n := ep.led.Posted()
	e := ep.led.Push(f)
	lent := f.ZeroCopy && !ep.givesBack(f)
	switch {
	case f.ZeroCopy && !lent:
		e.ZeroCopy, e.Unsent = false, false
	case !lent:
		ep.out.kept += f.Len()
		e.AckNow = e.AckNow || ep.out.kept >= askWithin
	}
	if e.AckNow {
		ep.out.kept = 0
	}
	ep.out.data(ep.f.pool, &ep.led, e, n)
	ep.soil()
	if ep.out.waits >= earlyWrite {
		ep.write() // and leaves asking to flush: asking here, too, costs streams of 64 KiB up to a tenth
	}
	if lent {
		if ep.retain {
			ep.out.lent = ep.led.Posted()
		}
		return transport.Pending
	}
	return transport.Done
}

// givesBack says whether a payload that is lent is copied all the same: one of a few small ones, so that its user has it back at once, and posts the next
// while the acknowledgement of the others is on its way.
func (ep *endpoint) givesBack(f *transport.Frame) bool {
	if !ep.retain || len(f.Payload) > giveBackMost {
		return false
	}
	ep.out.lentFrames++
	return ep.out.lentFrames%giveBackEach == 0
}

func (ep *endpoint) postControl(f *transport.Frame) transport.Status {
	if n := ep.out.controlLen(); n > 0 && n+f.Len() > maxControl {
		ep.starved = true
		return transport.NoResource
	}
	h := header{size: uint32(f.Len()), id: f.ID, flags: flagControl, head: uint16(len(f.Head))}
	if f.AckNow {
		h.flags |= flagAckNow
	}
	ep.out.control(h, f.Head, f.Payload)
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

// batch is one write, as it was put together.
type batch struct {
	before, control, after int // bytes of the frame begun, of control frames, of the rest
	stamped                []byte
	stampedAt              int // where in the bytes its header stands
}

func (b *batch) len() int { return b.before + b.control + b.after }

// flush writes what waits, as far as the system takes it.
func (ep *endpoint) flush() {
	if ep.willWrite() && ep.asks() || ep.out.wanted && ep.led.Len() > 0 && ep.writes() {
		ep.out.ask(&ep.led)
	}
	ep.out.wanted = false // if nothing is left, it has come: the frame that made somebody want it may have brought it
	ep.write()
}

// asks says whether the last frame asks for all before it: if somebody waits for his memory and the peer has too little to acknowledge it
// by itself, or if enough was posted.
func (ep *endpoint) asks() bool {
	return ep.out.lent > ep.led.Acked() && ep.led.Bytes() < ackBytes || ep.out.kept >= askEvery && ep.out.waits > 0
}

func (ep *endpoint) willWrite() bool { return ep.state == up && !ep.out.blocked && ep.writes() }

// write is flush without asking for anything.
func (ep *endpoint) write() {
	if !ep.willWrite() {
		return
	}
	ep.out.progress = false
	for {
		if ep.out.empty() {
			if !ep.acks.Due(ep.in.accepted, ep.in.acceptedBytes, min(ackBytes, ep.window/4)) {
				return
			}
			ep.out.control(header{flags: flagControl}, nil, nil) // no frame has carried it
		}
		v, b := ep.collect()
		n, err := ep.stream.Writev(v)
		clear(v)
		ep.wrote(&b, max(n, 0))
		switch {
		case err != nil && err != transport.ErrAgain:
			ep.fail("write", err)
			return
		case n < b.len():
			ep.out.blocked = true
			ep.watch()
			return
		}
	}
}

// collect puts one write together: the frame that is begun, then control frames, then data. One header that isn't written yet is
// stamped: that of the last control frame, since those before may be about what the acknowledgement covers; else the first of data.
func (ep *endpoint) collect() (v [][]byte, b batch) {
	o := &ep.out
	w := gather{o: o, led: &ep.led, v: ep.f.pieces[:0], at: o.first, off: o.off}
	if o.begun > 0 {
		b.before = w.data(headerLen + ep.led.At(o.sent).Size - o.begun)
	}
	if len(o.ctl) > 0 {
		if o.ctlEnd >= o.ctlOff {
			b.stamped, b.stampedAt = o.ctl[o.ctlEnd:][:headerLen], b.before+o.ctlEnd-o.ctlOff
		}
		w.v = append(w.v, o.ctl[o.ctlOff:])
		b.control = o.controlLen()
	}
	if b.stamped == nil {
		b.stamped, b.stampedAt = w.header(), b.before+b.control
	}
	if b.stamped != nil {
		stamp(b.stamped, ep.in.accepted)
	}
	b.after = w.data(o.waits)
	return w.v, b
}

// gather walks over the parts.
type gather struct {
	o       *outbox
	led     *ledger.Ledger
	v       [][]byte
	at, off int
}

// data adds up to n bytes, and says how many it were: there is room for so many pieces only.
func (w *gather) data(n int) (added int) {
	for n > 0 && w.at < len(w.o.parts) && len(w.v) < maxPieces-1 {
		b := w.o.bytes(w.led, &w.o.parts[w.at])[w.off:]
		if len(b) > n {
			w.v = append(w.v, b[:n])
			w.off += n
			return added + n
		}
		w.v = append(w.v, b)
		added += len(b)
		n -= len(b)
		w.at, w.off = w.at+1, 0
	}
	return added
}

// header is the header at which the walk stands, at a frame boundary.
func (w *gather) header() []byte {
	if w.at == len(w.o.parts) {
		return nil
	}
	return w.o.bytes(w.led, &w.o.parts[w.at])[w.off:][:headerLen]
}

// wrote accounts for the first n bytes of a batch.
func (ep *endpoint) wrote(b *batch, n int) {
	o := &ep.out
	if b.stamped != nil {
		if n > b.stampedAt {
			ep.acks.Said(ep.in.accepted, ep.in.acceptedBytes, &ep.f.owing) // its first byte is on its way, the rest follows as it is
		} else {
			stamp(b.stamped, 0)
		}
	}
	if n == 0 {
		return
	}
	o.progress = true
	d := min(n, b.before)
	if b.before > 0 {
		o.written(&ep.led, d)
	}
	if c := min(n-d, b.control); c > 0 {
		o.controlWritten(c)
		n -= c
		if ep.starved {
			ep.postpone() // there may be room for control frames
		}
	}
	if n > d {
		o.written(&ep.led, n-d)
	}
	if !ep.retain && o.sent > o.letGo {
		ep.postpone()
	}
}

// letGo lets go of the memory of frames that are written, when nobody wants them back.
func (ep *endpoint) letGo() (n int) {
	o := &ep.out
	if ep.retain {
		return 0
	}
	for o.letGo = max(o.letGo, ep.led.Acked()); o.letGo < o.sent && !ep.led.Held(); n++ {
		o.letGo++
		ep.led.Release(ep.led.At(o.letGo - 1))
	}
	return n
}
