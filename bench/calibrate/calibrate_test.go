package calibrate

import (
	"math"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/cost"
)

// TestLine: what the points were made of is found, with some of them off.
func TestLine(t *testing.T) {
	var list []Point
	for i, n := range []int{8, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10} {
		off := 1 + 0.02*float64(i%3-1)
		list = append(list, Point{n, (900 + 0.5*float64(n)) * off})
	}
	each, perByte := Line(list)
	if math.Abs(each-900) > 60 || math.Abs(perByte-0.5) > 0.03 {
		t.Errorf("%v and %v", each, perByte)
	}
	if each, perByte := Line([]Point{{8, 100}, {1000, 50}}); each <= 0 || perByte != 0 {
		t.Errorf("less for more: %v, %v", each, perByte)
	}
	if each, perByte := Line(nil); each != 0 || perByte != 0 {
		t.Errorf("of nothing: %v, %v", each, perByte)
	}
}

// TestMemory: figures that a machine can have.
func TestMemory(t *testing.T) {
	if ns := Copy(); ns <= 0.001 || ns > 100 {
		t.Errorf("%v ns for a byte", ns)
	}
	d, err := Lend()
	if err != nil || d <= 0 || d > time.Second {
		t.Errorf("%v, %v", d, err)
	}
}

// TestExpect is the model's own words.
func TestExpect(t *testing.T) {
	l := cost.Lane{Trip: 10 * time.Microsecond, Rate: 1e9, Known: true, Frame: time.Microsecond, ZeroCopy: 16 << 10}
	for _, c := range []struct {
		op       cost.Op
		n        int
		protocol string
		latency  time.Duration
	}{{cost.AM, 0, "eager copied", 5 * time.Microsecond}, {cost.AM, 20_000, "eager zero-copy", 25 * time.Microsecond}, {cost.Get, 1000, "request and answer", 11 * time.Microsecond}} {
		if p, d, rate := Expect(l, 256<<10, c.op, c.n); p != c.protocol || d != c.latency || rate < 0 {
			t.Errorf("%+v: %s, %v, %v", c, p, d, rate)
		}
	}
	if p, _, _ := Expect(l, 256<<10, cost.AM, 1<<30); p != "" {
		t.Errorf("too large: %s", p)
	}
}
