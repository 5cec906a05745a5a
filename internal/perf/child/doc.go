// Package child is a server in a process of its own, for who measures against it on one machine.
//
//	Spawn(command) ── its standard input is the guard ──▶ Guard: ends when whoever started it is gone
//	  Addr         ◀── one line on its standard output ── Announce
//
// internal/perf's tests and cmd import it.
//
// Invariants:
//
//  1. A server never outlives who spawned it.
package child
