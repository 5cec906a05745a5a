package wire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// tlvs is a greeting taken apart, to build ones that no encoder makes.
type tlvs struct {
	caps   []byte
	fields [][]byte // with type and length
}

func split(b []byte) tlvs {
	t := tlvs{caps: bytes.Clone(b[:8])}
	for b = b[8:]; len(b) > 0; {
		n := 4 + int(binary.LittleEndian.Uint16(b[2:]))
		t.fields = append(t.fields, bytes.Clone(b[:n]))
		b = b[n:]
	}
	return t
}

func (t tlvs) bytes() []byte { return append(bytes.Clone(t.caps), bytes.Join(t.fields, nil)...) }

// find is the index of the field with this number.
func (t tlvs) find(number byte) int {
	return slices.IndexFunc(t.fields, func(f []byte) bool { return f[0] == number })
}

// with replaces or inserts (in order) a field with the given type and body.
func (t tlvs) with(typ uint16, body ...byte) tlvs {
	f := binary.LittleEndian.AppendUint16(nil, typ)
	f = append(binary.LittleEndian.AppendUint16(f, uint16(len(body))), body...)
	t.fields = slices.Clone(t.fields)
	for i, have := range t.fields {
		switch n := binary.LittleEndian.Uint16(have) &^ 0x8000; {
		case n == typ&^0x8000:
			t.fields[i] = f
			return t
		case n > typ&^0x8000:
			t.fields = slices.Insert(t.fields, i, f)
			return t
		}
	}
	t.fields = append(t.fields, f)
	return t
}

func (t tlvs) without(number byte) tlvs {
	i := t.find(number)
	t.fields = slices.Delete(slices.Clone(t.fields), i, i+1)
	return t
}

type badHello struct {
	why string
	b   []byte
	ack bool
}

// badHellos are greetings of which one thing is wrong.
func badHellos() []badHello {
	hello := split(joinHello.AppendTo(nil))
	ack := split(firstAck.AppendTo(nil))
	swapped := hello
	swapped.fields = slices.Clone(hello.fields)
	swapped.fields[0], swapped.fields[1] = swapped.fields[1], swapped.fields[0]
	doubled := hello
	doubled.fields = slices.Insert(slices.Clone(hello.fields), 1, hello.fields[0])
	zero := make([]byte, 16)
	long := strings.Repeat("a", 65)
	nine := bytes.Repeat([]byte("\x01a"), 9)

	framing := []badHello{
		{why: "capability words are cut off", b: hello.caps[:7]},
		{why: "capability words are cut off", b: nil, ack: true},
		{why: "twice or out of order", b: swapped.bytes()},
		{why: "twice or out of order", b: doubled.bytes()},
		{why: "twice or out of order", b: append(hello.bytes(), 0, 0, 0, 0)}, // type 0
		{why: "twice or out of order", b: append(hello.with(15).bytes(), 15, 0, 0, 0)},
		{why: "cut off", b: append(hello.bytes(), 15, 0, 1)},
		{why: "longer than the rest", b: append(hello.bytes(), 15, 0, 2, 0, 'a')},
		{why: "longer than the rest", b: append(hello.bytes(), 15, 0, 0xff, 0xff)},
		{why: "must have 1024", b: hello.with(15, make([]byte, 1024)...).bytes()},
		{why: "instance is missing", b: hello.without(1).bytes()},
		{why: "incarnation and endpoint is missing", b: hello.without(2).bytes()},
		{why: "nonce is missing", b: hello.without(4).bytes()},
		{why: "mode is missing", b: hello.without(5).bytes()},
		{why: "limits is missing", b: hello.without(6).bytes()},
		{why: "timers is missing", b: hello.without(8).bytes()},
		{why: "instance is missing", b: hello.caps},
		{why: "limits is missing", b: ack.without(6).bytes(), ack: true},
		{why: "does not belong", b: ack.with(0x8003, zero...).bytes(), ack: true},
		{why: "does not belong", b: ack.with(0x8008, zero[:8]...).bytes(), ack: true},
		{why: "does not belong", b: hello.with(10, 1, 'a').bytes()},
		{why: "does not belong", b: hello.with(0x8007, key[:]...).bytes()},
		{why: "join proof is zero", b: ack.with(0x800b, zero[:16]...).bytes(), ack: true},
		{why: "wrong required bit", b: hello.with(5, 0).bytes()},
		{why: "wrong required bit", b: hello.with(0x8009, 'a').bytes()},
	}
	return append(framing, []badHello{
		{why: "instance has a wrong length", b: hello.with(0x8001, zero[:15]...).bytes()},
		{why: "nonce has a wrong length", b: hello.with(0x8004, append(zero, 0)...).bytes()},
		{why: "mode has a wrong length", b: hello.with(0x8005).bytes()},
		{why: "mode is unknown", b: hello.with(0x8005, 3).bytes()},
		{why: "opener", b: hello.with(0x8001, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0).bytes()},
		{why: "number is 0", b: hello.with(0x8001, zero...).bytes()},
		{why: "incarnation is 0", b: hello.with(0x8002, zero...).bytes()},
		{why: "incarnation is 0", b: hello.with(0x8003, zero...).bytes()},
		{why: "join key is zero", b: ack.with(0x8007, zero...).bytes(), ack: true},
		{why: "join proof is zero", b: hello.with(0x800b, zero...).bytes()},
		{why: "name has a wrong length", b: hello.with(9).bytes()},
		{why: "name has a wrong length", b: hello.with(9, []byte(long)...).bytes()},
		{why: "name is not text", b: hello.with(9, 'a', '\n').bytes()},
		{why: "name is not text", b: hello.with(9, 0xc3).bytes()},
		{why: "name is not text", b: hello.with(9, []byte("\u202e")...).bytes()},
		{why: "addresses has a wrong length", b: ack.with(10).bytes(), ack: true},
		{why: "too many addresses", b: ack.with(10, nine...).bytes(), ack: true},
		{why: "longer than its field", b: ack.with(10, 2, 'a').bytes(), ack: true},
		{why: "an address is empty", b: ack.with(10, 1, 'a', 0).bytes(), ack: true},
		{why: "too long or not printable", b: ack.with(10, append([]byte{65}, long...)...).bytes(), ack: true},
		{why: "too long or not printable", b: ack.with(10, 1, ' ').bytes(), ack: true},
		{why: "too long or not printable", b: ack.with(10, 1, 0x80).bytes(), ack: true},
		{why: "too long or not printable", b: ack.with(10, 1, 0x7f).bytes(), ack: true},
	}...)
}

func TestHelloBad(t *testing.T) {
	for _, c := range badHellos() {
		var err error
		if c.ack {
			_, err = wire.DecodeHelloAck(c.b)
		} else {
			_, err = wire.DecodeHello(c.b)
		}
		if !errors.Is(err, wire.ErrFormat) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("got %v, want %q", err, c.why)
		}
	}
}

func TestHelloUnsupported(t *testing.T) {
	hello := split(firstHello.AppendTo(nil))
	hello.caps[0], hello.caps[2] = 1, 0x10 // CapHandover, and one that isn't known

	b := hello.with(0x800f, 1, 2).with(16, 3).with(0x8123).bytes()
	_, err := wire.DecodeHello(b)
	var e *wire.UnsupportedError
	if !errors.Is(err, wire.ErrUnsupported) || !errors.As(err, &e) {
		t.Fatal(err)
	}
	if e.Message != "Hello" || e.Caps != 0x100000 || !slices.Equal(e.TLVs, []uint16{0x800f, 0x8123}) {
		t.Errorf("%+v", e)
	}
	for _, want := range []string{"Hello", "capabilities 0x100000", "field 0x800f", "field 0x8123"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %q", err, want)
		}
	}

	// A peer from the future may have no use for today's fields: what it requires is named, not what is missing.
	future := tlvs{caps: make([]byte, 8)}
	if _, err := wire.DecodeHelloAck(future.with(0x800f).bytes()); !errors.Is(err, wire.ErrUnsupported) {
		t.Errorf("with nothing but an unknown required field: %v", err)
	}
}

func TestHelloUnknownOptional(t *testing.T) {
	b := split(firstHello.AppendTo(nil)).with(15, 1, 2, 3).with(0x7fff).bytes()
	h, err := wire.DecodeHello(b)
	if err != nil || !equal(h, firstHello) {
		t.Errorf("%+v, %v", h, err)
	}
}

// TestControlMax: no control frame is larger than what is read before a handshake, whatever its strings are.
func TestControlMax(t *testing.T) {
	if wire.ControlMax != transport.HelloMax {
		t.Errorf("ControlMax is %d, transport.HelloMax %d", wire.ControlMax, transport.HelloMax)
	}
	addr, name := strings.Repeat("a", wire.MaxAddr), strings.Repeat("é", 1000)
	ack := firstAck
	ack.Name, ack.Addrs = name, []string{"", "a b", addr + "a"}
	for range 20 {
		ack.Addrs = append(ack.Addrs, addr)
	}
	b := ack.AppendTo(nil)
	got, err := wire.DecodeHelloAck(b)
	if err != nil || len(b) > wire.ControlMax {
		t.Fatalf("%d bytes: %v", len(b), err)
	}
	if got.Name != name[:wire.MaxName] || !slices.Equal(got.Addrs, ack.Addrs[3:3+wire.MaxAddrs]) {
		t.Errorf("%+v", got)
	}
	hello := joinHello
	hello.Name = name
	if b := hello.AppendTo(nil); len(b) > wire.ControlMax {
		t.Errorf("Hello has %d bytes", len(b))
	}
	b = wire.Reject{Code: 1, Text: name}.AppendTo(nil)
	if r, err := wire.DecodeReject(b); err != nil || len(b) > wire.ControlMax || r.Text != name[:wire.MaxText] {
		t.Errorf("Reject has %d bytes: %+v, %v", len(b), r, err)
	}
	ack.Addrs = []string{"not valid"}
	if got, err := wire.DecodeHelloAck(ack.AppendTo(nil)); err != nil || len(got.Addrs) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestHelloAny: any struct with legal enumerations can be read by the peer, whatever its strings are.
func TestHelloAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := wire.Hello{
			Required:    wire.Caps(rapid.Uint32Range(0, 1).Draw(t, "required")),
			Optional:    wire.Caps(rapid.Uint32().Draw(t, "optional")),
			Instance:    wire.Instance{Opener: wire.Side(rapid.IntRange(0, 1).Draw(t, "side")), N: rapid.Uint64Min(1).Draw(t, "n")},
			Incarnation: rapid.Uint64Min(1).Draw(t, "incarnation"),
			Endpoint:    rapid.Uint64().Draw(t, "endpoint"),
			Mode:        wire.Mode(rapid.IntRange(0, 2).Draw(t, "mode")),
			MaxFrame:    rapid.Uint32().Draw(t, "frame"),
			MaxMessage:  rapid.Uint64().Draw(t, "message"),
			Backlog:     rapid.Uint64().Draw(t, "backlog"),
			Keepalive:   rapid.Uint32().Draw(t, "keepalive"),
			PeerTimeout: rapid.Uint32().Draw(t, "timeout"),
			Name:        rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("a\n€\u202e\ufffd")))).Draw(t, "name"),
		}
		if rapid.Bool().Draw(t, "later") {
			h.PeerIncarnation, h.PeerEndpoint = rapid.Uint64Min(1).Draw(t, "peer"), rapid.Uint64().Draw(t, "peer endpoint")
			h.Join[rapid.IntRange(0, 15).Draw(t, "at")] = rapid.ByteMin(1).Draw(t, "key")
		}
		got, err := wire.DecodeHello(h.AppendTo(nil))
		if err != nil {
			t.Fatal(err)
		}
		if wire.ValidName(h.Name) != (got.Name == h.Name) || len(got.Name) > wire.MaxName {
			t.Fatalf("name %q came as %q", h.Name, got.Name)
		}
		got.Name = h.Name
		if got != h {
			t.Fatalf("got %+v, want %+v", got, h)
		}
	})
}
