// Package duo is two nodes of one process that one goroutine polls in turns, and a loop of puts and fences over them; and the same loop in C
// over UCX, in a process of its own. What an operation costs here has nothing to do with a second processor.
//
//	New ──> Puts(n, between) ──> nanoseconds of one
//	NewMany, Grow(n) ──> Hop, Rate: of many endpoints, one or all of them in use
//	Build ──> UCX.Many(n)     what one takes
//	Build ──> UCX.Puts(mode, n) ──> the same, by ucp_put_nbx and ucp_worker_fence
//
// Package bench and tests import it.
//
// Invariants:
//
//  1. Both loops have the same shape: up to 64 puts under way, a turn of both sides every 64, a flush at the end.
package duo
