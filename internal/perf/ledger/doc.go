// Package ledger counts the operations of a benchmark where they arrive.
//
//	number, payload --> Ledger --Final--> Tally: arrived, lost, doubled, spoiled, out of order
//
// internal/perf imports it.
//
// Invariants:
//
//  1. What is counted is what was seen, never what the library says of itself.
//  2. A number counts once as arrived; each further time it is doubled.
package ledger
