// Package ring has the queues of a software queue pair: its send ring, where posted work requests are blocks of 64 bytes, its
// receives, the answers that its responder has to send, and the results that it may have to send again.
//
//	Freed ──── Head ──── Send ──── PI
//	  done, not  │ under    │ not     next block to be written
//	  polled     │ way      │ sent
//
// Only rdma/soft imports it. Pure.
//
// Invariants:
//
//  1. Freed ≤ Head ≤ Send ≤ PI as 16-bit numbers that wrap; PI - Freed is at most the limit.
//  2. What Put wrote, Get reads, wherever in the ring it lies.
//  3. Answers leave in their order; two acknowledgements behind each other are one.
//  4. Of the results the last ones are kept, as many as there is room for; of one packet number the latest is found.
package ring
