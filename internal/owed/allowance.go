package owed

import "errors"

// Allowance is the sender's half of credits: both sides are kept from holding more messages than was agreed, without a frame ever waiting at the
// head of a lane (R14), since the sender knows what its messages cost, and the receiver tells what it has handled.
type Allowance struct {
	sent       uint64 // cost of the messages begun
	granted    uint64 // of them, handled by the peer as it told
	unfinished uint64 // bytes of messages that the peer may hold unfinished
}

// Takes says whether a message of this cost may be begun now, where the peer takes so much before it has handled them.
func (a *Allowance) Takes(cost, backlog uint64) bool {
	open := a.sent - a.granted
	return open+cost <= backlog || open <= backlog/Share
}

// Holds says whether the peer may hold n more bytes of messages that are not finished, of so many at most: one of any size is always taken.
func (a *Allowance) Holds(n, most uint64) bool { return a.unfinished == 0 || a.unfinished+n <= most }

// Begin counts a message: its cost, and its bytes if it will be unfinished for a while.
func (a *Allowance) Begin(cost, unfinished uint64) {
	a.sent += cost
	a.unfinished += unfinished
}

// Finish is the end of one of which so many bytes were unfinished.
func (a *Allowance) Finish(unfinished uint64) { a.unfinished -= unfinished }

// Undo takes back one of which the peer has nothing.
func (a *Allowance) Undo(cost uint64) { a.sent -= cost }

// Left is what may be sent; below zero where one was taken beyond it.
func (a *Allowance) Left(backlog uint64) int64 { return int64(backlog) - int64(a.sent-a.granted) }

// Grant takes what the peer has handled; more says that there is more room than before, as a word that comes late does not make.
func (a *Allowance) Grant(handled uint64) (more bool, err error) {
	if handled > a.sent {
		return false, errors.New("credit for messages that were never sent")
	}
	more = handled > a.granted
	a.granted = max(a.granted, handled)
	return more, nil
}
