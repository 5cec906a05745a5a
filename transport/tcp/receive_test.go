package tcp

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/transport"
)

// tape is a stream that plays bytes in pieces and takes everything.
type tape struct {
	data   []byte
	rng    *rand.Rand
	most   int
	closed bool
}

func (t *tape) Read(p []byte) (int, error) {
	if t.closed {
		panic("read after close")
	}
	if len(t.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, t.data[:min(len(t.data), 1+t.rng.IntN(t.most))])
	t.data = t.data[n:]
	return n, nil
}
func (t *tape) Writev(p [][]byte) (n int, err error) {
	for _, b := range p {
		n += len(b)
	}
	return n, nil
}
func (t *tape) Connected() error { return nil }
func (t *tape) Shutdown() error  { return nil }
func (t *tape) Reset() error     { return nil }
func (t *tape) Close(bool) error { t.closed = true; return nil }
func (t *tape) FD() int          { return 0 }
func (t *tape) Reached() uint64  { return 0 }

// witness is a sink that remembers.
type witness struct {
	ep        *endpoint
	seen      []string
	err       error
	places    int
	quiesceAt int // number of the data frame in which it quiesces; 0: never
	admitAt   int // number of the frame in which it admits
	data      int
	kept      []kept
}

type kept struct {
	buf *transport.Buffer
	p   []byte
	was string
}

func (w *witness) Connected() {}
func (w *witness) Room()      {}
func (w *witness) Place(_ uint8, _ []byte, size int) []byte {
	if w.places++; w.places%2 == 0 {
		return nil
	}
	return make([]byte, size)
}
func (w *witness) OnError(err error) transport.Decision { w.err = err; return transport.Complete }
func (w *witness) Frame(in *transport.Incoming) {
	if in.Class == transport.Data {
		w.data++
	}
	w.seen = append(w.seen, show(in.ID, in.Class, in.Head, in.Payload))
	if len(w.seen)%5 == 0 {
		in.Buf.Retain()
		w.kept = append(w.kept, kept{in.Buf, in.Head, string(in.Head)})
	}
	if len(w.seen) == w.admitAt {
		w.ep.Admit(maxFrame, true)
	}
	if in.Class == transport.Data && w.data == w.quiesceAt {
		w.ep.Quiesce()
	}
}

func show(id uint8, c transport.Class, head, payload []byte) string {
	return fmt.Sprintf("%d/%d %x %d %x", id, c, head, len(payload), payload)
}

// reference takes the same bytes as the endpoint does, whole and in the plainest way.
func reference(data []byte, w *witness) (seen []string, position int, bad bool) {
	admitted, quiesced, n := w.admitAt == 0, false, 0
	for len(data) >= headerLen {
		h := parseHeader(data)
		limit := transport.HelloMax
		if admitted {
			limit = maxFrame
		}
		known := h.id != 0 || h.size == 0 && h.control()
		if h.flags > 3 || int(h.head) > int(h.size) || h.head > maxHead || int(h.size) > limit || !admitted && !h.control() || !known {
			return seen, position, true
		}
		if len(data) < h.len() {
			break
		}
		body := data[headerLen:h.len()]
		data = data[h.len():]
		class := transport.Data
		if h.control() {
			class = transport.Control
		}
		if quiesced && class == transport.Data {
			continue
		}
		if h.id != 0 {
			seen = append(seen, show(h.id, class, body[:h.head], body[h.head:]))
			if len(seen) == w.admitAt {
				admitted = true
			}
			if class == transport.Data {
				position++
				if n++; n == w.quiesceAt {
					quiesced = true
				}
			}
		}
		if h.ack != 0 && !quiesced {
			return seen, position, true // nothing was ever sent to acknowledge
		}
	}
	return seen, position, false
}

// testEnv is surroundings in which no time passes.
func testEnv() transport.Env {
	return transport.Env{
		Now: func() time.Duration { return 1 }, Rand: func() uint64 { return 1 }, Log: slog.New(slog.DiscardHandler)}
}

func newTestIface(t testing.TB) *iface {
	t.Helper()
	return openWith(t, Options{})
}

func openWith(t testing.TB, o Options) *iface {
	t.Helper()
	f, err := New(o).Open(testEnv())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f.(*iface)
}

func play(t *testing.T, f *iface, data []byte, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 9))
	most := []int{1, 7, 100, 5000, 1 << 20}[rng.IntN(5)]
	if len(data) > 1<<16 {
		most = max(most, 5000)
	}
	w := &witness{quiesceAt: rng.IntN(6), admitAt: rng.IntN(2)}
	ep := &endpoint{f: f, sink: w, state: up, lim: limits{frame: transport.HelloMax}}
	ep.setWindow(transport.Options{})
	if w.admitAt == 0 {
		ep.Admit(maxFrame, true)
	}
	w.ep = ep
	tp := &tape{data: data, rng: rng, most: most}
	ep.stream = tp
	seen, position, bad := reference(data, w)
	for ep.stream != nil {
		ep.receive()
	}
	if bad != errors.Is(w.err, transport.ErrProtocol) && ep.state != quiesced {
		t.Fatalf("seed %d: OnError(%v), a protocol error should be %v", seed, w.err, bad)
	}
	if len(seen) != len(w.seen) || ep.Position() != uint64(position) {
		t.Fatalf("seed %d: %d frames taken, position %d, want %d and %d", seed, len(w.seen), ep.Position(), len(seen), position)
	}
	for i := range seen {
		if seen[i] != w.seen[i] {
			t.Fatalf("seed %d: frame %d differs", seed, i)
		}
	}
	for _, k := range w.kept {
		if string(k.p) != k.was {
			t.Fatalf("seed %d: a kept buffer changed", seed)
		}
		k.buf.Release()
	}
	ep.Close()
	f.sweep()
	clear(f.dirty)
	f.dirty = f.dirty[:0]
}

// frames makes a stream of frames, now and then with a mistake.
func frames(rng *rand.Rand) []byte {
	var out []byte
	for range rng.IntN(30) {
		size := []int{0, 1, 40, 900, 5000, 70_000, 300_000}[rng.IntN(1+rng.IntN(7))]
		h := header{size: uint32(size), id: uint8(1 + rng.IntN(255)), head: uint16(min(size, rng.IntN(40)))}
		if len(out) == 0 || rng.IntN(4) == 0 {
			h.flags |= flagControl
			h.size = min(h.size, transport.HelloMax)
			h.head = uint16(min(uint32(h.head), h.size))
		}
		switch rng.IntN(200) {
		case 0:
			h.ack = 1 + rng.Uint64N(3)
		case 1:
			h.flags |= 64
		case 2:
			h.size = maxFrame + 1
		case 3:
			h.id = 0
		case 4:
			h.head = uint16(h.size) + 1
		}
		var b [headerLen]byte
		h.emit(b[:])
		out = append(out, b[:]...)
		for range h.size {
			out = append(out, byte(rng.Uint32()))
		}
	}
	return out[:len(out)-min(len(out), rng.IntN(2)*rng.IntN(50))]
}

func TestReceiveRandom(t *testing.T) {
	f := newTestIface(t)
	for seed := range Seeds(400) {
		play(t, f, frames(rand.New(rand.NewPCG(seed, 1))), seed)
	}
}

func FuzzReceive(f *testing.F) {
	for seed := range uint64(30) {
		if data := frames(rand.New(rand.NewPCG(seed, 2))); len(data) < 1<<12 {
			f.Add(data, seed)
		}
	}
	for _, s := range strangers {
		f.Add([]byte(s.says), uint64(1))
	}
	iface := newTestIface(f)
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) { play(t, iface, data, seed) })
}

func FuzzHeader(f *testing.F) {
	f.Add(make([]byte, headerLen))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < headerLen {
			return
		}
		var again [headerLen]byte
		parseHeader(b).emit(again[:])
		if !bytes.Equal(again[:], b[:headerLen]) {
			t.Errorf("parsed and emitted again: % x, was % x", again, b[:headerLen])
		}
	})
}

// TestHeaderBytes holds the layout that docs/wire.md describes.
func TestHeaderBytes(t *testing.T) {
	for _, c := range []struct {
		h    header
		want string
	}{
		{header{size: 0x01020304, id: 5, flags: flagAckNow, head: 0x0607, ack: 0x08090a0b0c0d0e0f}, "04030201 05 02 0706 0f0e0d0c0b0a0908"},
		{header{flags: flagControl, ack: 9}, "00000000 00 01 0000 0900000000000000"},
		{header{size: 24, id: 0xff, flags: flagControl | flagAckNow, head: 8}, "18000000 ff 03 0800 0000000000000000"},
	} {
		var b [headerLen]byte
		c.h.emit(b[:])
		if got := hex.EncodeToString(b[:]); got != strings.ReplaceAll(c.want, " ", "") {
			t.Errorf("%+v is %s, want %s", c.h, got, c.want)
		}
	}
}

var strangers = []struct{ says, want string }{
	{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "an HTTP request; is it a braid peer?"},
	{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03abcdefgh", "a TLS hello"},
	{"SSH-2.0-OpenSSH_9.2p1\r\n", "an SSH banner"},
	{"\x01\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00x", "data frame before the handshake"},
	{"\x01\x04\x00\x00\x07\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00x", "first frame of 1025 bytes"},
	{"\x01\x00\x00\x00\x07\x01\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00x", "head of 2 bytes in a frame of 1"},
	{"\x01\x00\x00\x00\x07\xf0\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00x", "unknown flags 0xf0"},
	{"\x01\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00x", "frame id 0 with a body"},
}

func TestStrangers(t *testing.T) {
	f := newTestIface(t)
	for _, s := range strangers {
		w := &witness{}
		ep := &endpoint{f: f, sink: w, state: up, lim: limits{frame: transport.HelloMax}, remote: "10.0.0.9:1234"}
		ep.stream = &tape{data: []byte(s.says), rng: rand.New(rand.NewPCG(1, 1)), most: 1000}
		for ep.stream != nil {
			ep.receive()
		}
		if !errors.Is(w.err, transport.ErrProtocol) || !strings.Contains(w.err.Error(), s.want) || !strings.Contains(w.err.Error(), "10.0.0.9:1234") {
			t.Errorf("%q: %v, want a protocol error that says %q", s.says, w.err, s.want)
		}
		if len(w.seen) > 0 || ep.Position() != 0 {
			t.Errorf("%q: something was taken", s.says)
		}
	}
}
