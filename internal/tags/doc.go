// Package tags is the tagged messages of one worker: what is sent, what arrives, and who wants it.
//
//	Send --small--> message -------------------------> Arrived --wanted--> copied, once, where it is wanted
//	     \                                                    \--not yet-> kept, and counted against the sender's credits
//	      \-large-> offer: key ----------------------> Arrived --wanted--> read from the sender's memory
//	                     <------------- note --------
//
// The engine and the root package import it; it knows a peer as an interface.
//
// Invariants:
//
//  1. A message is matched once: given to one receive, taken by one Take, or withdrawn.
//  2. What is not matched counts against the credits of who sent it (ADR 12), all that is kept of it included. An offer counts as an empty
//     message, however large it is.
//  3. A message that asks for an answer gets one: matched, given up, or withdrawn.
//  4. A receive that has ended, for whatever reason, is not written to any more.
//  5. Who waits for a message without receiving it (PostProbe) changes nothing for those that receive.
//  6. Everything runs inside the owner's turn or call; user code never.
package tags
