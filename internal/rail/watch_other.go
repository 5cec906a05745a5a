//go:build !linux

package rail

import (
	"time"

	"github.com/openbraid/braid/internal/topo"
)

// look is how often the table is read where the system does not tell of changes.
const look = 2 * time.Second

// source is a clock.
type source struct {
	end chan struct{}
}

// Watch begins to watch, and returns the table as it is. fn is called from a goroutine of its own, until Close.
func Watch(fn func([]topo.Rail)) (*Watcher, []topo.Rail, error) {
	rd := newReader()
	table, err := rd.read()
	if err != nil {
		return nil, nil, err
	}
	w := &Watcher{source: source{make(chan struct{})}, fn: fn, done: make(chan struct{})}
	go w.run(rd, table)
	return w, table, nil
}

// wait waits until it is time to look, which may be for a change.
func (s *source) wait(until time.Time) (changed, open bool) {
	d := look
	if !until.IsZero() {
		d = min(d, time.Until(until))
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return until.IsZero(), true
	case <-s.end:
		return false, false
	}
}

func (s *source) stop() { close(s.end) }
