// Package worker is the engine: endpoints of several lanes, what is posted on which lane, what
// arrives, and what becomes of both when a lane is lost.
//
//	internal/outbox           internal/intake           control.go
//	  operation -> frames       frames -> memory, …       frames about lanes
//	       \                      /
//	        endpoint.go  one peer: lanes, life, counters
//	       /        |             \
//	open.go    handover.go      liveness.go
//	lanes come   lanes go         lanes are judged
//	       \        |             /
//	        progress.go  one turn of everything: internal/timer, internal/delivery
//
// Only the root package and tests import it. One owner at a time calls it: there is no lock in here, no
// goroutine, no wall clock and no luck of its own.
//
// Invariants:
//
//  1. Each operation ends exactly once for its user, and is executed at most once at the target.
//  2. An operation that a successful flush covers was executed exactly once.
//  3. Before anything is said about a lost lane it is quiesced, and its position is final (R3).
//  4. What is not executed is not acknowledged, also when the endpoint fails in the middle of a turn.
//  5. User code runs only from Calls, at the end of a turn.
//  6. No wait without a deadline: an attempt, a suspension and a close each have a timer.
package worker
