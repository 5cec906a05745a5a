// Package verbs tries braid as a whole over RDMA adapters: lanes that are cut by their links, by addresses and devices that go, and by faults in front of
// adapters; fences meanwhile; a host without libibverbs.
//
//	program ── package braid ── transport/verbsrc ── rdma/verbs ── two rails of a machine whose links these tests take down
//
// `make verbs` runs it in virtual machines with the kernel's soft-RoCE, in which ip may do as it likes. BRAID_VERBS_RAILS are the addresses of its rails.
//
// Invariants:
//
//  1. The tests have a build tag: where they can't run they are not there, so that none is skipped in silence.
//  2. No object of libibverbs is left after a test.
//  3. What a loss is known by is looked at, not how long it took: times are printed.
package verbs
