package litmus

import "testing"

// TestKeeper: what is noted is put back, wherever it is: behind pointers, in slices that were cut, in maps and interfaces, in types that
// lead to themselves; and the hash sees each of these.
func TestKeeper(t *testing.T) {
	type thing struct {
		n     int
		next  *thing
		some  []int
		names map[string]*thing
		any   any
		bytes []byte
		room  [16]uint64
	}
	last := &thing{n: 3, bytes: []byte("abc")}
	first := &thing{n: 1, next: &thing{n: 2, next: last, any: last}, some: []int{1, 2, 3}, names: map[string]*thing{"last": last}, any: &thing{n: 4}}
	first.some = first.some[:2]
	k, h := newKeeper(), newHasher()
	hash := func() uint64 {
		n, _ := h.of(first)
		return n
	}
	var hashes []uint64
	for i, change := range []func(){
		func() { last.n = 9 },
		func() { first.next.next = &thing{n: 5} },
		func() { first.some = append(first.some, 7) },
		func() { last.bytes[1] = 'x' },
		func() { first.names["new"] = &thing{}; delete(first.names, "last") },
		func() { first.any.(*thing).n = 6 },
		func() { first.room[3] = 1 },
		func() { first.next.any = nil },
	} {
		hashes = append(hashes, hash())
		k.note(first, i)
		if change(); hash() == hashes[i] {
			t.Errorf("change %d is not seen", i)
		}
	}
	for i := len(hashes) - 1; i >= 0; i -= 2 {
		if at := k.back(i); at != i || hash() != hashes[i] {
			t.Errorf("it is not put back to moment %d", i)
		}
	}
	if k.back(0); hash() != hashes[0] || first.some[:3][2] != 3 || string(last.bytes) != "abc" || first.names["last"] != last {
		t.Error("it is not put back to where it began")
	}
}
