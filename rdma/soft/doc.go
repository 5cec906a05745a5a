// Package soft is an RDMA device in software: the contract of package rdma, spoken as RoCEv2 over any carrier.
//
//	PostSend ─> ring ─> requester ──┐            ┌── tx batch ─> carrier.Send
//	                      ^  acks   ├─ ready ────┤
//	PostRecv ─> receives ─┼─ responder ─ answers ┘
//	                      └──────── by queue pair <── carrier.Recv
//	Poll <── CQ <── completions of both
//
// It runs inline in post and Progress, without goroutines. Who may import it: programs and tests that open a device;
// transport/rc knows the contract only.
//
// Invariants:
//
//  1. Ring: head ≤ send ≤ pi as 16-bit indices, pi - freed ≤ SendBlocks. freed moves when completions are polled.
//  2. Requester: una ≤ psn ≤ high ≤ next as 24-bit numbers: acknowledged, to be sent next, ever sent, given to work requests.
//  3. Responder: epsn moves by the packets whose effect is there, in the same step.
//  4. A region's uses are the SGEs of its posted work requests that are not completed.
//  5. Same calls, same times, same luck, same datagrams in: same datagrams out, same completions.
package soft
