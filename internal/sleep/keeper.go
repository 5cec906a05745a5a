package sleep

import (
	"sync/atomic"
	"time"
)

// Keeper is the goroutine of a Shared worker that sleeps, and makes progress while nobody else does; and what others know of it.
//
//	   +------------ nothing to do -------------+
//	   v                                        |
//	asleep --- arrival, time, Wake -------> turns
//	   |                                        ^
//	   | others poll                            | nobody does any more, or Come
//	   +-------------> stays away --------------+
type Keeper struct {
	WakeAt  atomic.Int64  // when it wakes by itself; 0: it isn't asleep; -1: never
	Pollers atomic.Int32  // goroutines that make progress while they wait
	Called  chan struct{} // by Come
	Done    chan struct{} // it has ended
}

// Init makes the channels.
func (k *Keeper) Init() { k.Called, k.Done = make(chan struct{}, 1), make(chan struct{}) }

// Asleep says whether it sleeps.
func (k *Keeper) Asleep() bool { return k.WakeAt.Load() != 0 }

// Come calls it if it stays away.
func (k *Keeper) Come() {
	select {
	case k.Called <- struct{}{}:
	default:
	}
}

// Kept is the worker that it is of.
type Kept struct {
	Sleep   func() bool              // until something arrives or is due; false: the worker is closed
	Polled  func(before uint32) bool // others make progress, or have, since there were so many polls
	Unwatch func()                   // nobody waits for the descriptors
	Turn    func() int               // makes progress, and says how much
}

// away is how long it leaves progress to others before it looks again.
const away = time.Millisecond

// Keep is what it does until the worker is closed. p is the pace of those who poll.
func (k *Keeper) Keep(p *Pace, w Kept) {
	defer close(k.Done)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		before := p.Polls()
		if !w.Sleep() {
			return
		}
		for i := 0; w.Polled(before); i++ {
			if i == 0 {
				w.Unwatch()
			}
			before = p.Polls()
			timer.Reset(away)
			select {
			case <-timer.C:
			case <-k.Called:
			}
		}
		for i := 0; i < 64 && k.Pollers.Load() == 0; i++ {
			if w.Turn() == 0 {
				break
			}
		}
	}
}
