// Package invariants finds misuse that would cost too much to look for in every program: compiled in by the build tag "invariants", nothing
// without it.
//
//	go test -tags invariants ./...
//
//	Enter --- somebody is inside --> panic, with the names of both
//	  |
//	  +-- nobody is --> ... Leave
//
//	event in a state ── Require(the table knows it) ── it doesn't --> panic, with the names of both
//
// Anybody may import it.
//
// Invariants:
//
//  1. Without the tag a Solo has no size, and its methods do nothing.
//  2. With it, who enters while another is inside panics, and does not come in; who was inside goes on.
//  3. With it, an event that the table of a life does not have in its state panics.
package invariants
