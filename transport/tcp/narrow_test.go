package tcp

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/openbraid/braid/internal/poll"
	"github.com/openbraid/braid/transport"
)

// script is a stream that does what a test says: reads come in the given pieces, then ErrAgain.
type script struct {
	tape
	reads  [][]byte
	failed error // of writes
	writes int
}

func (s *script) Read(p []byte) (int, error) {
	if len(s.reads) == 0 {
		return 0, transport.ErrAgain
	}
	n := copy(p, s.reads[0])
	if s.reads[0] = s.reads[0][n:]; len(s.reads[0]) == 0 {
		s.reads = s.reads[1:]
	}
	return n, nil
}

func (s *script) Writev(p [][]byte) (int, error) {
	s.writes++
	if s.failed != nil {
		return 0, s.failed
	}
	return s.tape.Writev(p)
}

func frameBytes(id uint8, size int, fill byte) []byte {
	b := make([]byte, headerLen+size)
	header{size: uint32(size), id: id}.emit(b)
	for i := range size {
		b[headerLen+i] = fill
	}
	return b
}

// scripted is an admitted endpoint over a script, adopted by an interface.
func scripted(t *testing.T, s *script, sink transport.Sink) (*iface, *endpoint) {
	t.Helper()
	f := newTestIface(t)
	ep := &endpoint{f: f, sink: sink, state: up, stream: s}
	ep.setWindow(transport.Options{})
	ep.poll.muted = true // it has no descriptor
	f.muted = append(f.muted, ep)
	ep.Admit(maxFrame, true)
	f.eps = append(f.eps, ep)
	return f, ep
}

// placer gives memory that the test can look at.
type placer struct {
	witness
	mem []byte
}

func (p *placer) Place(_ uint8, _ []byte, size int) []byte {
	p.mem = make([]byte, size)
	return p.mem
}

// TestQuiesceInPlace: a frame that was being read to its place when the endpoint was quiesced is not taken, its memory not
// written any more; control frames behind it are read.
func TestQuiesceInPlace(t *testing.T) {
	whole := frameBytes(7, 100_000, 1)
	after := append(whole[40_000:], frameBytes(8, 10, 2)...)
	control := make([]byte, headerLen)
	header{id: 9, flags: flagControl}.emit(control)
	after = append(after, control...)
	s := &script{reads: [][]byte{whole[:20_000], whole[20_000:40_000]}}
	w := &placer{}
	f, ep := scripted(t, s, w)
	for range 3 {
		f.Progress()
	}
	if w.mem == nil || w.mem[30_000] != 1 {
		t.Fatalf("the frame is not being placed")
	}
	ep.Quiesce()
	clear(w.mem)
	s.reads = [][]byte{after}
	for range 5 {
		f.Progress()
	}
	if len(w.seen) != 1 || w.seen[0] != show(9, transport.Control, nil, nil) || ep.Position() != 0 {
		t.Errorf("seen after Quiesce: %.60q, position %d", w.seen, ep.Position())
	}
	for _, b := range w.mem {
		if b != 0 {
			t.Fatalf("memory of Place was written after Quiesce")
		}
	}
}

// TestKeptBuffers: a sink that keeps everything sees it unchanged, whatever sizes come.
func TestKeptBuffers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var all []byte
	for i := range 200 {
		all = append(all, frameBytes(1, rng.IntN(70_000), byte(i))...)
	}
	k := &keeper{}
	tp := &tape{data: all, rng: rng, most: 100_000}
	f := newTestIface(t)
	poison(f.pool)
	ep := &endpoint{f: f, sink: k, state: up, stream: tp}
	ep.Admit(maxFrame, true)
	for ep.stream != nil {
		ep.receive()
	}
	if len(k.kept) != 200 {
		t.Fatalf("%d frames", len(k.kept))
	}
	for i, p := range k.kept {
		for _, b := range p {
			if b != byte(i) {
				t.Fatalf("frame %d changed", i)
			}
		}
	}
}

type keeper struct {
	witness
	kept [][]byte
}

func (k *keeper) Place(uint8, []byte, int) []byte { return nil }
func (k *keeper) Frame(in *transport.Incoming) {
	if len(k.kept)%4 != 3 { // now and then one that isn't kept
		in.Buf.Retain()
		k.kept = append(k.kept, in.Payload)
		return
	}
	k.kept = append(k.kept, nil)
}

// TestReadsBeforeTelling: writing fails, but the peer had said more: it is taken first, turn by turn, then OnError comes,
// though reading never fails.
func TestReadsBeforeTelling(t *testing.T) {
	s := &script{failed: errors.New("broken pipe")}
	w := &witness{}
	f, ep := scripted(t, s, w)
	ep.Post(&transport.Frame{ID: 1})
	f.Flush()
	for range 3 {
		s.reads = append(s.reads, frameBytes(5, 100, 0))
	}
	if f.Deadline() != f.env.Now() {
		t.Errorf("Deadline %v: the engine must not sleep now", f.Deadline())
	}
	for i := 0; i < 10 && w.err == nil; i++ {
		f.Progress()
	}
	if !errors.Is(w.err, s.failed) || !errors.Is(w.err, transport.ErrReset) {
		t.Errorf("OnError(%v)", w.err)
	}
	if ep.Position() != 3 || s.writes != 1 {
		t.Errorf("position %d, want 3; %d writes", ep.Position(), s.writes)
	}
}

// sender counts what ends.
type sender struct {
	witness
	sent, executed, rooms int
}

func (s *sender) Sent(uint64)            { s.sent++ }
func (s *sender) Executed(uint64, error) { s.executed++ }
func (s *sender) Room()                  { s.rooms++ }

// TestLetGo: without retention a zero-copy payload is the poster's again when the system has it; with, only when
// the peer has accepted it.
func TestLetGo(t *testing.T) {
	for _, retain := range []bool{false, true} {
		snd := &sender{}
		f, ep := scripted(t, &script{}, snd)
		ep.Admit(maxFrame, retain)
		ep.Post(&transport.Frame{ID: 1, Payload: make([]byte, 100_000), ZeroCopy: true, Done: snd})
		f.Flush()
		if snd.sent != 0 {
			t.Errorf("Sent from inside Flush")
		}
		if !retain && f.Deadline() == 0 {
			t.Errorf("Sent is owed, but the engine may sleep")
		}
		f.Progress()
		if want := map[bool]int{false: 1, true: 0}[retain]; snd.sent != want || snd.executed != 0 {
			t.Errorf("retain %v: sent %d, executed %d", retain, snd.sent, snd.executed)
		}
	}
}

// TestUnwritten: a frame can't be acknowledged before it is on its way.
func TestUnwritten(t *testing.T) {
	s, snd := &script{}, &sender{}
	f, ep := scripted(t, s, snd)
	ep.Post(&transport.Frame{ID: 1, Done: snd}) // no Flush
	ack := make([]byte, headerLen)
	header{flags: flagControl, ack: 1}.emit(ack)
	s.reads = [][]byte{ack}
	f.Progress()
	if !errors.Is(snd.err, transport.ErrPosition) || ep.led.Len() != 0 && snd.executed == 0 {
		t.Errorf("OnError(%v), %d executed", snd.err, snd.executed)
	}
}

// TestCancelStopsWatching: a canceled endpoint must not wake up the worker because there is room in the socket.
func TestCancelStopsWatching(t *testing.T) {
	a, _ := parties(t)
	ep := a.ep.(*endpoint)
	ep.setWindow(transport.Options{Window: 1 << 30})
	for !ep.out.blocked {
		if ep.Post(&transport.Frame{ID: 1, Payload: make([]byte, maxFrame), Done: a}) == transport.NoResource {
			t.Fatal("the system takes a whole window")
		}
		a.f.Flush()
	}
	if ep.poll.interest&poll.Writable == 0 {
		t.Errorf("blocked, but not watched for writing")
	}
	ep.Cancel(errors.New("enough"))
	if ep.poll.interest&poll.Writable != 0 || a.f.writers != 0 {
		t.Errorf("canceled, but watched for writing")
	}
}

// TestStarvedAsks: who waits for room doesn't wait for a delayed acknowledgement (the clock stands still here).
func TestStarvedAsks(t *testing.T) {
	a, b := parties(t)
	ep := a.ep.(*endpoint)
	ep.setWindow(transport.Options{Window: 1000})
	for ep.Post(&transport.Frame{ID: 1, Payload: make([]byte, 100), Done: a}) != transport.NoResource {
	}
	wait(t, a, b, "Room", func() bool { return !ep.starved })
}
