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
		n := k.turn(&counted)
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

// turn is one of who polls.
func (k *Keeper) turn(counted *bool) int {
	n, due := k.w.Turn()
	if due {
		k.Pollers.Add(-1) // who runs calls makes no progress
		*counted = false
		n += k.w.Calls()
		k.Pollers.Add(1)
		*counted = true
		runtime.Gosched() // for whom a handler has woken
	}
	return n
}

// left: somebody polls no more. Those who have left progress to him need the keeper.
func (k *Keeper) left(counted *bool) {
	if *counted && k.Pollers.Add(-1) == 0 && k.sleepers.Load() > 0 {
		k.Come()
	}
}

// Luck is what polling has brought one who waits again and again. The zero value is the beginning.
type Luck struct{ lost uint8 }

const (
	// shareTurns idle turns one of many makes before he sleeps, if that has helped him lately;
	shareTurns = 32
	// and unlucky so many times in a row he tries it only each unlucky times.
	unlucky = 4
	tryEach = 32
)

// try says whether to poll now.
func (l *Luck) try() bool { return l.lost < unlucky || l.lost%tryEach == 0 }

func (l *Luck) note(won bool) {
	if won {
		l.lost = 0
	} else if l.lost++; l.lost == 0 {
		l.lost = tryEach
	}
}

// Event is what one of many goroutines waits for.
type Event interface {
	Ending
	Wake() <-chan struct{} // gets a value when it has ended
	Luck() *Luck           // of who waits for it
}

// Share makes progress until e has ended or the context is over, as one of many goroutines that wait: one of them polls, and lets all others have the
// processor after each turn that found nothing; the others sleep.
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
	if p.Policy() == AtOnce || p.Policy() == Adaptive && !luck.try() {
		luck.note(false)
		return
	}
	if !k.Pollers.CompareAndSwap(0, 1) {
		return
	}
	counted := true
	defer k.left(&counted)
	for idle := 0; ; {
		n := k.turn(&counted)
		if won := e.Ended(); won || ctx.Err() != nil {
			luck.note(won)
			return
		}
		p.Note(n)
		if n > 0 {
			idle = 0
			continue
		}
		if idle++; p.Policy() == Adaptive && idle >= shareTurns {
			luck.note(false)
			return
		}
		runtime.Gosched()
	}
}
