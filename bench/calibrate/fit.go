package calibrate

import (
	"time"

	"github.com/openbraid/braid/internal/cost"
)

// Point is how long an operation of a size takes.
type Point struct {
	Bytes int
	NS    float64
}

// Line is what the points have in common: so long for each operation, and so long for each byte. Each point counts by how far off it is in proportion, so that
// large ones don't hide small ones. Neither is below zero.
func Line(points []Point) (each, perByte float64) {
	var w, x, y, xx, xy float64
	for _, p := range points {
		k := 1 / (p.NS * p.NS)
		n := float64(p.Bytes)
		w, x, y, xx, xy = w+k, x+k*n, y+k*p.NS, xx+k*n*n, xy+k*n*p.NS
	}
	if d := w*xx - x*x; d > 0 {
		perByte = max(0, (w*xy-x*y)/d)
	}
	if w > 0 {
		each = max(0, (y-perByte*x)/w)
	}
	return each, perByte
}

// Expect is what the model says of an operation on one lane. Neither says anything about what the peer's program takes.
func Expect(l cost.Lane, maxFrame int, op cost.Op, n int) (protocol string, latency time.Duration, rate float64) {
	b := cost.Bounds{MaxFrame: maxFrame, MaxMessage: 64 << 20}
	lanes := []cost.Lane{l}
	m := cost.Model{Lanes: lanes, Bounds: b, Thresholds: cost.Choose(lanes, b)}
	c, ok := m.At(op, n, m.Memories(op)[0])
	if !ok {
		return "", 0, 0
	}
	return c.Protocol.String(), c.Latency, c.Rate
}
