// Package cost says how an operation of so many bytes is carried out on given lanes, and what that is expected to take.
//
//	what each lane brings: round trip, rate, a frame's own cost, where copies end ──┐
//	what was agreed on: frames, messages; what was set: thresholds by force ────────┴─> Choose ──> Thresholds: what the post path compares sizes with
//	                                                                                        └────> Model.At, Ranges: size -> protocol, lanes, time
//
// An endpoint has a Model, and chooses anew when its lanes change or are found to bring something else: internal/outbox. What is said about an
// operation and what is done come from the same numbers; a test of package explain counts the frames. docs/explain.md tells the whole story.
//
// Pure: no lane, no clock. Choose allocates nothing; the rest is for people.
//
// Invariants:
//
//  1. Whatever a lane is thought to bring, a threshold stays within bounds that are right anywhere: a wrong measurement costs little.
//  2. What was set by force holds, whatever lanes do.
//  3. The ranges of an operation join: each size is in one, up to the largest that may be posted.
package cost
