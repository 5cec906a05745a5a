// Package interop tries the software RDMA device against devices that others made.
//
//	TestVerbs ── TCP: what to do ──> testdata/peer.c ── libibverbs ──> a RoCE device: the kernel's (rdma_rxe), or hardware
//	    └── RoCEv2: rdma/soft over rdma/soft/udp ─────────────────────────┘
//
// `make interop` does it in two virtual machines. By hand: on a machine with such a device cc -o peer testdata/peer.c -libverbs && ./peer ADDRESS 5555,
// and on another one, since the kernel's device takes port 4791 on all addresses of its own, BRAID_VERBS_PEER=ADDRESS:5555
// BRAID_VERBS_LOCAL=OWN-ADDRESS go test -tags interop ./test/interop.
//
// Invariants:
//
//  1. The tests have a build tag: where they can't run they are not there, so that none is skipped in silence.
package interop
