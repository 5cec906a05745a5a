package ring

import "sync/atomic"

// Doze is a word in which one side says that it is about to sleep, and for what it wants to be woken.
//
//	sleeper: Lie(for what); look once more; sleep        waker: publish; Rouse(for what): true: wake him
//
// What the sleeper does is sequentially consistent; who wakes has a fence between what it published and its look at the word (Writer.Rouse). So one of the
// two sees the other.
type Doze struct{ word *atomic.Uint32 }

// What wakes a sleeper.
const (
	ForFrames uint32 = 1 // something was published
	ForRoom   uint32 = 2 // something was given back
)

// Lie says that this side sleeps from now on, unless it finds something when it looks now.
func (d Doze) Lie(what uint32) { d.word.Store(what) }

// Lying says whether it still does: false if it never did, or was roused.
func (d Doze) Lying() bool { return d.word.Load() != 0 }

// Rouse says whether the other side sleeps and is to be woken for that. Of many who ask one is told.
func (d Doze) Rouse(what uint32) bool {
	if d.word.Load()&what == 0 {
		return false
	}
	return d.word.Swap(0) != 0
}
