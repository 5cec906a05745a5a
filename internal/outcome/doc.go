// Package outcome is how operations and endpoints end when they don't end well.
//
//	Error{Op, Peer, Lane, Fate, Err}     what, towards whom, what the target may have done, why
//
// The engine makes them; the root package shows them to the world. It imports only the standard library.
//
// Invariants:
//
//  1. NotExecuted is said only of an operation of which nothing is, or ever will be, done at the target.
package outcome
