// Package mutants breaks the engine on purpose, one rule at a time, and runs the tests that must notice.
//
//	list_test.go  file, text, other text  --go test -overlay-->  the named tests must fail
//
// It holds tests only. It runs where BRAID_MUTANTS is set: each mutant is a build of its own.
package mutants
