// Package delivery is the user code that became due in a turn, in order, and the messages that it gets.
//
//	turn: Message, Done, Event --> queue --Take--> Run, Run, ... --Finish--> buffers and pool
//
// The engine and the root package import it.
//
// Invariants:
//
//  1. Calls run in the order in which they became due, never from inside the turn.
//  2. A message holds its buffer until Finish, and if it is retained until its Release; a small one, when
//     many wait, is copied instead.
//  3. After Finish a message that is not retained is another one's.
package delivery
