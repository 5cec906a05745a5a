// Package cpu binds polling threads to processors, and finds two of them for two processes.
//
// internal/perf, bench and cmd import it; it knows the system only.
//
// Invariants:
//
//  1. A thread that was bound is never lent to another goroutine.
package cpu
