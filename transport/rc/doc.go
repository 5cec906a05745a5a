// Package rc carries frames over reliable-connected queue pairs of an RDMA device: one transport for every implementation of
// the contract in package rdma.
//
//	Post ──> ledger + runs ──┐ Flush: segments, credits      Progress: completions ┌──> frames ──> Sink.Frame
//	         control frames ─┴──> SEND ──> queue pair          receives ───────────┴──> parts ──> memory of Sink.Place
//	                                          │                     │
//	Dial, Listen ──> REQ, REP, RTU, DREQ ──> queue pair 1 of the port (datagrams)
//
// Who may import it: programs and tests; it knows no device, a program hands it one (Options.Open). docs/rc.md has the
// exchange, the bytes and the reasons.
//
// Invariants:
//
//  1. A frame is acknowledged when the peer's sink has taken it, and only its own word says so: that a SEND completed means that it is
//     in a receive over there, no more.
//  2. Memory that a work request names is held by that work request until it completed, was flushed, or its queue pair was destroyed;
//     whoever else holds it may let go at any time. No memory of the user's is ever named.
//  3. Each posted work request ends once in the books: by its completion, by one of a later work request, or with its queue pair.
//  4. Credits: segments sent ≤ receives that the peer has posted. The last one is kept for saying how many we have.
//  5. A completion queue has room for everything that may come into it: who has none left for the next work request waits in line.
//     Room that a destroyed queue pair may still fill comes back when the queue was seen empty.
//  6. OnError comes before anything of that failure ends, and never with a queue pair that still works: it is in ERR first.
//  7. Addresses are resolved when a connection is made, and for each datagram; no handle outlives the sends that use it.
//  8. Data frames are handed over in the order in which they were posted, whether they are sent or read.
//  9. What was offered to a peer can be read until it is acknowledged or the connection ends, and not after.
//  10. A queue pair number, a packet number and the name of a connection are random; a datagram that names no connection of its sender
//     is answered at most by one of the same size, and changes nothing.
package rc
