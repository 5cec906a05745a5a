// Package mix is several transports as one: an endpoint then has lanes of each, and they take over from each other.
//
//	                ┌─ Takes("10.1.0.7")? ──> rc
//	Dial, Listen ───┤
//	                └─ else ────────────────> tcp
//
// Programs import it and hand it to braid.Open; it knows package transport, and how to take turns with several (internal/rota). An address belongs to one transport, on both sides alike: that
// of its rail.
//
// Invariants:
//
//  1. Each connection is one of a part's own: mix stands between when it is made, and never after.
//  2. The limits are the smallest of all parts; a promise holds if every part makes it. Memory that one part can lend is lent over its connections.
package mix
