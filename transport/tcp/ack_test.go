package tcp

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openbraid/braid/transport"
)

// TestAsksForWhatItKeeps: small frames are kept in memory of the transport until they are acknowledged, so it asks in time; frames that
// nobody keeps are acknowledged seldom, each of which costs both sides a system call.
func TestAsksForWhatItKeeps(t *testing.T) {
	for _, c := range []struct {
		retain bool
		most   uint64 // bytes that the receiver owes an acknowledgement for
	}{{true, askEvery}, {false, ackBytes}} {
		f, ends := crowd(t, 1)
		from, to := f.eps[0], ends.b.eps[0]
		from.Admit(maxFrame, c.retain)
		to.Admit(maxFrame, c.retain)
		p := from.sink.(*party)
		frame := &transport.Frame{ID: 1, Payload: make([]byte, 4<<10), Done: p}
		owed := uint64(0)
		for p.ended < 1000 {
			for range 8 {
				from.Post(frame) // or there is no room now
			}
			f.Flush()
			f.Progress()
			ends.b.Progress()
			ends.b.Flush()
			owed = max(owed, to.in.acceptedBytes-to.acks.outBytes)
		}
		if low := c.most / 2; owed > c.most || owed < low {
			t.Errorf("kept: %v: up to %d bytes are owed an acknowledgement, want %d to %d", c.retain, owed, low, c.most)
		}
	}
}

// recorder is a stream that keeps what is written; while blocked it takes nothing.
type recorder struct {
	tape
	written []byte
	blocked bool
}

func (r *recorder) Read([]byte) (int, error) { return 0, transport.ErrAgain }
func (r *recorder) Writev(p [][]byte) (n int, err error) {
	if r.blocked {
		return 0, transport.ErrAgain
	}
	for _, b := range p {
		r.written = append(r.written, b...)
		n += len(b)
	}
	return n, nil
}

// asks are the numbers of the frames that ask for an acknowledgement; a control frame has none, and counts as -1.
func (r *recorder) asks() (list []int) {
	for at, n := 0, 0; at < len(r.written); {
		h := parseHeader(r.written[at:])
		at += h.len()
		switch ask := h.flags&flagAckNow != 0; {
		case ask && h.control():
			list = append(list, -1)
		case ask:
			list = append(list, n)
		}
		if !h.control() {
			n++
		}
	}
	return list
}

// TestWhoAsks: of frames that go out together the last one asks if a payload is lent, or a frame of its own if all went out before; and of small ones each that fills the memory for
// them; nobody else, and none twice.
func TestWhoAsks(t *testing.T) {
	for _, c := range []struct {
		name                 string
		size, frames, groups int // of equal frames, in groups that end with Flush
		zero, letGo, blocked bool
		want                 []int
	}{
		{name: "lent", size: 64 << 10, frames: 4, groups: 3, zero: true, want: []int{3, 7, 11}},
		{name: "lent, and written early", size: 256 << 10, frames: 4, groups: 2, zero: true, want: []int{-1, -1}},
		{name: "lent, and partly written early", size: 256 << 10, frames: 5, groups: 2, zero: true, want: []int{4, 9}},
		{name: "lent while the socket is full", size: 64 << 10, frames: 2, groups: 2, zero: true, blocked: true, want: []int{1, 3}},
		{name: "lent without retention", size: 64 << 10, frames: 4, groups: 2, zero: true, letGo: true},
		{name: "kept", size: 4 << 10, frames: 80, groups: 1, want: []int{31, 63}},
		{name: "kept, without retention", size: 4 << 10, frames: 80, groups: 1, letGo: true},
		{name: "lent after kept", size: 4 << 10, frames: 8, groups: 10, zero: true, want: []int{7, 15, 23, 31, 39, 47, 55, 63, 71, 79}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newTestIface(t)
			r := &recorder{}
			p := &party{f: f}
			ep := &endpoint{f: f, sink: p, state: up, stream: r}
			ep.setWindow(transport.Options{Window: 1 << 30})
			ep.Admit(maxFrame, !c.letGo)
			frame := &transport.Frame{ID: 1, Payload: make([]byte, c.size), ZeroCopy: c.zero, Done: p}
			r.blocked = c.blocked
			for range c.groups {
				for range c.frames {
					ep.Post(frame)
				}
				f.Flush()
				f.Flush() // has nothing to say
			}
			r.blocked, ep.out.blocked = false, false
			ep.soil()
			f.Flush()
			if d := cmp.Diff(c.want, r.asks()); d != "" {
				t.Error(d)
			}
			ep.stream = nil
		})
	}
}

// TestSmallWindow: a peer that may have little under way isn't left to wait for a MiB.
func TestSmallWindow(t *testing.T) {
	f, ends := crowd(t, 1)
	from, to := f.eps[0], ends.b.eps[0]
	for _, ep := range []*endpoint{from, to} {
		ep.Admit(maxFrame, false)
		ep.setWindow(transport.Options{Window: 64 << 10})
	}
	p := from.sink.(*party)
	frame := &transport.Frame{ID: 1, Payload: make([]byte, 4<<10), Done: p}
	for p.ended < 500 {
		from.Post(frame)
		f.Flush()
		f.Progress()
		ends.b.Progress()
		ends.b.Flush()
		if owed := to.in.acceptedBytes - to.acks.outBytes; owed > 16<<10 {
			t.Fatalf("%d bytes of a window of 64 KiB are owed an acknowledgement", owed)
		}
	}
}
