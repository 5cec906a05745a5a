// Package topo decides between which addresses lanes are built, and says why not between others.
//
//	table of this host's rails ──┐
//	what the user chose (Rails) ─┼─> Usable: each rail, usable or why not
//	                             │
//	addresses to dial ───────────┼─> Dials: what is tried for the first lane, in which order
//	addresses the peer told ─────┼─> Plan:  all lanes that there should be, and each that should not, with its reason
//	addresses that are bound ────┴─> Bind, Told: where a listener listens, and what it tells a peer
//
// Tables in, plan out: docs/rails.md has the rules. The engine, the root package and internal/rail import it. Pure.
//
// Invariants:
//
//  1. A path joins addresses of one family, and never a loopback address with one that isn't.
//  2. An address that this host has too is dialed only if the peer is on this host.
//  3. Of two sides with n and m interfaces each usable one that reaches the other side has a lane, as far as limits allow.
//  4. The same input gives the same plan in the same order. Whatever is left out has a reason.
package topo
