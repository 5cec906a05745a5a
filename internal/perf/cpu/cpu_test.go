package cpu

import (
	"runtime"
	"strings"
	"testing"
)

func TestTwoCPUs(t *testing.T) {
	siblings := func(cpu int) string { return map[int]string{0: "0,4", 4: "0,4", 1: "1,5", 5: "1,5"}[cpu] }
	unknown := func(int) string { return "" }
	for _, c := range []struct {
		cpus []int
		core func(int) string
		a, b int
		ok   bool
	}{
		{nil, siblings, 0, 0, false},
		{[]int{3}, siblings, 0, 0, false},
		{[]int{0, 1, 4, 5}, siblings, 0, 1, true},
		{[]int{0, 4, 5}, siblings, 0, 5, true},
		{[]int{0, 4}, siblings, 0, 4, true},
		{[]int{7, 9}, unknown, 7, 9, true},
	} {
		if a, b, ok := apart(c.cpus, c.core); a != c.a || b != c.b || ok != c.ok {
			t.Errorf("%v: %d, %d, %v", c.cpus, a, b, ok)
		}
	}
	if a, b, ok := Two(); ok != (runtime.GOOS == "linux" && runtime.NumCPU() > 1) || ok && a == b {
		t.Errorf("here: %d, %d, %v", a, b, ok)
	}
	if _, err := Of("0,1"); err == nil || !strings.Contains(err.Error(), "--cpus 0,1") {
		t.Errorf("two for one process: %v", err)
	}
}
