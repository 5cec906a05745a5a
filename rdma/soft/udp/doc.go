// Package udp carries the datagrams of a software RDMA device through one UDP socket, without privileges. Linux only.
//
//	Send ── runs of equal datagrams ──> one message each, cut by the kernel (UDP_SEGMENT) ── sendmmsg
//	Recv <── cut up again (UDP_GRO) <── recvmmsg
//
// Programs and tests import it; it imports the contract of carriers. docs/rdma.md says what a socket can't know.
//
// Invariants:
//
//  1. The socket is bound to one address, never connected, and sends with DF: so the kernel's identification is 0, and counts up
//     from 0 within a run that it cuts. Each datagram is sealed for the one that it will get.
//  2. Nothing blocks. A datagram that the system refuses for good is lost, as on any network.
package udp
