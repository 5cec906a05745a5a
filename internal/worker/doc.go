// Package worker is the engine: endpoints of several lanes, what is posted on which lane, what
// arrives, and what becomes of both when a lane is lost.
//
//	submit.go pending.go      receive.go control.go
//	  operation -> frames       frames -> memory, messages, answers
//	       \                      /
//	        endpoint.go  one peer: lanes, queues, books
//	       /        |             \
//	open.go    handover.go      liveness.go
//	lanes come   lanes go         lanes are judged
//	       \        |             /
//	        progress.go  one turn of everything; timer.go, calls.go
//
// Only the root package and tests import it. One owner at a time calls it: there is no lock in here, no
// goroutine, no wall clock and no luck of its own.
//
// Invariants:
//
//  1. Each operation ends exactly once for its user, and is executed at most once at the target.
//  2. An operation that a successful flush covers was executed exactly once.
//  3. Frames with an order promise that are not acknowledged are all on one lane (handover.md of the
//     design calls it R10): Endpoint.ordered is that lane.
//  4. What a lost lane hands back goes before everything that waits (R13).
//  5. User code runs only from Calls, at the end of a turn.
//  6. No wait without a deadline: an attempt, a suspension and a close each have a timer.
package worker
