// Package ledger keeps the books of one direction of one connection: the data frames that were
// posted and that the peer has not acknowledged yet.
//
//	   acked            posted
//	     v                v
//	.....[ e | e | e | e ].....     Push at the right, Ack at the left
//	         ^ Purge(position): left of it executed, from it on handed out
//
// Owing is the other direction's books: who owes the peer an acknowledgement, and which is due first.
//
// Who may import it: transports. It knows no bytes, no clock, no connection.
//
// Invariants:
//
//  1. acked <= posted; an acknowledgement outside of [acked, posted] changes nothing.
//  2. Each entry ends exactly once: by Ack, by Purge (executed or handed out) or by Cancel.
//  3. A held ledger takes no acknowledgement and no entry.
//  4. Callbacks see books that are already closed for the entry they are about.
package ledger
