// Package mail sends and takes the datagrams by which transport/rc makes connections, over the queue pair of a port that
// everybody knows. Where the port's device keeps that queue pair to itself, they have a device of their own, in software, at another UDP port of the same address.
//
//	Post(to, message) ──> handle: the address, resolved now ──> SEND ──> completion: the handle ends
//	Progress ──> said(message, from)
//
// transport/rc imports it.
//
// Invariants:
//
//  1. A message may be lost; who needs an answer sends it again.
//  2. A handle lives as long as sends use it. One whose neighbour moved is used by no new send.
package mail
