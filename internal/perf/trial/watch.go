package trial

import (
	"errors"
	"sync"
	"time"
)

// patience is how long lanes may take to come back: as long as a silent peer may be silent, the longest pause between two dials, and as much again for
// a machine that is busy with other things.
const patience = 30 * time.Second

// ErrAway ends a run whose lanes did not come back, though no rule was in force.
var ErrAway = errors.New("lanes that were lost did not come back, or were not handed over, and the plan waits for them")

// watch notices that a run will never end: rules wait until all lanes stand (when=whole), and one is gone for good.
type watch struct {
	quit chan struct{}
	done chan struct{}
	once sync.Once
}

// looks is how often it looks while somebody's patience lasts. They are counted, not timed: a process that stands still loses no patience.
const looks = 100

func (w *watch) begin(patience time.Duration, well func() bool, away func()) {
	w.quit, w.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(w.done)
		t := time.NewTicker(patience / looks)
		defer t.Stop()
		for n := 0; n < looks; n++ {
			select {
			case <-w.quit:
				return
			case <-t.C:
			}
			if well() {
				n = 0
			}
		}
		away()
	}()
}

// end ends it, and waits; also one that was never begun.
func (w *watch) end() {
	if w.quit == nil {
		return
	}
	w.once.Do(func() { close(w.quit) })
	<-w.done
}
