// Package bulk copies pieces of large frames into memory that another processor will read: through the caches, or past them.
//
//	near: the two share a cache     copy ──> cache ──> reader            twice as fast as past it
//	far:  they don't                copy ──> memory ──> reader           three times as fast as fetching each line from the reader's cache first
//
// Which of the two holds changes within seconds where a hypervisor moves processors. So it is measured: now and then a piece goes the other way. transport/shm
// imports it.
//
// Invariants:
//
//  1. Whatever the way, when Copy returns, what was copied is seen by whoever sees an atomic store that comes after it.
//  2. The way changes only after two trials in a row in which the other one was clearly better.
package bulk
