// Package matrix is what tests have to bear, over what: tests × media × plans, and a verdict for each.
//
//	Media, perf.Tests, Plans ──> Runner.Run: a server, a client, a plan ──> verdict.Report
//
// The command prints it; a small part of it is a test of this package.
package matrix
