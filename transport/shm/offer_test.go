//go:build linux

package shm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm/cma"
	"github.com/openbraid/braid/transport/shm/ring"
)

// reader is a sink that keeps what it gets, and notes how its own frames end.
type reader struct {
	plain
	retain    bool
	bodies    [][]byte
	controls  int
	sent      int
	executed  int
	lost      int
	places    [][]byte
	wantPlace bool
}

func (r *reader) Place(_ uint8, _ []byte, size int) []byte {
	if !r.wantPlace {
		return nil
	}
	r.places = append(r.places, make([]byte, size))
	return r.places[len(r.places)-1]
}

func (r *reader) Frame(in *transport.Incoming) {
	if in.Class == transport.Control {
		r.controls++
		return
	}
	r.bodies = append(r.bodies, append(append([]byte(nil), in.Head...), in.Payload...))
	if in.Placed && &in.Payload[0] != &r.places[len(r.places)-1][0] {
		panic("not where it was placed")
	}
}

func (r *reader) Sent(uint64) { r.sent++ }
func (r *reader) Executed(_ uint64, err error) {
	if r.executed++; err != nil {
		r.lost++
	}
}

func (r *reader) Accepted(ep transport.Endpoint) (transport.Sink, transport.Options) {
	r.ep, r.up = ep, true
	ep.Admit(maxFrame, r.retain)
	return r, transport.Options{Window: 1 << 30}
}

// readers are two ends of a connection whose frames are read from where they stand, both in this process.
type readers struct {
	a, b           *iface
	client, server *reader
	log            strings.Builder
}

func newReaders(t *testing.T, o Options, retain bool) *readers {
	t.Helper()
	tr := New(o)
	r := &readers{a: openedOn(t, tr), b: openedOn(t, tr), client: &reader{retain: retain}, server: &reader{retain: retain}}
	r.b.env.Log = slog.New(slog.NewTextHandler(&r.log, nil))
	l, err := r.b.Listen("shm:0", r.server)
	if err != nil {
		t.Fatal(err)
	}
	if r.client.ep, err = r.a.Dial("", l.Addr(), transport.Options{Window: 1 << 30}, r.client); err != nil {
		t.Fatal(err)
	}
	r.until(t, "a connection", func() bool { return r.client.up && r.server.up })
	r.client.ep.Admit(maxFrame, retain)
	t.Cleanup(func() { r.a.Close(); r.b.Close() })
	if o.Read != Always {
		return r
	}
	r.until(t, "the other's memory", func() bool { return r.sender().send.large.IsOpen() && r.receiver().send.large.IsOpen() })
	return r
}

func (r *readers) sender() *endpoint   { return r.client.ep.(*endpoint) }
func (r *readers) receiver() *endpoint { return r.server.ep.(*endpoint) }

func (r *readers) until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	if !turns(10_000, cond, r.a, r.b) {
		t.Fatalf("gave up: %s; %v, %v", what, r.client.err, r.server.err)
	}
}

func (r *readers) post(t *testing.T, payload []byte) {
	t.Helper()
	f := transport.Frame{ID: 1, Head: []byte("head"), Payload: payload, ZeroCopy: len(payload) >= zeroCopy, Done: r.client}
	if got := r.client.ep.Post(&f); got == transport.Failed || got == transport.NoResource {
		t.Fatal(got)
	}
}

var tiny = Options{Slots: 8, Data: 128 << 10, Read: Always}

func random(n int) []byte {
	b := make([]byte, n)
	for i := 0; i+8 <= n; i += 8 {
		binary.LittleEndian.PutUint64(b[i:], rand.Uint64())
	}
	return b
}

// same says whether frames have arrived as they were posted.
func same(t *testing.T, got, want [][]byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d frames arrived, want %d", len(got), len(want))
	}
	for i := range want {
		if !bytes.Equal(got[i], append([]byte("head"), want[i]...)) {
			t.Fatalf("frame %d of %d bytes is not what was posted", i, len(want[i]))
		}
	}
}

// TestReads: large payloads are read from where they stand, to where they belong, and take no room in the ring.
func TestReads(t *testing.T) {
	for _, place := range []bool{false, true} {
		r := newReaders(t, tiny, true)
		r.server.wantPlace = place
		var want [][]byte
		for _, n := range []int{cma.Least, cma.Least - 1, 1 << 20, 10, 40_000} {
			want = append(want, random(n))
			r.post(t, want[len(want)-1])
		}
		r.until(t, "frames", func() bool { return len(r.server.bodies) == len(want) && r.client.executed == len(want) })
		same(t, r.server.bodies, want)
		if n := r.receiver().recv.fetched; n != 3 || r.client.sent != 4 || r.client.lost != 0 {
			t.Errorf("read %d, want 3; sent %d, want 4; lost %d", n, r.client.sent, r.client.lost)
		}
	}
}

// TestMeasured: by default frames are read now and then, to see how long that takes.
func TestMeasured(t *testing.T) {
	if cma.Filtered() != nil {
		t.Skip(cma.Filtered())
	}
	r := newReaders(t, Options{}, true)
	b := random(64 << 10)
	for range 400 {
		r.post(t, b)
		r.until(t, "frame", func() bool {
			return r.client.executed == len(r.server.bodies) && r.sender().send.control.Frames() == 0 && r.sender().led.Len() == 0
		})
	}
	if n := r.receiver().recv.fetched; n == 0 {
		t.Error("none of 400 was tried")
	}
	n := newReaders(t, Options{Read: Never}, true)
	for range 200 {
		n.post(t, b)
		n.until(t, "frame", func() bool { return n.sender().led.Len() == 0 })
	}
	if n := n.receiver().recv.fetched; n != 0 {
		t.Errorf("%d were read, who asked for that?", n)
	}
}

// TestDetachOffered: who wants the memory back that is offered has it at once, and what arrives is what it was.
func TestDetachOffered(t *testing.T) {
	r := newReaders(t, tiny, true)
	var want [][]byte
	for range 3 {
		b := random(50_000)
		want = append(want, bytes.Clone(b))
		r.post(t, b)
		r.a.Flush()
		r.client.ep.Detach(func(transport.Completer) bool { return true })
		clear(b)
	}
	r.until(t, "frames", func() bool { return len(r.server.bodies) == 3 })
	same(t, r.server.bodies, want)
	if n := r.receiver().recv.fetched; n != 3 || r.client.sent != 0 {
		t.Errorf("read %d of 3, sent %d", n, r.client.sent)
	}
}

// late changes what a reader finds while he reads: as if the sender did something just then.
type late struct {
	*readers
	then func()
}

func (l *late) Place(_ uint8, _ []byte, size int) []byte {
	l.then()
	return nil
}
func (l *late) Frame(in *transport.Incoming)         { l.server.Frame(in) }
func (l *late) Connected()                           {}
func (l *late) Room()                                {}
func (l *late) OnError(err error) transport.Decision { return l.server.OnError(err) }

// TestChangedWhileRead: a payload whose owner takes it back, or gives the connection up, while it is read, is never handed over as it isn't.
func TestChangedWhileRead(t *testing.T) {
	r := newReaders(t, tiny, true)
	b := random(50_000)
	want := bytes.Clone(b)
	l := &late{readers: r}
	r.receiver().sink = l
	l.then = func() { // between the look at the place and the copy
		r.client.ep.Detach(func(transport.Completer) bool { return true })
		clear(b)
	}
	r.post(t, b)
	r.until(t, "the frame", func() bool { return len(r.server.bodies) == 1 })
	same(t, r.server.bodies, [][]byte{want})

	l.then = func() {
		r.client.ep.Cancel(transport.ErrClosed)
		clear(b)
	}
	b = random(50_000)
	r.post(t, b)
	turns(1000, never, r.a, r.b)
	if len(r.server.bodies) != 1 || r.client.lost != 1 {
		t.Errorf("%d frames arrived, %d were lost", len(r.server.bodies), r.client.lost)
	}
	r.client.ep.Close()
	r.until(t, "the end", func() bool { return r.server.err != nil })
	if !errors.Is(r.server.err, transport.ErrPeerClosed) || r.server.ep.Position() != 1 {
		t.Errorf("%v, position %d", r.server.err, r.server.ep.Position())
	}
}

// TestGivenUpOffered: what was offered and not read when the sender gave the connection up is never taken, and is handed out by a purge.
func TestGivenUpOffered(t *testing.T) {
	for name, end := range map[string]func(r *readers){
		"quiesce": func(r *readers) { r.client.ep.Quiesce() }, "cancel": func(r *readers) { r.client.ep.Cancel(transport.ErrClosed) }, "close": func(r *readers) { r.client.ep.Close() },
	} {
		r := newReaders(t, tiny, true)
		b := random(100_000)
		r.post(t, b)
		r.a.Flush()
		end(r)
		clear(b)
		if turns(1000, never, r.a, r.b); len(r.server.bodies) > 0 || r.server.ep.Position() != 0 {
			t.Errorf("%s: %d frames arrived that nobody can have sent", name, len(r.server.bodies))
		}
		if name != "quiesce" {
			continue
		}
		handed := 0
		if _, err := r.client.ep.PurgeOutstanding(0, func(f *transport.Frame) error { handed++; return nil }); err != nil || handed != 1 {
			t.Errorf("purge: %d handed out, %v", handed, err)
		}
	}
}

// TestGoesBack: from the moment at which the peer's memory can't be read any more everything comes through the ring: each frame once, whole, in order, with one line
// in the log, with and without retention; frames of the other direction and control frames go on.
func TestGoesBack(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 2))
		r := newReaders(t, tiny, seed%2 == 0)
		r.server.wantPlace = seed%3 == 0
		var want, posted [][]byte
		controls := 0
		at := rng.IntN(25)
		for i := range 30 {
			n := rng.IntN(100)
			if rng.IntN(2) == 0 {
				n = cma.Least + rng.IntN(100_000)
			}
			want = append(want, random(n))
			posted = append(posted, bytes.Clone(want[i]))
			r.post(t, posted[i])
			if rng.IntN(4) == 0 {
				controls++
				r.client.ep.Post(&transport.Frame{ID: 2, Class: transport.Control, Payload: random(rng.IntN(60_000))})
			}
			if rng.IntN(5) == 0 {
				r.client.ep.Detach(func(transport.Completer) bool { return true })
				for _, b := range posted {
					clear(b)
				}
			}
			if i == at {
				r.a.mark.Bytes[0]++ // the peer is not to be recognized from here on
			}
			turns(rng.IntN(3), never, r.a, r.b)
			if r.server.err != nil || r.client.err != nil {
				t.Fatalf("seed %d: %v, %v", seed, r.server.err, r.client.err)
			}
		}
		r.until(t, fmt.Sprintf("seed %d", seed), func() bool { return r.client.executed == len(want) && r.server.controls == controls })
		same(t, r.server.bodies, want)
		if n := strings.Count(r.log.String(), "\n"); n > 1 || r.client.lost > 0 {
			t.Errorf("seed %d: %d lines in the log, %d frames lost: %s", seed, n, r.client.lost, r.log.String())
		}
		if r.client.ep.Close(); turns(3, never, r.a, r.b) {
			t.Fatal("never")
		}
	}
}

// TestOffersOfGarbage: whatever stands in a slot that offers a payload costs the connection, or the reading.
func TestOffersOfGarbage(t *testing.T) {
	for name, change := range map[string]func(mem []byte, h *ring.Header){
		"a place that is nowhere":       func(mem []byte, _ *ring.Header) { binary.LittleEndian.PutUint64(mem, 1<<40) },
		"no size":                       func(mem []byte, _ *ring.Header) { clear(mem[8:16]) },
		"a size beyond what was agreed": func(mem []byte, _ *ring.Header) { binary.LittleEndian.PutUint64(mem[8:], maxFrame) },
		"a size beyond all":             func(mem []byte, _ *ring.Header) { binary.LittleEndian.PutUint64(mem[8:], ^uint64(0)) },
		"a head that is too long":       func(_ []byte, h *ring.Header) { h.Head = awayHead + 1 },
		"a piece of another size":       func(_ []byte, h *ring.Header) { h.Size++ },
		"a control frame":               func(_ []byte, h *ring.Header) { h.Flags |= flagControl },
		"a further piece":               func(_ []byte, h *ring.Header) { h.Flags |= flagMore },
	} {
		r := newReaders(t, tiny, true)
		h := ring.Header{ID: 1, Flags: flagAway, Head: 4, Size: awayLen + 4}
		body := make([]byte, ring.Inline)
		b := random(40_000)
		binary.LittleEndian.PutUint64(body, cma.Address(b))
		binary.LittleEndian.PutUint64(body[8:], uint64(len(b)))
		change(body, &h)
		dst, ok, err := r.sender().out.Reserve(h.Len())
		if !ok || err != nil {
			t.Fatal(err)
		}
		copy(dst, body)
		r.sender().out.Publish(h)
		turns(300, never, r.a, r.b)
		switch {
		case len(r.server.bodies) > 0:
			t.Errorf("%s: it is taken", name)
		case name == "a place that is nowhere":
			if r.server.err != nil {
				t.Errorf("%s: %v", name, r.server.err)
			}
		case !errors.Is(r.server.err, transport.ErrProtocol):
			t.Errorf("%s: %v", name, r.server.err)
		}
	}
}
