// Package ring is one direction of a shared-memory connection: slots and bytes in memory that two processes have mapped. One writes
// and one reads; neither waits, and neither trusts the other.
//
//	Writer: Reserve(n) ──> where the bytes go ── Publish(header) ──> Reader: Next() ──> header, bytes ── Done()
//	              ^                                                                                       |
//	              +──────────────── how many slots were read: one word, each quarter of the ring ─────────+
//
//	| lines: what was read, who sleeps | slots of 64 bytes | data ring |
//
//	slot:  | sequence 32  id 8  flags 8  head 16 | size 32  ack 32 | up to 48 bytes |      else they are in the data ring
//
// A frame of size bytes is cut into pieces of Piece bytes; each takes a slot, whose size is what is left of the frame with it. Where a piece lies follows
// from the sizes before it, so there is no offset and no index to be believed. docs/shm.md has the picture; ADR 24 (docs/adr) says what
// of Go and of the processor this stands on.
//
// transport/shm imports it, and its tests. It is the one room with unsafe.
//
// Invariants:
//
//  1. The word with the sequence number is stored last, in one piece, and loaded first: who sees it sees the slot and its bytes.
//  2. A slot's sequence number names it among 2^32: the reader takes exactly the next one, what the last lap left is "nothing yet", and anything else is ErrGarbage.
//  3. Every value is loaded from shared memory once, and checked before it is used. Whatever the other side writes there, no
//     access leaves the ring's memory, and no call runs longer.
//  4. A writer that dies at any instruction leaves a ring from which everything that it published can be read.
//  5. Whoever reads all that there is has given back three quarters of the ring at least: a piece fits, so nobody waits for ever.
package ring
