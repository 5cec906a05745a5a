// Package control is the socket over which a running process is looked at, and has things broken in it: only where its program or its
// user asked for that.
//
//	braid inspect PID ──┐
//	                    ├── a line of JSON ──> DIR/PID.sock ──> Handler
//	braid fault PID ────┘ <── lines of JSON ──
//
// The root package opens one when Options.Control says so; cmd/braid dials it. It knows no engine.
//
// Invariants:
//
//  1. The directory is this user's alone (0700, and not a link), and who dials is this user: the system says so.
//  2. A socket that stands there is replaced only if nobody answers on it.
//  3. A request is one line of at most 64 KiB within 5 s; at most 8 are served at a time.
//  4. Rules live no longer than the connection that gave them. One that ends before they are over has abandoned them.
//  5. Close ends all of it, waits, and takes the socket away.
//  6. Nobody waits without end: not for a worker that is stuck, nor for a process that is stopped.
package control
