package tcp

import (
	"slices"

	"github.com/openbraid/braid/internal/poll"
)

// Progress implements transport.Iface.
func (f *iface) Progress() int {
	if f.closed {
		return 0
	}
	if f.turn.running {
		panic("tcp: Progress was called from inside a callback")
	}
	f.turn.running = true
	f.turn.now = f.env.Now()
	n := f.leftovers()
	direct := f.direct()
	if direct {
		n += f.readAll()
	}
	n += f.readMuted()
	if n > 0 {
		f.turn.idle = 0
	} else {
		f.turn.idle++
	}
	if !direct || f.writers > 0 || f.turn.asked || f.turn.idle%everyIdle == 1 || f.turn.now-f.turn.last >= everyBusy {
		f.turn.asked, f.turn.last = false, f.turn.now
		n += f.ready()
	}
	f.resume()
	f.turn.running = false
	if f.gone > 0 {
		f.sweep()
	}
	return n
}

// leftovers does what calls outside of Progress found to do but may not do themselves.
func (f *iface) leftovers() (n int) {
	if len(f.later) == 0 {
		return 0
	}
	batch := f.later
	f.later = f.serving[:0] // what is added meanwhile waits for the next turn
	for _, ep := range batch {
		ep.later = false
		n += ep.leftovers()
	}
	clear(batch)
	f.serving = batch[:0]
	return n
}

// readAll reads the few sockets without asking first: a read costs no more than the question.
func (f *iface) readAll() (n int) {
	for i := 0; i < len(f.eps); i++ { // grows when a callback dials
		if ep := f.eps[i]; (ep.state == up || ep.state == quiesced) && !ep.poll.muted {
			n += ep.receive()
		}
	}
	return n
}

// readMuted looks after those whose descriptor can't tell.
func (f *iface) readMuted() (n int) {
	for i := len(f.muted) - 1; i >= 0; i-- {
		if i < len(f.muted) {
			k, _ := f.muted[i].attempt(poll.Readable | poll.Writable)
			n += k
		}
	}
	return n
}

// ready serves the descriptors that the system says are ready.
func (f *iface) ready() (n int) {
	for _, ev := range f.poll.Poll() {
		if ev.FD >= len(f.byFD) {
			continue
		}
		// Somebody served before may have closed it, and the number may even be somebody new's: then
		// the attempt finds nothing, which does no harm.
		switch w := f.byFD[ev.FD]; {
		case w.ln != nil:
			n += w.ln.accept()
		case w.ep != nil:
			n += w.ep.fired(ev.What)
		}
		if f.closed {
			return n
		}
	}
	return n
}

// resume lets listeners accept again that paused for lack of descriptors.
func (f *iface) resume() {
	for _, l := range f.listeners {
		if l.paused > 0 && f.env.Now() >= l.paused {
			l.resume()
		}
	}
}

// sweep forgets closed endpoints. Not during a turn, when somebody walks over the list.
func (f *iface) sweep() {
	f.eps = slices.DeleteFunc(f.eps, func(ep *endpoint) bool { return ep.state == closed })
	f.gone = 0
	f.rewatch()
}
