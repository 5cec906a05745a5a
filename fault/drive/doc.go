// Package drive has a fault.Injector do what is due when it is due, and does what is done to processes and interfaces.
//
//	Driver ── Advance, each time that something is due ──> fault.Injector ──> connections
//	   ^                                                        |
//	   └──────── signals, interfaces ──── Outside ──────────────┘
//
// Who may import it: programs, the control socket, tests.
//
// Invariants:
//
//  1. A driver lives until Stop. If it ends before, Dead says why: then nothing that it should have done proves anything.
//  2. Stop undoes what is in force, and waits.
//  3. An interface that was down before stays as it was, and is no hit.
package drive
