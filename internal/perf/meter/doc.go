// Package meter takes the times of a measured loop, and says what they come to.
//
//	loop ── Lap(n) ──> histogram ──┬─> Row, each second and at the end
//	        Skip: not counted      └─> Latency, Percentiles; Merge: of several loops
//
// internal/perf and what prints its results import it. It asks for the time, and starts nothing.
//
// Invariants:
//
//  1. A lap is one look at the clock and allocates nothing, as long as nobody is told.
//  2. A percentile is never above the longest time taken, nor below the shortest.
package meter
