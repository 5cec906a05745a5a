package rail

import (
	"slices"
	"time"

	"github.com/openbraid/braid/internal/topo"
)

const (
	// gap is how close together two readings of the table may be: changes come in bursts.
	gap = 10 * time.Millisecond
	// settle is when after the last change the table is handed on once more: routes come a little after their addresses.
	settle = time.Second
)

// Watcher hands on this host's rails when they change.
type Watcher struct {
	source
	fn   func([]topo.Rail)
	done chan struct{}
}

// pace says when the table is to be read, given when something changed.
//
//	change --at once, but gap after the last reading--> read --settle after that--> read once more
type pace struct {
	due     time.Time // zero: never
	last    time.Time // reading
	settled bool      // the reading that is due is the last one after a change
}

// changed: something may be other than it was.
func (p *pace) changed(now time.Time) {
	at := now
	if next := p.last.Add(gap); at.Before(next) {
		at = next
	}
	if p.settled || p.due.IsZero() || at.Before(p.due) {
		p.due, p.settled = at, false
	}
}

// turn says whether the table is to be read now, and whether it is to be handed on even if it is the same.
func (p *pace) turn(now time.Time) (read, always bool) {
	if p.due.IsZero() || now.Before(p.due) {
		return false, false
	}
	always = p.settled
	*p = pace{last: now}
	return true, always
}

// differed: the table that was read is another one.
func (p *pace) differed(now time.Time) { p.due, p.settled = now.Add(settle), true }

// run is the watcher's goroutine.
func (w *Watcher) run(rd *reader, table []topo.Rail) {
	defer close(w.done)
	var p pace
	for {
		changed, open := w.wait(p.due)
		if !open {
			return
		}
		now := time.Now()
		if changed {
			p.changed(now)
		}
		read, always := p.turn(now)
		if !read {
			continue
		}
		next, err := rd.read()
		if err != nil {
			p.changed(now) // again, soon
			continue
		}
		differs := !slices.Equal(table, next)
		if differs {
			p.differed(now)
		}
		if differs || always {
			table = next
			w.fn(next)
		}
	}
}

// Close ends it, and waits until it has ended.
func (w *Watcher) Close() {
	w.stop()
	<-w.done
}
