package memory

import (
	"runtime"
	"testing"

	"github.com/openbraid/braid/internal/wire"
)

func testTable() *Table {
	n := uint64(0)
	return NewTable(func() uint64 { n += 0x9e3779b97f4a7c15; return n })
}

func TestTargetGrantsOnlyWhatTheKeySays(t *testing.T) {
	tab := testTable()
	other := tab.Add(make([]byte, 10))
	r := tab.Add(make([]byte, 100))
	k := r.Key(wire.Write, 7)
	if k.Size != 100 || k.Incarnation != 7 || k.Rights != wire.Write {
		t.Fatalf("key %+v", k)
	}
	for _, c := range []struct {
		name         string
		index        uint32
		secret       wire.Secret
		need         wire.Rights
		offset, size uint64
		want         wire.RefusedCode
	}{
		{"all of it", k.Index, k.Secret, wire.Write, 0, 100, 0},
		{"nothing at the end", k.Index, k.Secret, wire.Write, 100, 0, 0},
		{"one too long", k.Index, k.Secret, wire.Write, 1, 100, wire.RefusedBounds},
		{"offset beyond", k.Index, k.Secret, wire.Write, 101, 0, wire.RefusedBounds},
		{"sum wraps", k.Index, k.Secret, wire.Write, ^uint64(0), 2, wire.RefusedBounds},
		{"size wraps", k.Index, k.Secret, wire.Write, 2, ^uint64(0), wire.RefusedBounds},
		{"right not given", k.Index, k.Secret, wire.Read, 0, 1, wire.RefusedRights},
		{"wrong secret", k.Index, k.Secret + 1, wire.Write, 0, 1, wire.RefusedKey},
		{"secret of another region", other.Key(wire.Write, 7).Index, k.Secret, wire.Write, 0, 1, wire.RefusedKey},
		{"no such region", 99, k.Secret, wire.Write, 0, 1, wire.RefusedKey},
	} {
		_, b, code := tab.Target(c.index, c.secret, c.need, c.offset, c.size)
		if code != c.want || code == 0 && (uint64(len(b)) != c.size || uint64(cap(b)) != c.size) {
			t.Errorf("%s: code %v, %d bytes of capacity %d", c.name, code, len(b), cap(b))
		}
	}
}

func TestRemoveEndsAccessAtOnceAndSlotsGetNewSecrets(t *testing.T) {
	tab := testTable()
	r := tab.Add(make([]byte, 8))
	k := r.Key(wire.Write, 0)
	if !r.Enter() {
		t.Fatal("no entry to a live region")
	}
	tab.Remove(r)
	tab.Remove(r)
	if _, _, code := tab.Target(k.Index, k.Secret, wire.Write, 0, 8); code != wire.RefusedKey {
		t.Fatal(code)
	}
	if !r.Busy() || r.Enter() {
		t.Fatal("an access that goes on is busy, a new one is refused")
	}
	r.Leave()
	if r.Busy() {
		t.Fatal("still busy")
	}
	n := tab.Add(make([]byte, 8))
	if n.Key(wire.Write, 0).Index != k.Index {
		t.Fatal("slot not used again")
	}
	if _, _, code := tab.Target(k.Index, k.Secret, wire.Write, 0, 8); code != wire.RefusedKey {
		t.Fatal("the old key opens the new region")
	}
}

// TestManyRegions: each of many is found by its number, and one more or less costs no more where there are many: it was a copy of all.
func TestManyRegions(t *testing.T) {
	tab := testTable()
	const n = 5 * rowSize
	var all []*Region
	for range n {
		all = append(all, tab.Add(make([]byte, 8)))
	}
	for i, r := range all {
		if i%3 == 0 {
			tab.Remove(r)
		}
	}
	for i, r := range all {
		k := r.Key(wire.Write, 0)
		want := wire.RefusedCode(0)
		if i%3 == 0 {
			want = wire.RefusedKey
		}
		if got, _, code := tab.Target(k.Index, k.Secret, wire.Write, 0, 8); code != want || code == 0 && got != r {
			t.Fatalf("region %d: %v", i, code)
		}
	}
	if _, _, code := tab.Target(1<<32-1, 1, wire.Write, 0, 8); code != wire.RefusedKey {
		t.Error(code)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const rounds = 1000
	for range rounds {
		tab.Remove(tab.Add(nil))
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / rounds; each > 1024 {
		t.Errorf("%d bytes for a region among %d", each, n)
	}
}

func TestStoreWritesWordsWhole(t *testing.T) {
	b := Aligned(24)
	Store(b[8:16], []byte{1, 2, 3, 4, 5, 6, 7, 8})
	r := testTable().Add(b)
	if w := r.Word64(8); w == nil || w.Load() != 0x0807060504030201 {
		t.Fatal("word", w)
	}
	if w := r.Word32(12); w == nil || w.Load() != 0x08070605 {
		t.Fatal("word of 4", w)
	}
	if r.Word64(1) != nil || r.Word64(17) != nil || r.Word64(^uint64(0)) != nil || r.Word32(2) != nil || r.Word32(21) != nil || r.Word32(^uint64(0)) != nil {
		t.Fatal("words that aren't")
	}
	Store(b[1:9], []byte{9, 9, 9, 9, 9, 9, 9, 9})
	if b[0] != 0 || b[1] != 9 || b[8] != 9 || b[9] != 2 {
		t.Fatal(b)
	}
}
