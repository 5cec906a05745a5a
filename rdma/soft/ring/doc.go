// Package ring is the send ring of a software queue pair: posted work requests as blocks of 64 bytes.
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
package ring
