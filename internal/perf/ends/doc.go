// Package ends opens the two ends of a measurement: nodes with the settings, the transport and the error mode that somebody asked for, and with
// limits that are no part of the question.
//
//	Setup ── Validate ──> Open ──> node, worker
//
// internal/perf and its commands import it. Invariants:
//
//  1. What the user has set counts more than what is set here; what a flag decides is refused where it is also set.
//  2. A figure is of the transport that stands beside it: no other one is asked for.
package ends
