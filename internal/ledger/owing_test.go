package ledger_test

import (
	"slices"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/ledger"
)

// TestOwing: the first one in is the first one due, wherever others are taken out meanwhile; who stands nowhere can be taken out all the same.
func TestOwing(t *testing.T) {
	for out := range 5 {
		var o ledger.Owing[int]
		var d [4]ledger.Debt[int]
		for i := range d {
			o.Add(&d[i], i, time.Duration(10*(i+1)))
		}
		want := []int{0, 1, 2, 3}
		if out < 4 {
			o.Remove(&d[out])
			o.Remove(&d[out])
			want = slices.Delete(want, out, out+1)
			if d[out].Listed() {
				t.Errorf("%d stands there after it was taken out", out)
			}
		}
		if at, ok := o.Next(); !ok || at != time.Duration(10*(want[0]+1)) {
			t.Errorf("without %d: next at %v, %v", out, at, ok)
		}
		if _, ok := o.Overdue(9); ok {
			t.Error("due too early")
		}
		var got []int
		for i, ok := o.Overdue(40); ok; i, ok = o.Overdue(40) {
			got = append(got, i)
		}
		if _, ok := o.Next(); ok || !slices.Equal(got, want) {
			t.Errorf("without %d: %v, want %v", out, got, want)
		}
		o.Add(&d[0], 7, 1)
		if i, ok := o.Overdue(1); !ok || i != 7 {
			t.Errorf("used again: %d, %v", i, ok)
		}
	}
}
