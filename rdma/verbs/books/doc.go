// Package books remembers what is posted to one work queue of an adapter and has not completed: an adapter tells of the end of those
// that asked for it only, and of none in words that say what they named.
//
//	Put, Key ──> number for the adapter ──> Done(number): it, and all that were posted before it, are over
//
// Only rdma/verbs imports it.
//
// Invariants:
//
//  1. A number is given to one posted request; the next 2^31 have others.
//  2. What Done says of a number is said once. One that is over, or was cleared, is nobody's.
//  3. Names and Holds know every key and object of a request from Put until it is over.
package books
