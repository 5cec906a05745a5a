// Package lint holds the rules of this module that a compiler can't: sizes, arrows between
// packages, names, what the engine must not touch. `go test ./internal/lint` checks them.
//
//	source tree --Load--> Module --Check--> findings, sorted by place
//	                        |
//	            rooms.go    +-- sizes    files, functions, parameters, structs, packages
//	            (the table  +-- arrows   a package imports only what stands lower
//	             of rooms)  +-- imports  what may come from outside of the module, and cgo
//	                        +-- names    doc.go, package names
//	                        +-- banned   init, wall clock, global luck, goroutines, leftovers
//	                        +-- docs     comments of exported names
//
// Nobody imports it. It reads source text and never builds anything, so files of every
// operating system and build tag are checked wherever it runs.
//
// Invariants:
//
//  1. Every package of the module has a row in the table of rooms; a package without one fails.
//  2. Each rule has a test in which a small source text breaks it, so that each rule can fail.
//  3. A finding names the place, the rule, and what to do.
package lint
