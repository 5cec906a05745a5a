package braid_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/wire"
)

// TestBadKeyBytes: whatever is damaged in a packed key is noticed when it is parsed.
func TestBadKeyBytes(t *testing.T) {
	n, err := braid.Open(braid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	mem, err := n.Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	good := mem.Key(braid.Write).Bytes()
	refuse := func(b []byte) {
		t.Helper()
		var op *braid.OpError
		if _, err := braid.ParseRKey(b); !errors.Is(err, braid.ErrKey) || !errors.As(err, &op) {
			t.Errorf("% x: %v, want %v", b, err, braid.ErrKey)
		}
	}
	for i := range good {
		for _, flip := range []byte{1, 0x80, 0xff} {
			bad := bytes.Clone(good)
			bad[i] ^= flip
			refuse(bad)
		}
		refuse(good[:i])
		refuse(good[i:][:len(good)-i-1])
	}
	refuse(nil)
	refuse(append(bytes.Clone(good), 0))
	refuse(append(bytes.Clone(good), good...))
	if k, err := braid.ParseRKey(good); err != nil || k.Size() != 100 || k != mem.Key(braid.Write) {
		t.Errorf("the good one: %v, %v", k, err)
	}
}

// TestKeyNamesWhatItGrants: whoever has a key's bytes knows what it is for; rights that there are not are none.
func TestKeyNamesWhatItGrants(t *testing.T) {
	n := mustOpen(t, braid.Options{})
	mem, err := n.Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	for rights, text := range map[braid.Rights]string{0: "---", braid.Read: "r--", braid.Read | braid.Atomic: "r-a", braid.Write | braid.Atomic | 0x30: "-wa"} {
		k, err := braid.ParseRKey(mem.Key(rights).Bytes())
		if err != nil || k.Rights() != rights&(braid.Read|braid.Write|braid.Atomic) || k.Size() != 100 || k.Rights().String() != text || !strings.Contains(k.String(), text) {
			t.Errorf("%v, %v; granted were %v", k, err, text)
		}
	}
}

// target is memory of the other side, full of a byte that no test writes.
func target(t *testing.T, n *braid.Node, size int) *braid.Memory {
	t.Helper()
	mem, err := n.Register(bytes.Repeat([]byte{0xa5}, size))
	if err != nil {
		t.Fatal(err)
	}
	return mem
}

// untouched fails the test if something was written. w makes the race detector see what a flush says.
func untouched(t *testing.T, w *braid.Worker, mem *braid.Memory) {
	t.Helper()
	w.Progress()
	if bytes.Count(mem.Bytes(), []byte{0xa5}) != len(mem.Bytes()) {
		t.Error("something was written")
	}
}

// TestPutRefusedHere: what this side can know is wrong is refused at once, and nothing is sent.
func TestPutRefusedHere(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	const size = 1000
	mem, own := target(t, p.bn, size), target(t, p.an, size)
	key := mem.Key(braid.Write)
	src := make([]byte, size+1)
	for _, c := range []struct {
		name   string
		src    []byte
		key    braid.RKey
		offset uint64
	}{
		{"one too long", src, key, 0},
		{"one beyond", src[:1], key, size},
		{"last byte beyond", src[:10], key, size - 9},
		{"empty, one beyond", nil, key, size + 1},
		{"offset overflows", src[:2], key, math.MaxUint64},
		{"offset and length overflow to inside", src[:10], key, math.MaxUint64 - 4},
		{"no right", src[:1], mem.Key(0), 0},
		{"right to read", src[:1], mem.Key(braid.Read | braid.Atomic), 0},
		{"own key", src[:1], own.Key(braid.Write), 0},
		{"no key", src[:1], braid.RKey{}, 0},
		{"no key, nothing to write", nil, braid.RKey{}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, err := range map[string]error{"Put": p.a.Put(ctx, c.src, c.key, c.offset), "PostPut": p.a.PostPut(c.src, c.key, c.offset).Wait(ctx)} {
				var op *braid.OpError
				if !errors.Is(err, braid.ErrAccess) || !errors.As(err, &op) || op.Op != "put" || op.Fate != braid.NotExecuted || op.Peer == "" {
					t.Errorf("%s: %v, want %v, not executed", name, err, braid.ErrAccess)
				}
			}
		})
	}
	if p.a.Owns(own.Key(braid.Write)) || !p.a.Owns(key) {
		t.Error("Owns does not know whose keys these are")
	}
	if err := p.a.Put(ctx, nil, key, size); err != nil {
		t.Errorf("an empty put at the very end: %v", err)
	}
	if err := p.a.Flush(ctx); err != nil {
		t.Errorf("Flush: %v", err)
	}
	if n := p.a.Stats().Puts; n != 1 {
		t.Errorf("%d puts were sent, want 1", n)
	}
	untouched(t, p.bw, mem)
	untouched(t, p.aw, own)
}

// forge is a key with a right checksum, changed by f.
func forge(t *testing.T, k braid.RKey, f func(*wire.RKey)) braid.RKey {
	t.Helper()
	w, err := wire.DecodeRKey(k.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	f(&w)
	forged, err := braid.ParseRKey(w.AppendTo(nil))
	if err != nil {
		t.Fatal(err)
	}
	return forged
}

// TestPutRefusedThere: what only the target can know is refused by it: the flush says so once, an operation that still
// waits says so itself, nothing is written, and the endpoint is as good as before.
func TestPutRefusedThere(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	const size = 2 << 20
	mem, other, gone := target(t, p.bn, size), target(t, p.bn, 10), target(t, p.bn, size)
	key, goneKey := mem.Key(braid.Write), gone.Key(braid.Write)
	if err := gone.Deregister(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		key  braid.RKey
	}{
		{"wrong secret", forge(t, key, func(k *wire.RKey) { k.Secret++ })},
		{"no secret", forge(t, key, func(k *wire.RKey) { k.Secret = 0 })},
		{"index of another region", forge(t, key, func(k *wire.RKey) { k.Index = forgeIndex(t, other) })},
		{"index of no region", forge(t, key, func(k *wire.RKey) { k.Index = 1000 })},
		{"last index", forge(t, key, func(k *wire.RKey) { k.Index = math.MaxUint32 })},
		{"more rights than given", forge(t, mem.Key(braid.Read), func(k *wire.RKey) { k.Rights |= wire.Write })},
		{"a larger size", forge(t, other.Key(braid.Write), func(k *wire.RKey) { k.Size = size })},
		{"deregistered", goneKey},
	} {
		for _, length := range []int{100, size} { // one frame that is copied, many that are not
			src := make([]byte, length)
			err := p.a.Put(ctx, src, c.key, 0)
			if err == nil && length == size {
				t.Errorf("%s: a put of %d bytes waits for its frames, and was not told", c.name, length)
			}
			if err != nil && !errors.Is(err, braid.ErrAccess) {
				t.Errorf("%s, %d bytes: %v, want %v", c.name, length, err, braid.ErrAccess)
			}
			var op *braid.OpError
			if err := p.a.Flush(ctx); !errors.Is(err, braid.ErrAccess) || !errors.As(err, &op) || op.Fate != braid.NotExecuted {
				t.Errorf("%s, %d bytes: Flush: %v, want %v, not executed", c.name, length, err, braid.ErrAccess)
			}
			if err := p.a.Flush(ctx); err != nil {
				t.Errorf("%s, %d bytes: it is told once, second Flush: %v", c.name, length, err)
			}
		}
	}
	for _, m := range []*braid.Memory{mem, other, gone} {
		untouched(t, p.bw, m)
	}
	if err := p.a.Put(ctx, []byte("fine"), key, size-4); err != nil {
		t.Error(err)
	}
	if err := p.a.Flush(ctx); err != nil {
		t.Error(err)
	}
	if p.b.Stats().Refused == 0 {
		t.Error("refusals were not counted")
	}
}

func forgeIndex(t *testing.T, m *braid.Memory) uint32 {
	t.Helper()
	k, err := wire.DecodeRKey(m.Key(braid.Write).Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return k.Index
}

// TestDeregisterUnderWrites: E15. Access ends at once, also for puts that stream in meanwhile.
func TestDeregisterUnderWrites(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	for round := range 20 {
		mem := target(t, p.bn, 1<<20)
		key := mem.Key(braid.Write)
		src := make([]byte, 1<<20)
		var posted []braid.Request
		for range 8 {
			posted = append(posted, p.a.PostPut(src, key, 0))
		}
		if !eventually(func() bool { return mem.Deregister() == nil }) {
			t.Fatal("busy for ever")
		}
		seen := bytes.Clone(mem.Bytes()) // from here on nobody writes: the race detector looks too
		for _, r := range posted {
			if err := r.Wait(ctx); err != nil && !errors.Is(err, braid.ErrAccess) {
				t.Fatal(err)
			}
		}
		if err := p.a.Flush(ctx); err != nil && !errors.Is(err, braid.ErrAccess) {
			t.Fatal(err)
		}
		if !bytes.Equal(seen, mem.Bytes()) {
			t.Fatalf("round %d: written after Deregister said that it is over", round)
		}
	}
}

// halfPut is a peer of its own whose put stands still in the middle, and memory that it was granted: Deregister says so.
func halfPut(t *testing.T, p *pair) (mem *braid.Memory, rest func(), cut func()) {
	t.Helper()
	payload := make([]byte, 200<<10)
	for wait := 5 * time.Millisecond; wait < patience; wait *= 2 { // nothing tells when half a frame has arrived
		mem := target(t, p.bn, len(payload))
		k, err := wire.DecodeRKey(mem.Key(braid.Write).Bytes())
		if err != nil {
			t.Fatal(err)
		}
		put := raw(wire.IDPut, 0, wire.Put{Index: k.Index, Secret: k.Secret}.AppendTo(nil), payload)
		s := stranger(t, p.ln.Addr(), rawPreface(), rawHello(hello()))
		if id, _ := answer(t, s); id != wire.IDHelloAck {
			t.Fatalf("the answer is %s", wire.Name(id))
		}
		s.Write(put[:len(put)/2])
		time.Sleep(wait)
		switch err := mem.Deregister(); {
		case errors.Is(err, braid.ErrBusy):
			return mem, func() { s.Write(put[len(put)/2:]) }, func() { s.Close() }
		case err != nil:
			t.Fatalf("Deregister: %v, want %v", err, braid.ErrBusy)
		}
		s.Close()
	}
	t.Fatal("half a put never makes memory busy")
	return nil, nil, nil
}

// TestDeregisterBusy: a transfer that was granted before goes on, Deregister says so until it has ended; new ones are refused.
func TestDeregisterBusy(t *testing.T) {
	for _, how := range []string{"the rest comes", "the connection ends"} {
		t.Run(how, func(t *testing.T) {
			tidy(t)
			p := connect(t, braid.Options{}, braid.Options{})
			mem, rest, cut := halfPut(t, p)
			if err := p.a.Put(testContext(t), make([]byte, 8), mem.Key(braid.Write), 0); err != nil {
				t.Fatal(err)
			}
			if err := p.a.Flush(testContext(t)); !errors.Is(err, braid.ErrAccess) {
				t.Errorf("a new put into it: %v, want %v", err, braid.ErrAccess)
			}
			if err := mem.Deregister(); !errors.Is(err, braid.ErrBusy) {
				t.Errorf("Deregister again: %v, want %v", err, braid.ErrBusy)
			}
			if how == "the rest comes" {
				rest()
			} else {
				cut()
			}
			if !eventually(func() bool { return mem.Deregister() == nil }) {
				t.Error("busy after the end of the transfer")
			}
		})
	}
}
