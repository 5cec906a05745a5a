package stream

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openbraid/braid/internal/sleep"
)

// event is what a reader or a writer waits for: something has changed, look again.
type event struct {
	set  atomic.Bool
	wake chan struct{}
	luck sleep.Luck
}

// Luck is what polling for it has brought.
func (e *event) Luck() *sleep.Luck { return &e.luck }

// Ended says that it has come.
func (e *event) Ended() bool { return e.set.Load() }

// Wake gets a value when it comes.
func (e *event) Wake() <-chan struct{} { return e.wake }

func (e *event) signal() {
	if !e.set.Swap(true) {
		select {
		case e.wake <- struct{}{}:
		default:
		}
	}
}

// clear is before who waits looks at what it is about.
func (e *event) clear() {
	e.set.Store(false)
	select {
	case <-e.wake:
	default:
	}
}

// half is how one direction of a stream waits. All but use is under the session's lock.
type half struct {
	use     sync.Mutex // one call at a time
	changed event
	over    chan struct{} // closed when waiting is over: the deadline, or the stream
	expired bool
	ended   bool // for good
	timer   *time.Timer
	turn    uint64 // of the deadline: a timer that is stopped too late is another one's
}

func (h *half) init() { h.changed.wake, h.over = make(chan struct{}, 1), make(chan struct{}) }

// end ends all waiting, for good.
func (h *half) end() {
	if h.timer != nil {
		h.timer.Stop()
	}
	if !h.ended && !h.expired {
		close(h.over)
	}
	h.ended = true
	h.changed.signal()
}

// deadline sets it. now is the present.
func (h *half) deadline(mu *sync.Mutex, at time.Time) {
	if h.ended {
		return
	}
	h.turn++
	if h.timer != nil {
		h.timer.Stop()
		h.timer = nil
	}
	left := time.Until(at)
	switch {
	case !at.IsZero() && left <= 0:
		h.expire()
		return
	case h.expired:
		h.expired, h.over = false, make(chan struct{})
	}
	if at.IsZero() {
		return
	}
	turn := h.turn
	h.timer = time.AfterFunc(left, func() {
		mu.Lock()
		defer mu.Unlock()
		if h.turn == turn && !h.ended {
			h.expire()
		}
	})
}

func (h *half) expire() {
	if !h.expired {
		h.expired = true
		close(h.over)
	}
	h.changed.signal()
}

// until is a context that is over when a channel is closed. It is as small as what waits needs.
type until <-chan struct{}

func (u until) Deadline() (time.Time, bool) { return time.Time{}, false }
func (u until) Done() <-chan struct{}       { return u }
func (u until) Value(any) any               { return nil }

// Err is Canceled when it is over.
func (u until) Err() error {
	select {
	case <-u:
		return context.Canceled
	default:
		return nil
	}
}
