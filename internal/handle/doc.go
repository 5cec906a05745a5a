// Package handle is what a user holds of an operation: a small value by which he waits for its end, asks for it, is told of it, or lets go. It also
// has who posts wait for room, where a call may block.
//
//	post ──▶ Handle ──┬─ Wait      makes progress until the end; gives it back
//	                  ├─ Test      looks
//	                  ├─ Then      is told, at the end of a turn; gives it back
//	                  └─ Release   doesn't want to know; gives it back
//
// Only the root package imports it. The engine stands behind an interface; who makes progress is internal/crank's to say.
//
// Invariants:
//
//  1. A request is given back once: by the first of Wait, Then and Release. All copies of its handle say ErrRequest from then on, whatever the request is used for next.
//  2. Nothing is posted by a call that may not wait.
//  3. A wait ends with its context, and the buffers are the caller's then.
package handle
