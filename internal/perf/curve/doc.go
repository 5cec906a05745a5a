// Package curve draws percentiles: of one test, or of several to be compared.
//
//	meter.Percentiles ──> Series ──┬─> Text: for a terminal
//	                               └─> SVG: for a report
//
// Across is how rare a time is, a unit for each nine: 90 %, 99 %, 99.9 %; that is where tails of latencies are seen. Upwards is the time, by powers of
// ten. internal/perf's commands import it.
//
// Invariants:
//
//  1. The same points give the same bytes.
//  2. A curve ends where its operations do: at the longest of n, which one in n is.
package curve
