// Package segment makes memory that two processes share, and the socket over which they agree about it: everything of shared memory that is the
// system's, and nothing of what stands in it.
//
//	Create: memfd, space reserved, sealed, mapped ── Send over a socket ──> Receive ── Attach: checked, mapped
//	Listen, Dial, Accept: sockets by a name that no file has; Peer: who is at the other end
//
// transport/shm imports it. Linux only.
//
// Invariants:
//
//  1. The memory's size never changes and its space is reserved before anybody touches it: no access can raise SIGBUS.
//  2. Of a descriptor that a peer passes nothing is believed: what it is, its size and its seals are asked of the system.
//  3. Whatever a call returns with an error, it has closed what it opened and what was passed to it.
//  4. No call waits.
package segment
