// Package rdma is the contract between transport/rc and whatever offers the verbs of RDMA: a device in software,
// or an adapter driven through libibverbs.
//
//	transport/rc        PostSend, PostRecv          Poll, PollEvents
//	                         |                          ^
//	device       PD ──> QP ──┴── send ring ──> wire     │ WC, Event
//	              ├──> MR, MW   (keys, rights, bounds)  │
//	              └──> AH       (a resolved path)      CQ
//
// Names follow ibv_* where one exists; docs/rdma.md has the tables. Everybody may import it; it imports only the
// standard library and internal/fsm. It is experimental: it may change until it has been run on a card.
//
// Invariants:
//
//  1. A device and all that was made from it have one owner at a time. Nothing blocks, nothing calls back, and nothing
//     happens but inside of calls: Progress moves packets, Poll takes completions, PollEvents takes events.
//  2. A work request that a post took completes at most once, in the order of its queue; those of a send queue, of
//     a receive queue each among themselves. One that asked for no completion gets one all the same if it fails or is flushed.
//  3. After the queue pair entered ERR, each work request that is not completed completes with StatusFlushed, the one that
//     failed with its reason, in order. What is posted later is taken and flushed too. When both queues are empty
//     for the first time, EventLastWQE says so.
//  4. RQPSN of a reliable queue pair in ERR never changes: packets before it are executed, those at and after it are not.
//  5. When Deregister, a bind or an invalidate ended remote access, no packet that is handled later reads or writes there.
//  6. A completion queue never drops a completion in silence: the one that doesn't fit is EventCQOverrun, which ends the queue pairs on it.
//  7. Bytes from the wire are checked against key, rights and bounds before memory is touched.
package rdma
