// Package faulty has an RDMA device suffer what a fault.Injector says, where it sends packets by itself so that nobody can stand in front of those.
//
//	transport/rc ──> Device ──[ fault.Link ]──> rdma/verbs
//	        posts wait, completions of receives wait, the port is down
//
// A seam between two packages that don't know each other. Programs and tests import it, and transport/verbsrc.
//
// Invariants:
//
//  1. Without a rule in force each call is handed on as it is, at the price of a lock.
//  2. What is held back keeps its order and is lost with its queue pair only: it is handed on when the rule is over, and when the queue pair is in ERR,
//     where the device ends it.
//  3. Queue pairs that are connected to themselves are left alone: nothing of them leaves the device.
package faulty
