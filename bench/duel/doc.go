// Package duel measures two sides in turns, and says what the quotient is worth.
//
//	        probe        probe        probe
//	          |   ours     |   theirs   |      one pair: counts only if all three probes
//	          v ---------> v ---------> v      say the same class of core distance
//	class     near         near         near
//
// A probe is a ping-pong of one cache line between the two processors that the measurement uses. On virtual machines these
// move between physical cores that share a cache (near, below 150 ns one way) and such that don't (far), within
// seconds; a quotient of a near and a far run says nothing. Quotients are taken within a pair, and of these the median per class, with the
// interval of internal/perf/median. Who runs first changes from pair to pair.
//
// bench and bench/peers import it.
//
// Invariants:
//
//  1. Pairs during which the processors moved are left out, and counted.
//  2. A quotient is of two runs that followed each other, never of two medians.
package duel
