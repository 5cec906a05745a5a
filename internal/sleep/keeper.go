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
	WakeAt   atomic.Int64  // when it wakes by itself; 0: it isn't asleep; -1: never
	Pollers  atomic.Int32  // goroutines that make progress while they wait
	Called   chan struct{} // by Come
	Done     chan struct{} // it has ended
	sleepers atomic.Int32  // goroutines that have left progress to who polls
	w        Kept
}

// Kept is the worker that it is of.
type Kept struct {
	Sleep   func() bool              // until something arrives or is due; false: the worker is closed
	Polled  func(before uint32) bool // others make progress, or have, since there were so many polls
	Unwatch func()                   // nobody waits for the descriptors
	// Turn makes progress. due: there are calls to be run; posts: so many calls of others came before.
	Turn  func() (n int, due bool, posts uint32)
	Calls func() int // runs them
	Keep  func() int // both, for the keeper
	Leave func()     // what the last turn has made due is seen to
	Pace  *Pace      // of those who poll
}

// Init is to be called once, before all else.
func (k *Keeper) Init(w Kept) { k.w, k.Called, k.Done = w, make(chan struct{}, 1), make(chan struct{}) }

// Asleep says whether it sleeps.
func (k *Keeper) Asleep() bool { return k.WakeAt.Load() != 0 }

// Come calls it if it stays away.
func (k *Keeper) Come() {
	select {
	case k.Called <- struct{}{}:
	default:
	}
}

// away is how long it leaves progress to others before it looks again.
const away = time.Millisecond

// Run is what it does until the worker is closed.
func (k *Keeper) Run() {
	defer close(k.Done)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		before := k.w.Pace.Polls()
		if !k.w.Sleep() {
			return
		}
		for i := 0; k.w.Polled(before); i++ {
			if i == 0 {
				k.w.Unwatch()
			}
			before = k.w.Pace.Polls()
			timer.Reset(away)
			select {
			case <-timer.C:
			case <-k.Called:
				before = k.w.Pace.Polls() // who calls has polled, and doesn't any more
			}
		}
		for i := 0; i < 64 && k.Pollers.Load() == 0; i++ {
			if k.w.Keep() == 0 {
				break
			}
		}
	}
}
