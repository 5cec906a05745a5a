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
//  5. Nothing is lent or borrowed: what peers copy without frames could not be broken.
package faulty
