package outbox_test

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/openbraid/braid/internal/ledger"
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc/outbox"
	"github.com/openbraid/braid/transport/rc/queue"
	"github.com/openbraid/braid/transport/rc/window"
	"github.com/openbraid/braid/transport/rc/wire"
)

// domain registers memory, and has no windows: keys are plain ones, or there are none.
type domain struct {
	rdma.PD
	rdma.Device
	none bool
	live int
}

type region struct {
	rdma.MR
	d   *domain
	key uint32
}

func (d *domain) Attr() rdma.DeviceAttr { return rdma.DeviceAttr{} }
func (d *domain) RegMR(_ []byte, a rdma.Access) (rdma.MR, error) {
	if a == rdma.AccessRemoteRead {
		if d.none {
			return nil, rdma.ErrLimit
		}
		d.live++
	}
	return &region{d: d, key: 9}, nil
}
func (r *region) Addr() uint64      { return 1 << 40 }
func (r *region) LKey() uint32      { return 7 }
func (r *region) RKey() uint32      { return r.key }
func (r *region) Deregister() error { r.d.live--; return nil }

// box is one over d whose segments carry largest bytes.
func box(d *domain, largest, readFrom int) (*outbox.Box, *queue.Memory, *ledger.Ledger) {
	m, led := &queue.Memory{PD: d}, &ledger.Ledger{}
	return &outbox.Box{Memory: m, Books: led, Keys: window.New(window.Config{Device: d, Memory: m}), Largest: largest, ReadFrom: readFrom}, m, led
}

// put posts a frame whose bytes say which it is.
func put(t testing.TB, o *outbox.Box, n int, f transport.Frame) []byte {
	f.ID = uint8(n%250 + 1)
	for i := range f.Head {
		f.Head[i] = byte(n)
	}
	for i := range f.Payload {
		f.Payload[i] = byte(n + 1)
	}
	var e *ledger.Entry
	at := o.Books.Posted()
	if f.Class == transport.Data {
		e = o.Books.Push(&f)
	}
	if err := o.Put(&f, e, at); err != nil {
		t.Fatal(err)
	}
	if e != nil && (!bytes.Equal(e.Head, f.Head) || !bytes.Equal(e.Payload, f.Payload)) {
		t.Fatal("the books have other bytes")
	}
	h := wire.Header{Size: uint32(f.Len()), ID: f.ID, Head: uint16(len(f.Head))}
	if f.Class == transport.Control {
		h.Flags = wire.FlagControl
	}
	raw := make([]byte, wire.HeaderLen)
	h.Emit(raw)
	return append(append(raw, f.Head...), f.Payload...)
}

// TestPieces: whatever is posted leaves byte for byte and in order, control first, with nothing of the same class between the parts of a large
// frame; an offer stands for the payload; in the end every block comes back, and every key is closed.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := func(limit int) int { return rapid.IntRange(0, limit-1).Draw(rt, "n") }
		d := &domain{none: n(3) == 0}
		o, m, led := box(d, 9000, []int{0, 20_000}[n(2)])
		var want, got [2][]byte
		frames := 0
		for range 60 {
			if n(3) > 0 {
				class := transport.Class(n(2))
				head, size := n(50), []int{0, 100, 8000, 25_000, 70_000}[n(5)]
				raw := put(t, o, frames, transport.Frame{Class: class, Head: make([]byte, head), Payload: make([]byte, size)})
				if o.ReadFrom > 0 && class == transport.Data && size >= o.ReadFrom && !d.none {
					var w [wire.OfferLen]byte
					wire.Offer{Addr: 1 << 40, RKey: 9}.Emit(w[:])
					raw = append(w[:], raw[:len(raw)-size]...)
				}
				want[class] = append(want[class], raw...)
				frames++
				continue
			}
			control, _ := o.Waiting()
			p, ok := o.Peek()
			if !ok {
				continue
			}
			body := p.Block.Bytes[p.At:p.To]
			class := transport.Data
			if control > 0 {
				class = transport.Control
			}
			if len(body) == 0 || len(body) > o.Largest || (p.Flags&wire.SegControl != 0) != (class == transport.Control && p.Kind != wire.Frames) {
				rt.Fatalf("a piece of kind %d, flags %d, %d bytes, %d of control wait", p.Kind, p.Flags, len(body), control)
			}
			got[class] = append(got[class], body...)
			o.Entering(&p)
			o.Took(&p)
			if n(4) == 0 {
				_ = led.Ack(o.Sent)
				o.Acked(o.Sent)
			}
		}
		for c := range got {
			if !bytes.HasPrefix(want[c], got[c]) {
				rt.Fatalf("class %d: what left is not what was posted", c)
			}
		}
		o.Drop()
		led.Cancel(fmt.Errorf("over"))
		o.LetGoOfChunk()
		m.Trim()
		if m.Idle() != m.All || d.live != 0 {
			rt.Fatalf("%d of %d blocks came back, %d keys are open", m.Idle(), m.All, d.live)
		}
	})
}

// TestDropShuts: of what was dropped nobody can read anything, offered or not, although the books hold it on.
func TestDropShuts(t *testing.T) {
	d := &domain{}
	o, m, led := box(d, 9000, 20_000)
	for i := range 3 {
		put(t, o, i, transport.Frame{Payload: make([]byte, 30_000)})
	}
	p, ok := o.Peek()
	if !ok || p.Kind != wire.Offers || d.live != 3 {
		t.Fatalf("%+v, %v, %d keys", p, ok, d.live)
	}
	o.Entering(&p)
	o.Took(&p)
	led.Hold()
	o.Drop()
	if d.live != 0 || led.Len() != 3 {
		t.Errorf("%d keys are open, %d frames in the books", d.live, led.Len())
	}
	led.Cancel(fmt.Errorf("over"))
	m.Trim()
	if m.Idle() != m.All {
		t.Errorf("%d of %d blocks came back", m.Idle(), m.All)
	}
}
