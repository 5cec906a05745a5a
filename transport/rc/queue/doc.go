// Package queue keeps the books of what a device is given: work requests of a send ring, places of completion queues, memory.
//
//	Memory.Get ──> block ── Ring.Post ──> held ── Ring.Complete ──> back
//	Credits.Take ─────────────┴──────────────────────┴──> Credits.Give
//
// transport/rc imports it. It posts nothing and polls nothing: that is its owner's.
//
// Invariants:
//
//  1. Ring: what is posted ends once, in order, and holds its memory until then.
//  2. Credits: Free + under way + Kept = Depth, and Free is never below 0.
//  3. Memory: a block is handed out to one at a time, from Get to its last Release, and to nobody before it is
//     closed to peers.
package queue
