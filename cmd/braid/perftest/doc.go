// Package perftest is `braid perftest`: its flags, batch files, and how results are printed. What measures is internal/perf.
//
//	perftest.go   the flags, and the two forms: server and client
//	batch.go      the tests of batch files; sizes.go numbers as -s and -T have them
//	scaling.go    several threads, and how that grows; plot.go percentiles as curves
//	idle.go       flags that would do nothing beside the others are refused
//	ucx.go        letters and lines as ucx_perftest has them, letters.go those that mean nothing here
//	print.go      tables, CSV and JSON
//
// Who may import it: cmd/braid.
//
// Invariants:
//
//  1. A figure means what its command line says: a flag that does nothing is an error.
package perftest
