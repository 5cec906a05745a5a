package inbox

import (
	"sync"
	"testing"
)

func TestOrder(t *testing.T) {
	var q Of[int]
	if _, ok := q.Take(); ok {
		t.Error("something in an empty inbox")
	}
	q.Put(1)
	q.Put(2)
	a, _ := q.Take()
	b, _ := q.Take()
	if _, ok := q.Take(); a != 1 || b != 2 || ok {
		t.Errorf("%d, %d, and more: %v", a, b, ok)
	}
}

func TestMany(t *testing.T) {
	var q Of[int]
	var busy sync.WaitGroup
	for i := range 8 {
		busy.Go(func() { q.Put(i) })
	}
	sum := 0
	for n := 0; n < 8; {
		if v, ok := q.Take(); ok {
			sum += v
			n++
		}
	}
	if busy.Wait(); sum != 28 {
		t.Errorf("0 to 7 are %d", sum)
	}
}
