package rc_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
	"github.com/openbraid/braid/transport/rc/wire"
)

// raw is a segment: its header, and what stands behind it.
func raw(s wire.Segment, body ...[]byte) []byte {
	if s.Granted == 0 {
		s.Granted = wire.MinReceives + 28 // what was posted at the sender
	}
	b := make([]byte, wire.SegmentLen)
	s.Emit(b)
	for _, x := range body {
		b = append(b, x...)
	}
	return b
}

// frame is the begin of a frame: its header, its head, and so many bytes of its payload.
func frame(h wire.Header, payload int) []byte {
	b := make([]byte, wire.HeaderLen)
	h.Emit(b)
	return append(b, make([]byte, int(h.Head)+payload)...)
}

// TestBadSegments: what a peer may not send ends the connection, with what is wrong, and nothing of it is handed to anybody.
func TestBadSegments(t *testing.T) {
	frames, first, more := wire.Segment{Kind: wire.Frames}, wire.Segment{Kind: wire.First}, wire.Segment{Kind: wire.More}
	large := frame(wire.Header{Size: 100_000, ID: 1, Head: 8}, 1000)
	part := make([]byte, 1000)
	control := func(s wire.Segment) wire.Segment {
		s.Flags |= wire.SegControl
		return s
	}
	for _, c := range []struct {
		name string
		raws [][]byte
		want string
	}{
		{"half a header", [][]byte{raw(frames)[:10]}, "a segment of 10 bytes"},
		{"a kind that there is not", [][]byte{raw(wire.Segment{Kind: wire.Kinds})}, "kind 5"},
		{"a flag that there is not", [][]byte{raw(wire.Segment{Kind: wire.Frames, Flags: 4})}, "flags 0x4"},
		{"nothing, and more", [][]byte{raw(wire.Segment{Kind: wire.Nothing}, []byte{1})}, "17 bytes"},
		{"whole frames of control", [][]byte{raw(control(frames))}, "flags 0x2"},
		{"a grant that was taken back", [][]byte{raw(wire.Segment{Kind: wire.Nothing, Granted: 1})}, "a grant of -"},
		{"a grant of more than there can be", [][]byte{raw(wire.Segment{Kind: wire.Nothing, Granted: 1 << 20})}, "a grant of 1"},
		{"less than a frame", [][]byte{raw(frames, part[:7])}, "7 bytes instead of a frame"},
		{"a frame that goes on behind its segment", [][]byte{raw(frames, frame(wire.Header{Size: 100, ID: 1, Head: 8}, 91))}, "in a segment"},
		{"a frame without a number", [][]byte{raw(frames, frame(wire.Header{Size: 8, Head: 8}, 0))}, "id 0"},
		{"a head longer than its frame", [][]byte{raw(frames, frame(wire.Header{Size: 7, ID: 1, Head: 8}, 0))}, "head 8 and 7 bytes"},
		{"a frame longer than admitted", [][]byte{raw(first, frame(wire.Header{Size: 1<<20 + 1, ID: 1, Head: 8}, 1000))}, "the begin of a frame"},
		{"data in a segment of control", [][]byte{raw(control(first), large)}, "the begin of a frame"},
		{"control in a segment of data", [][]byte{raw(first, frame(wire.Header{Size: 100_000, ID: 1, Head: 8, Flags: wire.FlagControl}, 1000))}, "the begin of a frame"},
		{"the begin of a frame that is whole", [][]byte{raw(first, frame(wire.Header{Size: 108, ID: 1, Head: 8}, 100))}, "the begin of a frame"},
		{"the begin of a frame without all of its head", [][]byte{raw(first, large[:12])}, "the begin of a frame"},
		{"the begin of a frame without a header", [][]byte{raw(first, large[:7])}, "the begin of a frame"},
		{"a frame within another", [][]byte{raw(first, large), raw(first, large)}, "within another (true)"},
		{"more of nothing", [][]byte{raw(more, part)}, "not begun"},
		{"more of another kind", [][]byte{raw(first, large), raw(control(more), part)}, "not begun"},
		{"an empty part", [][]byte{raw(first, large), raw(more)}, "a part of 0 bytes"},
		{"more than is lacking", [][]byte{raw(first, frame(wire.Header{Size: 1500, ID: 1, Head: 8}, 1000)), raw(more, part)}, "a part of 1000 bytes of a frame that lacks 492"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newPairs(t, 40, rc.Options{})
			x, y := s.connect()
			for _, b := range c.raws {
				rc.SendRaw(x.ep, b)
			}
			s.until("the end", lost(y))
			if err := y.errs[0]; !errors.Is(err, transport.ErrProtocol) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if y.got+uint64(y.control) > 0 {
				t.Errorf("%d frames of data and %d of control were handed over", y.got, y.control)
			}
			s.idle(x, y)
		})
	}
}
