package wire_test

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport/rc/wire"
)

// TestBytes: what stands where. These are on the wire: a change is one of the protocol.
func TestBytes(t *testing.T) {
	var b [wire.MessageLen]byte
	s := wire.Segment{Kind: wire.First, Flags: wire.SegControl, Granted: 0x01020304, Ack: 0x1112131415161718}
	s.Emit(b[:])
	want(t, b[:wire.SegmentLen], "02"+"02"+"0000"+"04030201"+"1817161514131211")
	h := wire.Header{Size: 0x01020304, ID: 9, Flags: wire.FlagAckNow, Head: 0x0506}
	h.Emit(b[:])
	want(t, b[:wire.HeaderLen], "04030201"+"09"+"02"+"0605")
	m := wire.Message{Verb: wire.Reply, MTU: rdma.MTU4096, Conn: 0x0102030405060708, QPN: 0x111213, PSN: 0x212223, Yours: 0x313233, Receives: 4, Segment: 32768, ReadFrom: 0x0102 << 10, Reads: 16, Source: 0x4142, Port: 0x5152}
	m.Emit(b[:])
	want(t, b[:], "62726331"+"02000500"+"0807060504030201"+"13121100"+"23222100"+"33323100"+"04000000"+"00800000"+"0201"+"10"+"00"+"4241"+"5251")
	wire.Offer{Addr: 0x0102030405060708, RKey: 0x11121314}.Emit(b[:])
	want(t, b[:wire.OfferLen], "0807060504030201"+"14131211"+"00000000")
}

func want(t *testing.T, got []byte, text string) {
	t.Helper()
	if hex.EncodeToString(got) != text {
		t.Errorf("%x, want %s", got, text)
	}
}

func TestHeaderValid(t *testing.T) {
	l := wire.Limits{Frame: 1000, Data: true}
	for _, c := range []struct {
		h    wire.Header
		l    wire.Limits
		want bool
	}{
		{wire.Header{Size: 1000, ID: 1, Head: 1000}, l, true},
		{wire.Header{Size: 1001, ID: 1}, l, false},
		{wire.Header{Size: 10, ID: 1, Head: 11}, l, false},
		{wire.Header{Size: 10}, l, false},
		{wire.Header{Size: 10, ID: 1, Flags: 4}, l, false},
		{wire.Header{Size: 10, ID: 1}, wire.Limits{Frame: 1000}, false},
		{wire.Header{Size: 10, ID: 1, Flags: wire.FlagControl}, wire.Limits{Frame: 1000}, true},
		{wire.Header{Size: 9000, ID: 1, Head: wire.MaxHead + 1}, wire.Limits{Frame: 9000, Data: true}, false},
	} {
		if got := c.h.Valid(c.l); got != c.want {
			t.Errorf("%+v within %+v: %v", c.h, c.l, got)
		}
	}
}

// TestSegmentValid: a control frame is sent, never offered, and only parts of one are marked.
func TestSegmentValid(t *testing.T) {
	for k := wire.Nothing; k <= wire.Kinds; k++ {
		want := k == wire.First || k == wire.More
		if got := (wire.Segment{Kind: k, Flags: wire.SegControl}).Valid(100); got != want {
			t.Errorf("kind %d, marked as a part of a control frame: valid %v", k, got)
		}
	}
	if !(wire.Segment{Kind: wire.Offers, Flags: wire.SegAckNow}).Valid(100) {
		t.Error("an offer may ask for an acknowledgement")
	}
	if _, ok := wire.ParseOffer(append(make([]byte, wire.OfferLen-1), 1)); ok {
		t.Error("an offer with something in its reserved bytes")
	}
}

func FuzzMessage(f *testing.F) {
	var b [wire.MessageLen]byte
	for v := wire.Request; v < wire.Verbs; v++ {
		m := wire.Message{Verb: v, MTU: rdma.MTU1024, Conn: 7, QPN: 5, PSN: 6, Receives: 4, Segment: 8192}
		m.Emit(b[:])
		f.Add(bytes.Clone(b[:]))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, ok := wire.ParseMessage(raw)
		if !ok {
			return
		}
		var again [wire.MessageLen]byte
		m.Emit(again[:])
		if !bytes.Equal(raw, again[:]) {
			t.Errorf("%x is written back as %x", raw, again)
		}
	})
}

func FuzzSegment(f *testing.F) {
	var b [wire.SegmentLen + wire.HeaderLen]byte
	wire.Segment{Kind: wire.Frames}.Emit(b[:])
	wire.Header{Size: 3, ID: 1}.Emit(b[wire.SegmentLen:])
	f.Add(b[:])
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) < len(b) {
			return
		}
		if s := wire.ParseSegment(raw); s.Valid(len(raw)) && raw[2] == 0 && raw[3] == 0 {
			var again [wire.SegmentLen]byte
			s.Emit(again[:])
			if !bytes.Equal(raw[:wire.SegmentLen], again[:]) {
				t.Errorf("%x is written back as %x", raw[:wire.SegmentLen], again)
			}
		}
		h := wire.ParseHeader(raw[wire.SegmentLen:])
		if h.Valid(wire.Limits{Frame: 1 << 20, Data: true}) && (h.Len() < wire.HeaderLen || int(h.Head) > h.Len()) {
			t.Errorf("%+v is valid", h)
		}
	})
}
