// Package life is the life of an endpoint, as a table: where it is, and what each thing that happens makes of that.
//
//	Note(&state, event) --> the next state; false: it can't happen now, and nothing changes
//
// internal/worker imports it. Invariant: nobody else writes an endpoint's state.
package life
