// Package flow is the life of one byte stream and the windows of its two directions, without I/O.
//
//	what the user calls, what arrives --> Life.Step --> the next state, and what is to be said
//	Send:    sent <= granted                                       what the peer has room for
//	Receive: consumed <= arrived <= granted <= consumed + size     what is kept for a reader who takes his time
//	Budget:  what the windows of one endpoint may be larger than at first, all in all
//
// Who may import it: package stream.
//
// Invariants:
//
//  1. A stream that both sides close ends on both, whatever order things are called and arrive in; nobody waits for what isn't coming.
//  2. A side that keeps the rules is never told that it broke them. "-" in testdata/life.txt is what a call does nothing in, and what an
//     arrival breaks the rules with.
//  3. Close is answered at once, by the library: who closes waits for no user.
//  4. A receiver keeps no more than the size of its window. It grows when the sender has used it up and the reader waits all the same, within the budget.
//  5. Whoever has consumed all that came has told so: a sender that has used its window always hears of more.
package flow
