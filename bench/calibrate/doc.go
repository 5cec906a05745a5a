// Package calibrate measures what package internal/cost reckons with, and holds what it expects against what is measured.
//
//	Copy, Lend            constants of a machine: a byte that is copied once more, memory that is registered for one message
//	Line                  times of operations by size ──> what a frame takes besides its bytes, and what a byte takes
//	Expect                a lane with those ──> what the model says of an operation
//
// bench imports it. The first two take the time of this machine; the rest is pure.
package calibrate
