// Package topo decides between which addresses lanes are built.
//
//	rails here x addresses of the peer -> paths, one lane each
//
// Only the engine and the root package import it. Pure.
//
// Invariants:
//
//  1. A path joins addresses of one family, and never a loopback address with one that isn't.
//  2. The same input gives the same paths in the same order.
package topo
