// Package wire knows every byte that the protocol layer sends: the heads of data frames and the
// bodies of control frames. Both travel in Frame.Head; what a transport puts around them is its own.
//
//	struct ── AppendTo(b) ──▶ bytes ── a frame's head ──▶ bytes ── Decode…(b) ──▶ struct, or a typed error
//
//	 1..31  control   Preface Hello HelloAck Busy EPClosed Reject   who are you, a lane opens
//	                  Confirm                                       the same, with a secret
//	                  Lost Gone                                     a lane was lost
//	                  Ping Pong Close Closed                        alive, and the end
//	32..    data      AM AMFirst AMFrag Put Refused                 operations; counted by the transport
//	        RKey                                                    not a frame: a key's bytes, sent by anyone
//
// Who may import it: everybody. It imports only the standard library.
//
// Every number is little-endian, every size stands before its body. docs/wire.md has each byte in
// tables, testdata/*.golden has one example of each message with its fields named.
//
// Invariants:
//
//  1. A decoder never panics, whatever the bytes are, and reads nothing outside of them.
//  2. What a decoder accepts, AppendTo emits again byte for byte. Only what a Hello or HelloAck carries in
//     optional TLVs that this side doesn't know is left out.
//  3. Reserved bytes and bits are zero, fixed sizes are exact, each list and text has a limit: the rest is an error.
//  4. A control frame fits ControlMax bytes, whatever names, texts and addresses its struct holds.
//  5. Encoders never allocate if b has room. Decoders allocate only strings, the address list, and
//     the one error with which a broken peer's lane ends.
//  6. The first 12 bytes of a Preface never change, in no version: each braid can say which version another one speaks.
//  7. A secret is never printed: not by fmt, not by slog, not as JSON.
package wire
