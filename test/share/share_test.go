package share

import "testing"

// TestParts: the parts of a list are the list, and no two have anything in common.
func TestParts(t *testing.T) {
	for _, all := range [][]string{{""}, {"1/1"}, {"1/2", "2/2"}, {"1/5", "2/5", "3/5", "4/5", "5/5"}} {
		times := make([]int, 23)
		for _, v := range all {
			t.Setenv("BRAID_PART", v)
			p := Of(t)
			for i := range times {
				if p.Has(i) {
					times[i]++
				}
			}
		}
		for i, n := range times {
			if n != 1 {
				t.Errorf("%v: %d is in %d parts", all, i, n)
			}
		}
	}
}
