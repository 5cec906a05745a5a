// Package order counts the operations of an endpoint that are not known to be executed, by epoch,
// so that a flush knows when everything issued before it is done, wherever it moved meanwhile.
//
//	epoch   7     8     9 (current)
//	count   2     0     5
//	        ^ a flush that cut after 7 waits for this
//
// Only the engine imports it. Pure: no clock, no lane.
//
// Invariants:
//
//  1. An operation is in one epoch from Issue to Retire, each called once.
//  2. Done(e) is true exactly when no operation of an epoch <= e is left; once true it stays true.
//  3. Memory is bounded by the epochs that still hold an operation and those between them.
package order
