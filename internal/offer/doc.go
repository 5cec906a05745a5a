// Package offer is payloads that stay with their sender until the receiver has said where they are to go, and the active messages that are sent so.
//
//	Send --small--> message -------------------------------> its handler, payload and all
//	     \-large-> offer: key, size, the message's header --> its handler --Receive--> read into the handler's memory
//	                     <------------------ note ----------              --Piece...-> or piece by piece
//	                                                                      --LetGo----> or not at all
//
// The engine and the root package import it, and internal/tags, whose large messages are offered in the same way. It knows a peer as an interface.
//
// Invariants:
//
//  1. An offer is told about once: read, given up, or nobody's.
//  2. Memory that an offer is read into is not written to after the read has ended, for whatever reason.
//  3. Until it is told about, its sender's memory can be read. After that nothing is asked for.
//  4. An offer holds nothing of the receiver's but itself: what it costs is what an empty message with its header does.
//  5. Everything runs inside the owner's turn or call; user code never.
package offer
