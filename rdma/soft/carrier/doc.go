// Package carrier is what a software RDMA device sends its datagrams through: sockets, or a network in memory.
//
//	rdma/soft      Send, Recv
//	               │
//	Faults         drops, doubles, delays, spoils (optional, in front of either)
//	               │
//	Carrier        rdma/soft/udp: sockets      rdma/soft/fabric: memory, virtual time
//
// rdma/soft and the carriers import it; it imports rdma and rdma/soft/packet.
//
// Invariants:
//
//  1. Datagrams may be lost, doubled, overtaken and spoiled; nothing above may rely on more.
//  2. Send seals each datagram: only the carrier knows the identification with which it leaves.
//  3. What Recv hands out is valid until the next Recv.
//  4. Nothing blocks, calls back or starts a goroutine. One owner at a time.
package carrier
