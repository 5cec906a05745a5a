// Package outbox is the operations of one endpoint that are not executed yet: those that wait, those
// that are on lanes, and those that a lost lane handed back.
//
//	Post --+--> frame on a lane ------ acknowledged ------> executed: Retire, flushes
//	       |        |   ^                                        ^
//	       v        |   | room, in order                         |
//	     waiting ---+---+                                        |
//	                |                                            |
//	             lane lost --TakeBack(position)--+-- before it: -+
//	                                             +-- from it on: replays, in front of what waits
//
// Only the engine imports it. It knows lanes by their connection and whether they are up, and no bytes but those of
// internal/protocol's frames.
//
// Invariants:
//
//  1. Each operation is in the book from its post to its execution, at the place where it is (R12; docs/fence.md).
//  2. Frames with an order promise that are not acknowledged are all on one lane: order.Line (R10).
//  3. What a lost lane hands back goes before everything that waits in its class (R13).
//  4. An operation without order promise never waits behind one that must wait for the order lane.
//  5. A request ends once for its user, and once for the book.
package outbox
