// Package files sends files and directories over an endpoint of several lanes: what `braid send` and `braid recv` run.
//
//	sender                                                     receiver
//	 file --read--> piece ---------- put, over all lanes -----> its place --hash, compare, write--> file without a name
//	                  |                                            |
//	                  +--hash--> Data: "it is there, and this is its SHA-256" (after a flush)
//	                                                               all there --> names
//
// What is said is internal/files/dialogue, without I/O. What is on the disk is internal/files/tree. This package is a program over the public
// API as any other: it puts, flushes, and sends messages. That lanes are lost is not its business; the endpoint goes on, on the others or
// on the same when they are back.
//
// A transfer costs Window pieces of a megabyte on each side, whatever is sent. Several goroutines take one piece each through all of its steps, so that reading,
// hashing and sending go on side by side, on as many processors as there are.
//
// Who may import it: cmd/braid, bench.
//
// Invariants:
//
//  1. A piece is announced when a flush has said that it is executed, and hashed before it is written.
//  2. What a sender reports as arrived has its name there. What it reports as failed has not, unless the error says so.
//  3. Each wait ends: with the endpoint, with the caller's context, or because the peer said nothing for too long.
//  4. A peer that does harm loses its own transfer. Memory and files that a peer can take are bounded (ReceiveOptions).
//  5. What comes from a peer is printed only when it is fit to be printed.
package files
