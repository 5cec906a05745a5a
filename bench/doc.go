// Command bench measures braid side by side with its peers, and says what the goals make of it.
//
//	        probe        probe        probe
//	          |   braid    |   peer     |      one pair: counts only if all three probes
//	          v ---------> v ---------> v      say the same class of core distance
//	class     near         near         near
//
// go run ./bench runs everything; names are fixed, so that logs can be compared (docs/performance.md). Nobody imports it.
//
// A probe is a ping-pong of one cache line between the two processors that the measurement uses. On virtual machines these
// move between physical cores that share a cache (near, below 150 ns one way) and such that don't (far), within
// seconds; a quotient of a near and a far run says nothing. Quotients are taken within a pair, and of these the median per class, with the
// interval of package perf. Who runs first changes from pair to pair.
//
// Invariants:
//
//  1. A peer that is not installed is skipped with the reason, never silently.
//  2. Both sides of a pair use the same processors, and the same size, window and count where these exist.
//  3. The exit status says whether everything could be measured; whether goals are reached is in the table: on a
//     busy machine that is no reason to fail.
package main
