// Package rdmatest is the conformance suite of RDMA devices: what every implementation of package rdma must do.
//
//	rdmatest.Run(t, rdmatest.Kit{Open: …, Tick: …})
//
//	side a: PD, CQs, QP, MR  <── messages, writes, reads, atomics, failures ──>  side b
//
// Tests of devices import it. A device that can't do something says so in its DeviceAttr; nothing else is skipped.
//
// Invariants:
//
//  1. Every wait has a deadline, and says at it who waited for what.
//  2. Nothing is asked of a device that the contract doesn't promise: no times, no packets.
package rdmatest
