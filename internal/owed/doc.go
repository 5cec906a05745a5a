// Package owed is what one end of an endpoint owes the other: answers to its gets and fetches, words about its tagged messages, and how much of
// its messages was handled.
//
//	the peer's Get, AtomicOp  --> answer \
//	the peer's tagged message --> note    >-- a lane with room --> acknowledged: memory is let go of
//	room of the peer's for one   --> put  /
//	the peer's messages, handled -> credit/
//
// Only internal/outbox imports it, which says where a lane is. What a lost lane hands back is the outbox's to post again, before anything here.
//
// Invariants:
//
//  1. What is owed is in no book: no flush waits for it, no fence and no limit of messages stops it (R14). A close waits for the notes.
//  2. More answers than were promised can't wait: a peer that asks for more has broken the protocol.
//  3. The memory of an answer, and of a put, is held until the peer has it, or until it is recalled: then what is under way is copied.
//  4. A put is of as many bytes as the peer has asked for, or says how many there were.
package owed
