package failover

import (
	"testing"

	"pgregory.net/rapid"
)

// TestWatermark compares with a set that forgets nothing: no number is taken twice, and one less than 64
// below the highest is taken exactly if it wasn't before.
func TestWatermark(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w watermark
		taken, high := map[uint64]bool{}, uint64(0)
		for range rapid.IntRange(1, 200).Draw(t, "count") {
			span := rapid.SampledFrom([]uint64{3, 63, 70, 200}).Draw(t, "span")
			n := high + rapid.Uint64Range(0, span).Draw(t, "number")
			n -= min(n, rapid.Uint64Range(0, 70).Draw(t, "back"))
			want := n > high || n > 0 && high-n < 64 && !taken[n]
			if got := w.take(n); got != want {
				t.Fatalf("take(%d) with high %d: %v, want %v", n, high, got, want)
			}
			if want {
				taken[n] = true
			}
			high = max(high, n)
		}
	})
}

func TestWatermarkEnds(t *testing.T) {
	var w watermark
	const last = ^uint64(0)
	if w.take(0) || !w.take(last) || w.take(last) || !w.take(last-63) || w.take(last-64) || w.take(1) {
		t.Error("the ends of the counter")
	}
}
