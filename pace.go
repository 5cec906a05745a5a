package braid

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/openbraid/braid/internal/sleep"
)

// WaitPolicy is how blocking calls wait. Whoever only calls Progress polls, whatever this says.
type WaitPolicy uint8

const (
	// WaitAdaptive polls for some ten microseconds, then lets others have the processor between polls, then sleeps. The default.
	WaitAdaptive WaitPolicy = iota
	// WaitPoll polls until the end: lowest latency, one processor for each waiter.
	WaitPoll
	// WaitSleep sleeps at once: least processor time, at the price of a wake-up for each wait.
	WaitSleep
)

func (p WaitPolicy) String() string {
	switch p {
	case WaitAdaptive:
		return "adaptive"
	case WaitPoll:
		return "poll"
	case WaitSleep:
		return "sleep"
	}
	return "policy(?)"
}

const (
	// spins idle turns who waits makes before he lets others have the processor between two of them, naps before he sleeps.
	spins = 16
	naps  = 64

	// Who polls lets others have the processor each so many idle turns. How many is learned from how long the last time took.
	yieldFirst  = 64  // longer than an answer from another processor takes
	yieldSeldom = 256 // nobody wanted it

	yieldShort = 4 * time.Microsecond // nobody wanted it
	yieldLong  = time.Millisecond     // longer than a peer on this processor takes for his answer

	// schedule so many polls other goroutines of this processor get a chance, unless that is dear: it is on a locked thread, where
	// the language's scheduler hands over from thread to thread. Those seldom.
	schedule       = 1 << 10
	scheduleSeldom = 1 << 20
	scheduleDear   = 5 * time.Microsecond
)

// pace is how those who poll one worker share the processor with others. Each field is a hint: who polls at the same time
// may count wrong, and nothing depends on it.
//
//	idle turn ... idle turn, yield: short -> half as often      (nobody is here)
//	                                longer -> after each turn   (a peer is: an answer needs him to run)
//	                                a slice -> as at first      (a stranger computes, and takes his share anyway)
type pace struct {
	policy WaitPolicy
	polls  atomic.Uint32 // turns of who polls, ever
	worked atomic.Uint32 // polls when one of them found something
	every  atomic.Uint32 // idle turns between two yields; a power of two
	others atomic.Uint32 // polls between two looks of the language's scheduler; a power of two
}

func (p *pace) init(policy WaitPolicy) {
	p.policy = policy
	p.every.Store(yieldFirst)
	p.others.Store(schedule)
}

// note is called after each turn of who polls; n is how much the turn did.
func (p *pace) note(n int) {
	polls := p.polls.Add(1)
	if n > 0 {
		p.worked.Store(polls)
		return
	}
	if (polls-p.worked.Load())&(p.every.Load()-1) == 0 {
		p.yield()
	}
	if polls&(p.others.Load()-1) == 0 {
		p.schedule()
	}
}

// yield lets others have the processor, and learns from how long that took. True: a stranger had it. Sleeping is better than
// polling then, since who wakes is let in first.
func (p *pace) yield() (crowded bool) {
	begin := clock()
	sleep.Yield()
	took := clock() - begin
	p.every.Store(yieldAgain(p.every.Load(), took))
	return took >= yieldLong
}

// yieldAgain is how many idle turns are to be made before the next yield.
func yieldAgain(every uint32, took time.Duration) uint32 {
	switch {
	case took < yieldShort:
		return min(2*every, yieldSeldom)
	case took < yieldLong:
		return 1
	}
	return yieldFirst
}

// schedule lets other goroutines run.
func (p *pace) schedule() {
	begin := clock()
	runtime.Gosched()
	if clock()-begin > scheduleDear {
		p.others.Store(scheduleSeldom)
	} else {
		p.others.Store(schedule)
	}
}

// waited is note for who waits; idle turns in a row are his. It says whether he should sleep now.
func (p *pace) waited(n, idle int) (sleep bool) {
	p.note(n)
	switch {
	case p.policy == WaitPoll || n > 0:
		return false
	case p.policy == WaitSleep || idle >= naps:
		return true
	case idle > spins:
		return p.yield()
	}
	return false
}
