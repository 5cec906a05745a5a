package sleep

import (
	"context"
	"time"
)

const (
	// look is how long a context may go unlooked at,
	look = 10 * time.Millisecond
	// looks times; who sleeps longer has himself woken when it is over. That costs an allocation.
	looks = 3
)

// Nap is the sleep, in several pieces, of one who waits for something and has a context. The zero value is the beginning of it.
type Nap struct {
	slept int
	stop  func() bool // of what wakes him when the context is over; nil: nothing does
}

// Next is how long the next piece may be, negative for as long as it takes. wake ends a sleep, from any goroutine.
func (n *Nap) Next(ctx context.Context, wake func()) time.Duration {
	if ctx.Done() == nil || n.stop != nil {
		return -1
	}
	if n.slept++; n.slept <= looks {
		return look
	}
	n.stop = context.AfterFunc(ctx, wake)
	return -1
}

// End is the end of it.
func (n *Nap) End() {
	if n.stop != nil {
		n.stop()
	}
}
