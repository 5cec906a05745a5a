// Package pattern is what the payloads of a benchmark look like.
//
//	number of the operation, side --Base--> word --Fill--> payload --Filled--> is it that?
//
// internal/perf and internal/perf/ledger import it.
//
// Invariants:
//
//  1. Each operation, each side and each word of a payload has a content of its own: what is in the wrong place is seen.
//  2. A payload is never all zero, as cleared memory is, unless it is shorter than a word.
package pattern
