// Package info gathers what `braid info` shows: this build, this host, and what the settings make of them.
//
//	build info, interfaces, limits of the system ─┐
//	transports, settings ─────────────────────────┴─> Report ──> text or JSON, by the command
//
// Only cmd/braid imports it.
//
// Invariants:
//
//  1. Nothing is opened towards the network, and nothing is changed.
//  2. What can't be found out is left out or says why; it is no error.
//  3. The names in JSON are stable: programs read them.
package info
