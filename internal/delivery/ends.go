package delivery

// Ends are those who want to know when something is over: each is told once, in a call.
type Ends struct {
	q    *Queue
	fns  []func(error)
	err  error
	over bool
}

// EndsIn are told in q.
func EndsIn(q *Queue) Ends { return Ends{q: q} }

// OnEnd has fn called when it is over, with why; if it is over already, with the next calls.
func (e *Ends) OnEnd(fn func(error)) {
	if e.over {
		e.q.Done(fn, e.err)
		return
	}
	e.fns = append(e.fns, fn)
}

// Over: it is over. What it had queued before is called before. Idempotent.
func (e *Ends) Over(err error) {
	if e.over {
		return
	}
	e.over, e.err = true, err
	for _, fn := range e.fns {
		e.q.Done(fn, err)
	}
	e.fns = nil
}
