// Package secret is what two sides share to prove themselves to each other, and what they compute with it.
//
//	text in a file ── Parse ──▶ Secret ── MAC(purpose, message) ──▶ a proof, 32 bytes
//	                              │
//	                              └──── Derive(purpose, message) ──▶ another Secret
//
// Everybody may import it; it imports only the standard library.
//
// Invariants:
//
//  1. A Secret is never printed: not by fmt with any verb, also as part of something else, not by slog, not as JSON. Only Text shows it.
//  2. A Secret that is set has 16 bytes or more, and they are not all the same.
//  3. What is computed for one purpose is of no use for another.
package secret
