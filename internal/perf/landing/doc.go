// Package landing is the memory into which a server of a measurement reads what it is offered, and uses again.
//
//	message, offered ── Receive ──> memory of its size ── here ──> counted ──> the next one's
//
// internal/perf imports it. Invariants: what is received is handed on once, with its header, in the order in which the handler had it; memory is nobody else's meanwhile; there is no more of it than messages
// were received at a time.
package landing
