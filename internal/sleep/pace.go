package sleep

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Policy is how who waits does so.
type Policy uint8

const (
	Adaptive Policy = iota // poll, then yield between polls, then sleep
	Poll                   // never sleep
	AtOnce                 // sleep at once
)

func (p Policy) String() string {
	switch p {
	case Adaptive:
		return "adaptive"
	case Poll:
		return "poll"
	case AtOnce:
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

// Pace is how those who poll one worker share the processor with others. Each field is a hint: who polls at the same time
// may count wrong, and nothing depends on it.
//
//	idle turn ... idle turn, yield: short -> half as often      (nobody is here)
//	                                longer -> after each turn   (a peer is: an answer needs him to run)
//	                                a slice -> as at first      (a stranger computes, and takes his share anyway)
type Pace struct {
	Solo   bool // one goroutine polls, and nobody else looks: set before all else
	policy Policy
	polls  uint32        // turns of who polls, ever
	worked uint32        // polls when one of them found something
	every  atomic.Uint32 // idle turns between two yields; a power of two
	others atomic.Uint32 // polls between two looks of the language's scheduler; a power of two
}

// Init is to be called once, before all else.
func (p *Pace) Init(policy Policy) {
	p.policy = policy
	p.every.Store(yieldFirst)
	p.others.Store(schedule)
}

// Policy is what Init got.
func (p *Pace) Policy() Policy { return p.policy }

// Polls is how many turns were noted.
func (p *Pace) Polls() uint32 { return atomic.LoadUint32(&p.polls) }

// count takes a turn into account. An atomic operation would take as long as much of a turn that finds nothing.
func (p *Pace) count(n int) (polls uint32) {
	if p.Solo {
		p.polls++
		if n > 0 {
			p.worked = p.polls
		}
		return p.polls
	}
	polls = atomic.AddUint32(&p.polls, 1)
	if n > 0 {
		atomic.StoreUint32(&p.worked, polls)
	}
	return polls
}

// Note is called after each turn of who polls; n is how much the turn did.
func (p *Pace) Note(n int) {
	polls := p.count(n)
	if n > 0 {
		return
	}
	if (polls-atomic.LoadUint32(&p.worked))&(p.every.Load()-1) == 0 {
		p.yield()
	}
	if polls&(p.others.Load()-1) == 0 {
		p.schedule()
	}
}

// handOver lets run whom the caller has woken before it waits in a call of the system, and says for how many milliseconds that may wait; negative: without
// a limit, as the timeout. Such a call keeps the language's processor, with all that is ready to run on it, until the runtime takes it away. Where the other
// processors are in use, too, that is after 10 to 20 ms.
func handOver(timeout time.Duration) (ms int) {
	if timeout == 0 {
		return 0 // it does not wait
	}
	runtime.Gosched()
	if timeout < 0 {
		return -1
	}
	return int(min((timeout+time.Millisecond-1)/time.Millisecond, 1<<30))
}

// yield lets others have the processor, and learns from how long that took. True: a stranger had it. Sleeping is better than
// polling then, since who wakes is let in first.
func (p *Pace) yield() (crowded bool) {
	begin := time.Now()
	Yield()
	took := time.Since(begin)
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
func (p *Pace) schedule() {
	begin := time.Now()
	runtime.Gosched()
	if time.Since(begin) > scheduleDear {
		p.others.Store(scheduleSeldom)
	} else {
		p.others.Store(schedule)
	}
}

// Waited is Note for who waits; idle turns in a row are his. It says whether he should sleep now.
func (p *Pace) Waited(n, idle int) (sleep bool) {
	p.Note(n)
	switch {
	case p.policy == Poll || n > 0:
		return false
	case p.policy == AtOnce || idle >= naps:
		return true
	case idle > spins:
		return p.yield()
	}
	return false
}
