// Package replay is the frames that lost lanes handed back, from then on until each is executed or ended.
//
//	lost lane ── purge ──> Frame ──> Queue, in front ──> another lane ── acknowledged ──> Executed
//	    │                    │          ^                     │                              │
//	    └── Handover <───────┘          └────── lost, too ────┘                              └──> Settled, once none is left
//
// A frame that was lost more than once is a Frame around a Frame, one for each lane. Only the engine imports it: internal/outbox says when a frame may go, and where. Pure, but for the frames themselves.
//
// Invariants:
//
//  1. What comes back goes in front of all that waits, in the order in which it was posted (R13).
//  2. The book has the operation of a frame at one place at a time, with its epoch: on no lane while it waits here.
//  3. A Handover is settled once: when all was handed back, and each frame of it is executed or ended, on whatever lane that was.
package replay
