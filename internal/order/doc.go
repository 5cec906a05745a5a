// Package order is the record of an endpoint's unexecuted work by epoch and place: what a flush waits for, and
// what a fence keeps apart.
//
//	epoch        4    5  | 6    7            | is a fence, the others are cuts of flushes
//	lane d1      2    1    .    .
//	lane d3      .    .    .    3
//	on no lane   .    .    1    2            waiting, handed back by a lost lane, or read and not answered
//
//	a flush that cut after 5   waits until no place has anything of 5 or before
//	7 on d3                    must wait: d1 has something of before the fence
//	7 on d1, if d1 is in order could go at once, if d1 were the only one
//
// A place is a lane instance, not an index: what is at a lost lane's place keeps its epochs, and is moved when it is known
// to be unexecuted. Only the engine imports it. Pure: no clock, no lane. docs/fence.md has the whole.
//
//	Book, Place   the record            Touched   what of it was for which memory
//	Line          the one lane of what has an order (R10)
//
// Invariants:
//
//  1. What entered a place leaves that place, with the same epoch, once.
//  2. Done(e) is true exactly when no place has anything of an epoch <= e; once true it stays true for a cut.
//  3. MayPost(b, p) is false while a place other than p has anything of before b, and if p is not in order, while p has.
//  4. Epochs are not made by calls but by work: a cut or a fence after nothing new changes nothing.
//  5. Memory is bounded by the places, times the epochs that something is left of: those between them cost nothing.
//  6. What of a Line is under way is on one lane; a move is over as soon as nothing is.
//  7. Touched says of a region no earlier epoch than that of the last operation for it.
package order
