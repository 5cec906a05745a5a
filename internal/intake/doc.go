// Package intake is what one endpoint does with its peer's data frames: bytes into memory, answers to their requests, messages to their
// handlers or receives, and what is refused.
//
//	head of a frame ── Place ──▶ a region, a get's memory, a message of several frames       (large payloads: no copy)
//	whole frame ────── Take ───▶ the same, or internal/outbox (answers), internal/tags, internal/delivery
//	                        └──▶ Refuse: taken, and not carried out
//
// Only the engine imports it. It knows no lane but by where that is writing (Landing), and never how a lane stands: who calls it has seen
// that the lane is up.
//
// Invariants:
//
//  1. When Take returns, the frame is executed, or refused, or it was none that may come: it counts, so nothing of it is done later, and it never waits (R14).
//  2. An operation that is refused changes nothing, and its peer is told on the lane on which it came.
//  3. What Place has begun, ends: by the frame's Take or by Leave. Until then a region is held against its Deregister, and a message against its delivery.
//  4. Bytes from the wire write to regions that allow it, and within what was asked for; anything else is an error, which ends the endpoint.
package intake
