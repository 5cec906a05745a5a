package bulk_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/openbraid/braid/transport/shm/bulk"
)

// TestPast: the assembly is copy, for all sizes and alignments of both ends, and touches nothing beside.
func TestPast(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	src := make([]byte, 40<<10)
	for i := range src {
		src[i] = byte(r.Uint32())
	}
	size := func(i int) int {
		if i < 700 {
			return i
		}
		return r.IntN(32 << 10)
	}
	for i := range 3000 {
		n, a, b := size(i), r.IntN(64), r.IntN(64)
		got := bytes.Repeat([]byte{7}, n+200)
		bulk.Past(got[64+a:64+a+n], src[b:b+n])
		want := bytes.Repeat([]byte{7}, n+200)
		copy(want[64+a:64+a+n], src[b:b+n])
		if !bytes.Equal(got, want) {
			t.Fatalf("%d bytes from %d to %d", n, b, a)
		}
	}
	short := make([]byte, 1000)
	bulk.Past(short, src[:300])
	if bulk.Past(short[:200], src); !bytes.Equal(short[:300], src[:300]) || short[300] != 0 {
		t.Error("of two lengths the smaller one counts")
	}
}

// clock is one in which each piece takes what the test says.
type clock struct {
	c       *bulk.Copier
	now     time.Duration
	asked   int
	through func() time.Duration
	past    func() time.Duration
}

func (k *clock) time() time.Duration {
	if k.asked++; k.asked%2 == 0 { // the end of a piece: the third and fourth of a trial go the other way
		way := k.c.Past() != ((k.asked/2-1)%4 >= 2)
		if way {
			k.now += k.past()
		} else {
			k.now += k.through()
		}
	}
	return k.now
}

func fixed(d time.Duration) func() time.Duration { return func() time.Duration { return d } }

func (k *clock) pieces(t *testing.T, n int) (changes int) {
	t.Helper()
	src, dst := bytes.Repeat([]byte{1}, bulk.Least), make([]byte, bulk.Least)
	for range n {
		was := k.c.Past()
		clear(dst[:64])
		if k.c.Copy(dst, src) != len(src) || !bytes.Equal(dst[:64], src[:64]) {
			t.Fatal("not copied")
		}
		if k.c.Past() != was {
			changes++
		}
	}
	return changes
}

// TestWay: the way follows what is clearly better, soon, and stays where neither is.
func TestWay(t *testing.T) {
	k := &clock{c: &bulk.Copier{}, through: fixed(1000), past: fixed(2500)}
	k.c.Now = k.time
	if bulk.Past(nil, nil); k.pieces(t, 2000) != 0 || k.c.Past() {
		t.Error("near: past the caches")
	}
	if k.asked == 0 {
		t.Skip("there is one way only on this processor")
	}
	k.through = fixed(6000)
	if k.pieces(t, 300) != 1 || !k.c.Past() {
		t.Error("far: not past the caches after 300 pieces")
	}
	k.through = fixed(2200) // a little better is not enough
	if k.pieces(t, 3000) != 0 {
		t.Error("the way changes for little")
	}
	k.through = fixed(1000)
	if k.pieces(t, 300) != 1 || k.c.Past() {
		t.Error("near again: still past the caches")
	}
	r := rand.New(rand.NewPCG(3, 4))
	noise := func() time.Duration { // of 16 pieces one has the processor taken away
		if r.IntN(16) == 0 {
			return 100_000
		}
		return 2000
	}
	k.through, k.past = noise, noise
	if n := k.pieces(t, 20_000); n > 2 {
		t.Errorf("the way changes %d times for noise", n)
	}
	small := k.asked
	for range 1000 {
		k.c.Copy(make([]byte, bulk.Least-1), make([]byte, bulk.Least-1))
	}
	if k.asked != small {
		t.Error("small pieces ask the clock")
	}
}

func BenchmarkPast(b *testing.B) {
	src, dst := make([]byte, 32<<10), make([]byte, 32<<10)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		bulk.Past(dst, src)
	}
}
