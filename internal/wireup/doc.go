// Package wireup is the handshake of one connection, as a dialogue without I/O, and what the two sides
// agree on in it.
//
//	opener                        acceptor
//	  Preface, Hello  ---------->
//	                 <----------  Preface, and one of:
//	                              HelloAck   the lane is up on both sides
//	                              Busy       not this instance, take another
//	                              EPClosed   the endpoint that you mean isn't here
//	                              Reject     no, and why
//
// Only the engine imports it.
//
// Invariants:
//
//  1. Nothing but a Preface is looked at before a Preface was accepted; nothing but the one
//     next message after that.
//  2. An answer counts only with the echo of the opener's own nonce.
//  3. What is agreed is never more than either side offered.
package wireup
