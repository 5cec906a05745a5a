// Package explain says how an endpoint carries its operations: which lanes do what, why there are no others, and by which protocol each size of an
// operation goes, with the time and the rate that are expected.
//
//	for _, op := range explain.Ops() {
//		for r := range x.Sizes(op) { // x is explain.Of(ep)
//			fmt.Println(op, r.From, r.To, r.Protocol, r.Lanes, r.Latency)
//		}
//	}
//
// `braid explain ADDR` prints it for a peer that is dialed. How it is chosen: docs/explain.md. Programs and commands may import it; what it says is for people, and its words may
// change.
//
// Invariants:
//
//  1. What it says of a size is what an operation of that size gets that is posted next, as long as no lane changes.
//  2. To look changes nothing, and asks no peer.
package explain
