// Package inbox is what handlers of a measurement leave for its loop: in Shared mode they run in another goroutine.
//
//	handler ── Put ──> inbox ── Take ──> loop
//
// Anything of a measurement may import it. Invariants: what was put is taken once, in order; looking into an empty one costs a load.
package inbox
