// Package packet has every byte of RoCEv2: what stands between a UDP header and the end of the datagram.
//
//	UDP │ BTH │ RETH AtomicETH DETH AETH AtomicAckETH ImmDt IETH, as the opcode says │ payload │ pad │ ICRC
//	    │ 12  │ 16   28        8    4    8            4     4                        │         │ 0–3 │ 4
//
// Everybody below and beside rdma/soft may import it; it imports only the standard library.
//
// Invariants:
//
//  1. What Parse accepts, Append writes again byte for byte, but for bits that a receiver must ignore.
//  2. Parse never panics and never reads beyond the datagram; the payload is a part of it, not a copy.
//  3. Numbers are big-endian, but the ICRC, which is little-endian.
package packet
