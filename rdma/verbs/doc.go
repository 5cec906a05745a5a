// Package verbs drives RDMA adapters through libibverbs, as rdma.Device. It is the only package with cgo, and only with the build tag verbs;
// without it Open says how to get it.
//
//	rdma.SendWR, RecvWR ──> books, scratch in C memory ──> shim.h ──> ibv_post_send, ibv_post_recv
//	rdma.WC <── books ─────────────────────────────────── shim.h <── ibv_poll_cq
//
// The library is loaded when the first device is asked for (load.c), so that a program with this code in it runs where there is none. docs/verbs.md says which call of the contract is which of libibverbs. Programs and transport/verbsrc import it; it imports rdma, rdma/verbs/books and internal/poll.
//
// Invariants:
//
//  1. A list of posts is one crossing, and so is a batch of 64 completions, whatever is in them.
//  2. What adapters know of a region is two keys: a local one and, if it has a remote right, a remote one, which ends at once.
//  3. Memory of Go's that an adapter knows is pinned until it doesn't. Lists and pieces of work requests are in C memory.
//  4. An adapter's own words are believed for what has ended only: what is posted, and what it names, is in books.
//  5. A queue pair that is known to be in ERR gets a last send of ours when its completion queue is empty and sends are left that asked for
//     no completion: what stands before it is over.
//  6. When Close returns, no object of libibverbs is left (Objects).
package verbs
