// Package tcp carries frames over non-blocking TCP sockets that are read and written directly:
// no net.Conn, no poller of the runtime, no goroutine.
//
//	Post ──> ledger + chunks ──┐ Flush: one writev            Progress: one read ┌──> parse ──> Sink.Frame
//	         control frames ───┴──────────> Stream ──> socket ──> Stream ────────┴──> memory of Sink.Place
//	                                          ^ Options.Wrapper (faults)
//
// Who may import it: programs (through the root package), tests. It imports transport, internal/ledger,
// internal/mpool and internal/poll.
//
// Invariants:
//
//  1. Bytes are known in packet.go only; docs/wire.md, "TCP framing", describes them.
//  2. Frames are written whole and in posting order; control frames go at the next frame boundary, before data frames of
//     which nothing is written yet.
//  3. Of the headers that are not written yet at most one carries an acknowledgement: the last control frame's, or, if none
//     waits, the first data frame's. So acknowledgements never go back, each is as late as it can be, and none passes by
//     what this side has said of the frames that it covers.
//  4. The acknowledgement in a header is applied after the frame behind it was handed to the sink; so what a
//     peer says of a frame (a refusal, say) is seen before the acknowledgement that covers it.
//  5. No acknowledgement covers a frame while the sink is taking it. If the sink quiesces the endpoint from
//     inside Frame, that frame counts, at once.
//  6. A chunk is held by the endpoint while it is filled, then by the last frame in it: frames end in order.
//  7. Writing fails silently; what the peer sent before is read first, then OnError is called, from Progress.
//  8. A turn reads a bounded number of bytes of each endpoint.
//  9. Only the owner touches an Iface; only buffers may be given back by others.
package tcp
