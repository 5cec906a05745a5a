// Package self carries frames inside one worker: between two endpoints of the same interface, without a
// socket and without the system. A program that dials its own listener needs no network.
//
//	endpoint a                       iface                       endpoint b
//	Post(data) ──> ledger of a  <─────────────── taken from ── turn ──> Place, Frame
//	Post(control) ──────────────────────────────> inbox of b ─ turn ──> Frame
//	Executed <── turn ── a's ledger is acknowledged up to what b has accepted
//	             ready: b, a, ... ── Progress: each has its turn, in order
//	             bell: readable while something is ready ── EventFD
//
// There is no wire: a data frame stays in the books of who posted it until the other side takes it from there, and its
// acknowledgement is a number that is read. A payload that was copied by Post is handed over in that copy; a zero-copy
// payload is copied once, from the poster's memory to that of Sink.Place or, without one, to a buffer.
//
// Where nothing is before a frame it need not wait for a turn: Pass hands it to the other side's sink at once, in the copy, and it is in the books no longer than that.
//
// Who may import it: programs (through the root package), tests. It imports transport, internal/ledger and internal/fsm.
//
// Invariants:
//
//  1. A data frame counts in the moment in which it is given to Sink.Frame; its bytes are then no longer in the poster's books.
//  2. Only books that are not held are taken from: what was canceled, quiesced or closed is never delivered.
//  3. A turn looks at what was there when it began: control frames first, then the acknowledgement of what the peer had
//     accepted by then, then data. So what a peer says of a frame is seen before the acknowledgement that covers it.
//  4. Nothing nests: a post inside a callback only makes its receiver ready, and nothing is passed there. Progress gives at most two rounds of turns, each
//     of bounded work; so it ends, whatever callbacks post.
//  5. After each callback everything is looked up again: it may have posted, canceled, quiesced or closed any endpoint.
//  6. If something is ready and Flush has returned, EventFD is readable. It is unreadable again at Deadline, or
//     after a few turns without work, but not after each frame: a busy worker makes no system call. Going from idle to busy and
//     back costs one write and one read of a descriptor, about a microsecond together.
//  7. Only the owner touches an Iface; only buffers may be given back by others.
package self
