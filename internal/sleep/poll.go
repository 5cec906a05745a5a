package sleep

import (
	"context"
	"runtime"
)

// Ending is what is waited for. It may be asked from any goroutine.
type Ending interface{ Ended() bool }

// Poll makes progress until e has ended, the context is over, or it is time to sleep.
func (k *Keeper) Poll(ctx context.Context, e Ending) {
	p := k.w.Pace
	if p.Policy() == AtOnce {
		return
	}
	k.Pollers.Add(1)
	counted := true
	defer k.left(&counted) // also if a callback panics
	for idle := 0; !e.Ended() && ctx.Err() == nil; {
		n, _ := k.turn(&counted, e, false)
		if n > 0 {
			idle = 0
		} else {
			idle++
		}
		if p.Waited(n, idle) {
			return
		}
	}
}

// turn is one of who polls. Whom a handler has woken runs next, unless e has ended and who waits for it polls alone. posts is how many calls came before it.
func (k *Keeper) turn(counted *bool, e Ending, alone bool) (n int, posts uint32) {
	n, due, posts := k.w.Turn()
	if due {
		k.Pollers.Add(-1) // who runs calls makes no progress
		*counted = false
		n += k.w.Calls()
		k.Pollers.Add(1)
		*counted = true
		if !alone || !e.Ended() {
			runtime.Gosched()
		}
	}
	return n, posts
}

// left: somebody polls no more. Those who have left progress to him need the keeper.
func (k *Keeper) left(counted *bool) {
	if *counted && k.Pollers.Add(-1) == 0 && k.sleepers.Load() > 0 {
		k.Come()
	}
}

// Event is what one of many goroutines waits for.
type Event interface {
	Ending
	Wake() <-chan struct{} // gets a value when it has ended
	Luck() *Luck           // of who waits for it
}

// Share makes progress until e has ended or the context is over, as one of many goroutines that wait: one of them polls, and lets the others have the
// processor when his turns find nothing; the others sleep.
func (k *Keeper) Share(ctx context.Context, e Event) {
	if k.share(ctx, e); e.Ended() || ctx.Err() != nil {
		return
	}
	k.sleepers.Add(1)
	defer k.sleepers.Add(-1)
	k.w.Leave()
	if k.Pollers.Load() == 0 {
		k.Come()
	}
	select {
	case <-e.Wake():
	case <-ctx.Done():
	}
}

// share is the part of it that polls.
func (k *Keeper) share(ctx context.Context, e Event) {
	p, luck := k.w.Pace, e.Luck()
	if p.Policy() == AtOnce || p.Policy() == Adaptive && !luck.poll.try() {
		luck.poll.note(false)
		return
	}
	if !k.Pollers.CompareAndSwap(0, 1) {
		return
	}
	counted := true
	defer k.left(&counted)
	for c := luck.company(); ; {
		n, posts := k.turn(&counted, e, !c.here)
		if won := e.Ended(); won || ctx.Err() != nil {
			luck.poll.note(won)
			return
		}
		p.Note(n)
		c.turned(n, posts, k.sleepers.Load() > 0)
		switch {
		case n > 0:
		case p.Policy() == Adaptive && c.idle >= shareTurns:
			luck.poll.note(false)
			return
		case c.lets():
			runtime.Gosched()
		}
	}
}
