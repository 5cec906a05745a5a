// Package inspect is what a process of braid looks like from inside, as data and as text: what `braid inspect` shows, and what is
// logged when a deadline expires.
//
//	internal/worker ──Inspect──> Worker, Endpoint, Lane ──> JSON over the control socket ──> text
//
// Everybody may import it; it knows nothing.
//
// Invariants:
//
//  1. There is no key, secret or byte of a message in it.
//  2. The same data gives the same text.
package inspect
