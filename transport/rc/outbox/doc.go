// Package outbox keeps what one connection has posted and no work request carries yet: frames as bytes in registered memory, cut into
// pieces of one segment each.
//
//	Put ──> control |run|run|        Peek, Take ──> a piece: [at, to) of a block
//	        data    |run|run|run|
//
// transport/rc imports it. It posts nothing.
//
// Invariants:
//
//  1. Pieces leave in the order of Put, of control and of data frames each; control first.
//  2. Pieces of one large frame have no other of the same class between them.
//  3. A block is held by its run until the last piece was taken, and by the books of frames until the frame ends.
package outbox
