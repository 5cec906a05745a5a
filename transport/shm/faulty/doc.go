// Package faulty has connections through shared memory suffer what a fault.Injector says: they are reset, fall silent, stand still, or carry no
// more than so much.
//
//	engine ──> endpoint ──> transport/shm ──[ Options.Fault <── fault.Pipe ]──> ring ──> the other process
//	           rate, graves
//
// Who may import it: programs and tests. A seam between two packages that don't know each other, as rdma/soft/faulty is.
//
// Invariants:
//
//  1. Without a rule each call passes as it is.
//  2. A connection that fell silent is kept, for the peer's eyes, until the rule is over, even if its owner closes it; for its owner it is closed.
//  3. A rate refuses frames with NoResource and says Room: bursts are one frame, and of what is received one turn. Control frames pass, and count.
//  4. What is cut between two turns is cut with the next one.
//  5. What is borrowed is not used from the turn on in which a rule is in force on the connection, until it is over: what is copied without frames
//     would go around the rule. Nothing is lent: a peer without an injector could go on copying for a turn of his.
package faulty
