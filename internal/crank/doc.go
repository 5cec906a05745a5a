// Package crank is who makes progress for a worker's engine, and when: the one who owns it, or whoever waits, or a goroutine that sleeps until
// something arrives (ADR 6, ADR 13, docs/progress.md).
//
//	Owned    the owner's goroutine: Progress, Wait -----------------------------+
//	Shared   who waits: Await -- lock --+-- turn --> engine.Turn --> unlock -----+--> the user's code that became due, without the lock
//	         nobody waits: the keeper --+                                       |
//	         the keeper runs the user's code, and it takes its time: a relief --+
//
// The code of the library's own families (what a stream does with its messages) runs as the user's does, and apart from it: it waits for nobody, and a call of the
// user's may wait for it.
//
// Only the root package and internal/handle import it.
//
// Invariants:
//
//  1. One goroutine at a time is inside the engine: under the lock, or, if the worker is owned, the owner.
//  2. User code runs without the lock, one call at a time, in order. A call that panics takes no other with it.
//  3. Whatever is due, somebody who is awake or will wake in time does it.
//  4. After Close nobody of the library is left.
//  5. What the library's own families have due is run, in order, also while a call of the user's takes its time.
package crank
