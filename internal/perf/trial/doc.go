// Package trial is a run in which things are broken on purpose: it has the injector, writes down what happens, and hands all of it to
// the judge.
//
//	plan ──> fault.Injector <── drive.Driver         Event, Done <── who runs
//	               └──────── strokes ──> Trial <──────┘   └──> lines of JSON
//	                                       └──> verdict.Judge
//
// internal/perf imports it.
//
// Invariants:
//
//  1. All stamps are of one clock, whose zero is the end of the warm-up. An event is stamped when the news arrives, so that no blackout
//     is too short.
//  2. A completion costs one look at the clock, and nothing that is allocated unless the gap before it was long.
package trial
