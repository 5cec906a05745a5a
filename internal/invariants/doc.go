// Package invariants finds misuse that would cost too much to look for in every program: compiled in by the build tag "invariants", nothing
// without it.
//
//	go test -tags invariants ./...
//
//	Enter --- somebody is inside --> panic, with the names of both
//	  |
//	  +-- nobody is --> ... Leave
//
// The root package imports it.
//
// Invariants:
//
//  1. Without the tag a Solo has no size, and its methods do nothing.
//  2. With it, who enters while another is inside panics, and does not come in; who was inside goes on.
package invariants
