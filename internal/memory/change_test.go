package memory

import (
	"encoding/binary"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/openbraid/braid/internal/wire"
)

// after is what a word becomes, said once more and otherwise.
func after(c wire.Change, old, v, compare uint64) uint64 {
	return map[wire.Change]uint64{
		wire.ChangeAdd: old + v, wire.ChangeAnd: old & v, wire.ChangeOr: old | v, wire.ChangeXor: (old | v) &^ (old & v), wire.ChangeSwap: v,
		wire.ChangeCompare: map[bool]uint64{true: v, false: old}[old == compare],
	}[c]
}

// TestChange holds random changes of random words of both sizes against bytes that are changed one after the other.
func TestChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := testTable()
		r := tab.Add(Aligned(64))
		model := make([]byte, 64)
		k := r.Key(wire.Atomic, 0)
		few := rapid.SampledFrom([]uint64{0, 1, 2, 0xff, 1<<32 - 1, 1 << 31})
		for range rapid.IntRange(1, 100).Draw(t, "changes") {
			size := rapid.SampledFrom([]uint64{4, 8}).Draw(t, "size")
			h := wire.AtomicOp{Index: k.Index, Secret: k.Secret, Size: uint8(size), Change: wire.Change(rapid.IntRange(1, 6).Draw(t, "change")),
				Offset: size * rapid.Uint64Range(0, 64/size-1).Draw(t, "word"), Value: few.Draw(t, "value")}
			if h.Change == wire.ChangeCompare {
				h.Compare = few.Draw(t, "compare")
			}
			var padded [8]byte
			copy(padded[:], model[h.Offset:h.Offset+size])
			want := binary.NativeEndian.Uint64(padded[:])
			old, code := tab.Change(h)
			if code != 0 || old != want {
				t.Fatalf("%+v: it was %#x, %v; want %#x", h, old, code, want)
			}
			binary.NativeEndian.PutUint64(padded[:], after(h.Change, want, h.Value, h.Compare))
			copy(model[h.Offset:h.Offset+size], padded[:])
			if string(r.Bytes) != string(model) {
				t.Fatalf("%+v of %#x: % x\nwant % x", h, want, r.Bytes, model)
			}
		}
	})
}

func TestChangeIsRefused(t *testing.T) {
	tab := testTable()
	whole := Aligned(32)
	r, crooked := tab.Add(whole[:24]), tab.Add(whole[1:])
	good, other := r.Key(wire.Atomic, 0), crooked.Key(wire.Atomic, 0)
	for _, c := range []struct {
		name   string
		key    wire.RKey
		offset uint64
		size   uint8
		want   wire.RefusedCode
	}{
		{"rights", r.Key(wire.Read|wire.Write, 0), 0, 8, wire.RefusedRights},
		{"no such key", wire.RKey{Index: good.Index, Secret: good.Secret + 1}, 0, 8, wire.RefusedKey},
		{"beyond", good, 24, 8, wire.RefusedBounds},
		{"half beyond", good, 20, 8, wire.RefusedBounds},
		{"word of 4 there", good, 20, 4, 0},
		{"not aligned", good, 4, 8, wire.RefusedAlign},
		{"memory not aligned", other, 8, 8, wire.RefusedAlign},
		{"memory not aligned, by luck", other, 7, 8, 0},
	} {
		h := wire.AtomicOp{Index: c.key.Index, Secret: c.key.Secret, Change: wire.ChangeAdd, Size: c.size, Offset: c.offset, Value: 1}
		if _, code := tab.Change(h); code != c.want {
			t.Errorf("%s: %v, want %v", c.name, code, c.want)
		}
	}
	tab.Remove(r)
	if _, code := tab.Change(wire.AtomicOp{Index: good.Index, Secret: good.Secret, Change: wire.ChangeAdd, Size: 8}); code != wire.RefusedKey {
		t.Error(code)
	}
	if r.Busy() || crooked.Busy() {
		t.Error("busy")
	}
}

// TestChangesAreAtomic: workers of one process and Go's own atomics on one word lose nothing of each other's.
func TestChangesAreAtomic(t *testing.T) {
	tab := testTable()
	r := tab.Add(Aligned(16))
	k := r.Key(wire.Atomic, 0)
	const each = 2000
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			for range each {
				h := wire.AtomicOp{Index: k.Index, Secret: k.Secret, Size: 8, Value: 1, Change: wire.ChangeAdd}
				if i == 1 { // by compare and swap
					for h.Change = wire.ChangeCompare; ; h.Compare = h.Value - 1 {
						old, _ := tab.Change(h)
						if old == h.Compare {
							break
						}
						h.Value = old + 1
					}
					continue
				}
				tab.Change(h)
			}
		})
	}
	all.Go(func() {
		for range each {
			r.Word64(0).Add(1)
			Load(r.Bytes[:8])
		}
	})
	all.Wait()
	if n := r.Word64(0).Load(); n != 4*each {
		t.Errorf("%d, want %d", n, 4*each)
	}
}
