// Package budget counts the shared memory that a process has mapped, in all and with each peer: what does not fit is an error that says how much it was, how much there may be, and
// which setting says so.
//
//	Take(peer, n) ──> before memory is made or mapped        Give(peer, n) ──> after it is unmapped
//
// transport/shm imports it. A Budget is safe for concurrent use.
//
// Invariants:
//
//  1. What is taken is never more than the limits.
//  2. A peer that has nothing is not remembered.
package budget
