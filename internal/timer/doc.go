// Package timer calls functions when their time has come, from inside the owner's turn.
//
//	Set(t, at) ... Run(now): all that is due, earliest first
//
// Everybody may import it. Pure: the time is handed in.
//
// Invariants:
//
//  1. Timers of one time run in the order in which they were set: the same calls give the same order.
//  2. A timer that was stopped, or set anew, doesn't run for its old time.
package timer
