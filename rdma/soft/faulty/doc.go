// Package faulty has the datagrams of a carrier suffer what a fault.Injector says: they are lost, doubled, late or spoiled, or the link is down.
//
//	rdma/soft ──> Carrier ──[ fault.Link ]──> rdma/soft/udp, rdma/soft/fabric
//
// Who may import it: programs and tests. A seam between two packages that don't know each other; carrier.Faults is for tests
// of the device, with rules about single packets.
//
// Invariants:
//
//  1. Without a rule in force each datagram passes as it is, at the price of a lock.
//  2. What is received late is late where it is sent: only that has an order. So dir=rx delays nothing that is not also sent here.
package faulty
