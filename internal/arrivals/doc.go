// Package arrivals is who has come to a listener and is not in yet: connections that have not said who they are, and endpoints that
// nobody has accepted. It only keeps the books, and decides who makes room; it closes nothing.
//
//	connection ──▶ Room: silent, greeted ──Hello──▶ Backlog: proving ──confirmed──▶ waiting ──▶ accepted
//	                      └ too late, or others need          └ never                  └ gone before
//	                        the place
//
// Only the engine imports it.
//
// Invariants:
//
//  1. A room has never more than twice its places.
//  2. Nobody is kept out by connections that just stand there: whoever comes gets the place of one that has said less, or came earlier, unless
//     all have come so lately that nobody has listened to them.
//  3. Whoever is not let in is counted, once.
//  4. An endpoint is handed to one who accepts, once, and never after it is gone.
package arrivals
