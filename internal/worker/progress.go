package worker

import "time"

// Turn is one round of everything: what arrived, what is due, what can be posted now. It returns how much it
// did: 0 means that nothing happened. User code that became due is left in Calls.
func (w *Worker) Turn() int {
	if w.inTurn {
		panic("worker: Turn called from inside a turn, or by two goroutines")
	}
	w.inTurn = true
	w.room.Turn()
	w.now = w.clock.Tick(w.now)
	n := w.rota.Progress(w.now)
	n += w.turns.Run(w.now)
	if len(w.ready) > 0 {
		n += w.dispatch()
	}
	w.rota.Flush()
	if len(w.buried) > 0 {
		w.buryAll()
	}
	w.inTurn = false
	return n
}

// Flush hands to the system what was posted since the last turn.
func (w *Worker) Flush() {
	if w.inTurn {
		return
	}
	w.rota.Flush()
	if len(w.buried) > 0 {
		w.buryAll()
	}
}

// Deadline is the time of the worker's clock at which Turn must run even if nothing arrives; 0 is never.
func (w *Worker) Deadline() time.Duration {
	d := w.turns.Next()
	if t := w.rota.Deadline(); t != 0 && (d == 0 || t < d) {
		d = t
	}
	return d
}

// dispatch lets the endpoints that may have something to post do so.
func (w *Worker) dispatch() (n int) {
	for i := 0; i < len(w.ready); i++ {
		ep := w.ready[i]
		ep.ready = false
		n += ep.box.Dispatch()
	}
	clear(w.ready)
	w.ready = w.ready[:0]
	return n
}
