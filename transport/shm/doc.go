// Package shm carries frames between processes of one host through memory that both have mapped: no socket, and no system
// call, while both poll.
//
//	Post ──> ledger ──> ring: slots, data ──> the other process: Progress ──> Place, Frame
//	Executed <── Progress <── ring: slots with acknowledgements <── Flush
//	unix socket: the handshake; one byte wakes who sleeps; its end is the peer's end
//
// docs/shm.md has the pictures: segment, handshake, sleeping, what is believed. Who may import it: programs (through the root package), tests. It imports transport,
// internal/{fsm, ledger, mpool, poll} and its own rooms: ring and segment, greeting, life, crowd, frames, bulk, cma, loan.
//
// Invariants:
//
//  1. Nothing that stands in shared memory is believed: it is loaded once and checked, and what the engine gets lies in memory of this process.
//  2. The ring is a pipe: what is not acknowledged is kept in the books, in private memory or the user's.
//  3. A slot's acknowledgement covers no frame of which this side still has something to say: control frames go before data, and each carries what
//     was accepted when it was posted.
//  4. An acknowledgement is applied after the frame in front of which it came was handed to the sink.
//  5. Who is about to sleep has said so in the ring, and has looked once more after that.
//  6. What the peer published before its end is read before OnError.
//  7. Each segment counts against the limit from before it is made until it is unmapped, and is unmapped with the connection.
//  8. Only the owner touches an Iface; only buffers may be given back by others.
//  9. A payload that stands in the peer's memory is handed over only if its place is what it was when it was read; and before such memory is given back the place is changed.
package shm
