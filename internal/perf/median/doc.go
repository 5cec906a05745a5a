// Package median has the median of a sample and where the true one lies, without assumptions on how values are distributed.
//
// internal/perf and bench import it; it is pure.
//
// Invariants:
//
//  1. The interval holds the true median with 95 % or more, by the binomial distribution of ranks.
package median
