// Package gather is operations whose payload is no single buffer but a list of them, on either side.
//
//	Layout ── New ──> Buffers: pieces that stand apart; filled, sent or received, and looked at as one
//
// internal/perf and its commands import it. Invariants:
//
//  1. No two pieces of a list touch: what sends them can't take them for one.
//  2. What travels are the bytes, one behind the other: a side may have a list and the other one none.
package gather
