// Package fsm writes the life of an object as a table that can be printed whole.
//
//	state --event--> state      what isn't in the table can't happen
//
// Anybody may import it. It is for lives (endpoint, lane), not for dialogues or fast paths.
//
// Invariants:
//
//  1. A table never changes after New.
//  2. A state field is written by Note only; an event that the table lacks leaves it alone and is reported.
package fsm
