package request

import "github.com/openbraid/braid/internal/delivery"

// Desk is where requests end for their users.
type Desk struct {
	Shown func(error) error // an error as users have it; nil: as it is
	pool  *Pool
	calls *delivery.Queue
}

// DeskOf has the callbacks of requests run among calls.
func DeskOf(pool *Pool, calls *delivery.Queue) Desk { return Desk{pool: pool, calls: calls} }

// Report is the user's end of a request: once.
func (d *Desk) Report(r *Request, err error) {
	if r.Reported {
		return
	}
	if !r.Copied { // else the engine goes on with what is its own
		r.Header, r.Payload = nil, nil
	}
	if r.OnSent != nil {
		d.call(r.OnSent, err)
		r.OnSent = nil
	}
	r.End(err)
	d.pool.Put(r)
}

// call has a user's callback run with the others.
func (d *Desk) call(fn func(error), err error) {
	if d.Shown != nil {
		err = d.Shown(err)
	}
	d.calls.Done(fn, err)
}

// Release lets go of a request whose user's end is reported: it may be used for another operation at once.
func (d *Desk) Release(r *Request) {
	r.Held = false
	d.pool.Put(r)
}

// Then has fn called when the user's end of r is reported, and lets go of it.
func (d *Desk) Then(r *Request, fn func(error)) {
	d.OnEnd(r, fn)
	d.Release(r)
}

// OnEnd is Then, and r stays the user's.
func (d *Desk) OnEnd(r *Request, fn func(error)) {
	if r.Reported {
		d.call(fn, r.Err)
	} else {
		r.OnSent = fn
	}
}
