// Package tally numbers operations on one side and counts them by their content on the other: how the demo knows what arrived.
//
//	sender                                  receiver
//	  block n ──put──> slot n mod Slots       Check: number, checksum, SHA-256; takes the number away
//	  word n  ──put──> word n mod Slots       Sweep: polls, counts, clears
//	  flush, then Announcement ──message──>   GiveBack: is all still as Check left it?
//	  note n ──message──>                     Order: number n is due, content follows from n
//	  Ending ──message──>                     Conclude: what is missing, what came twice
//
// Who may import it: internal/demo.
//
// Invariants:
//
//  1. It knows nothing of lanes, frames or acknowledgements: what is counted lies in memory or came as a message.
//  2. A number counts once. Seen again it is doubled; not seen, or only with other content, it is lost.
//  3. A slot without its number is watched: a put that lands there before the slot is given back shows.
//  4. No input panics: what is impossible is a problem, and told.
package tally
