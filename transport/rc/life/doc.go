// Package life is what can become of a connection of transport/rc, as a table.
//
//	connecting ──connected──> up ──quiesce──> quiesced
//	accepting  ──────┘        │                  ^
//	    └──────broke──────────┴──> broken ──quiesce
//	                                        close, from anywhere ──> closed
//
// transport/rc imports it, and writes the state of a connection by Table only.
//
// Invariants:
//
//  1. A connection that is accepting is nobody's yet: the acceptor hears of it when the peer has shown that it got the answer.
//  2. What is closed stays closed.
package life
