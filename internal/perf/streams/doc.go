// Package streams is the far end of a measurement over a byte stream: it takes operations of a fixed size out of the bytes, counts them, looks at
// them, and answers each where it is a latency that is measured.
//
//	Serve ── every stream that a client opens ──> the Taker of its endpoint ──> ledger
//
// An operation has no number in the stream: its place is its number. What is missing or doubled moves all that is behind it, which is then
// corrupt.
package streams
