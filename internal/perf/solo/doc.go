// Package solo is a worker that sends to itself, polled by one goroutine: what an operation costs without a second thread and without a cache line that moves, as
// `ucx_perftest -l` measures it.
//
//	New ──> Run(test, n) ──> microseconds of one, and back
//
// bench/peers and tests import it.
//
// Invariants:
//
//  1. An iteration is one operation that has arrived: received, handled, or seen in the memory that it was put to. Half of its time is what counts, as if there had been an
//     answer: so ucx_perftest counts, too.
package solo
