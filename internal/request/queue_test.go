package request

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// content is what stands in a queue, from both ends.
func content(t *testing.T, q *Queue) (all []*Request) {
	t.Helper()
	for r := q.Head(); r != nil; r = r.Next {
		all = append(all, r)
	}
	var back []*Request
	for r := q.tail; r != nil; r = r.prev {
		back = append(back, r)
	}
	slices.Reverse(back)
	if !slices.Equal(all, back) || len(all) != q.Len() {
		t.Fatalf("%d from the front, %d from the back, %d counted", len(all), len(back), q.Len())
	}
	return all
}

// TestQueue: requests are taken out from both ends and from the middle; one that stands elsewhere is not there.
func TestQueue(t *testing.T) {
	var p Pool
	var q, other Queue
	var want []*Request
	luck := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		switch luck.IntN(4) {
		case 0, 1:
			r := p.Get(Put, nil)
			q.Push(r)
			want = append(want, r)
		case 2:
			if r := q.Pop(); len(want) == 0 && r != nil || len(want) > 0 && r != want[0] {
				t.Fatal("not the first")
			}
			want = want[min(1, len(want)):]
		case 3:
			if len(want) == 0 {
				continue
			}
			i := luck.IntN(len(want))
			r := want[i]
			if other.Remove(r) || !q.Remove(r) || q.Remove(r) {
				t.Fatal("it stands where it does not, or twice")
			}
			want = slices.Delete(want, i, i+1)
			if luck.IntN(2) == 0 { // into another one and back
				other.Push(r)
				if q.Remove(r) || other.Pop() != r || other.Pop() != nil {
					t.Fatal("two queues are mixed up")
				}
			}
		}
		if got := content(t, &q); !slices.Equal(got, want) {
			t.Fatalf("%d stand there, %d should", len(got), len(want))
		}
	}
}

// TestQueueFromBehind: taking out the last costs what taking out the first does, however many there are: a peer may answer in any order.
func TestQueueFromBehind(t *testing.T) {
	const n = 20_000
	var p Pool
	var all []*Request
	for range n {
		all = append(all, p.Get(Put, nil))
	}
	took := func() time.Duration {
		var q Queue
		for _, r := range all {
			q.Push(r)
		}
		begin := time.Now()
		for _, r := range slices.Backward(all) {
			if !q.Remove(r) {
				t.Fatal("it is not there")
			}
		}
		return time.Since(begin)
	}
	best := took()
	for range 4 {
		best = min(best, took())
	}
	if best > 50*time.Millisecond { // it takes less than one; a walk to each took 200
		t.Errorf("%v for %d", best, n)
	}
}
