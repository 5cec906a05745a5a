// Package direct does operations on a peer's memory where a transport has it mapped here: a copy, or an atomic operation, instead of a frame.
//
//	put ──> Reach.Put ── true: done, executed
//	                 └── false: it must be a frame, and the target says what is wrong with it
//
// internal/outbox imports it, and looks after fences. It knows keys, and no lane.
//
// Invariants:
//
//  1. An operation is done whole or not at all.
//  2. No byte outside of what the key names, and of what is mapped, is touched; and none without the right that the owner has granted, not the key.
//  3. Between Enter and Leave of a window there is nothing but the copy.
package direct
