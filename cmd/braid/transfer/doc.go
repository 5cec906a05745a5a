// Package transfer is `braid send` and `braid recv`: their flags, and what people and programs see of a transfer. What runs is internal/files.
//
//	send.go   braid send       recv.go   braid recv
//	show.go   what a sender shows while it runs
//	result.go what both say at the end, in words and in JSON
//
// Who may import it: cmd/braid.
//
// Invariants:
//
//  1. With --json there is one object for each transfer, and for each failure before one.
//  2. That nothing was kept is said only when it is known.
package transfer
