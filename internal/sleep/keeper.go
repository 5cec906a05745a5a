package sleep

import "sync/atomic"

// Keeper is what others know of the goroutine of a Shared worker: it sleeps, and makes progress while nobody else does.
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
