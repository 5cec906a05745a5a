// Package demo loses lanes on purpose, in front of an audience, and counts what that did: what `braid demo` runs.
//
//	                    orchestrator: prints, compares, judges
//	             lines of JSON |                      | lines of JSON
//	                           v                      v
//	file ──> sender  ═ lane 0 ═ injector ═ rail 0 ═ receiver ──> checker
//	or data  process ═ lane 1 ═ injector ═ rail 1 ═ process      counts what arrived
//
// Three kinds of operations run at once, so that each can be counted by what it does at the receiver:
//
//	blocks    puts of the data, each with its number and a checksum, into a ring of slots. A flush covers a window of them, then
//	          a message announces it. The receiver checks a block, takes its number away, and looks again before it
//	          gives the slot back: a put that lands twice brings the number back, one that lands late brings an old one.
//	words     puts of eight bytes, the number of an operation. The receiver polls for them and clears them: a second
//	          landing shows as a number that was seen before.
//	messages  with a running number and content made of it; the receiver checks number, order and content.
//
// Who may import it: cmd/braid.
//
// Invariants:
//
//  1. The receiver's counts come from bytes that it found, never from what the engine says of them.
//  2. Nothing is judged good by default: an operation that was not seen is lost, a cut that hit nothing fails the demo, and so
//     does a lane of which the two engines' own books differ.
//  3. Stamps of both processes are of one clock, the host's monotonic one. A blackout is stamped when the news arrives, so
//     it is never too short.
//  4. Every wait has an end. A child whose parent is gone ends by itself.
//  5. Only the orchestrator prints, and judges.
package demo
