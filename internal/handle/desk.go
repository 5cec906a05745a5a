package handle

import (
	"context"
	"errors"

	"github.com/openbraid/braid/internal/crank"
	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
)

// Engine is what a desk needs of a worker's. All of it under the lock, or by the owner.
type Engine interface {
	Cancel(r *request.Request)
	Release(r *request.Request)
	OnEnd(r *request.Request, fn func(error))
	Calls() *delivery.Queue
	Flush()
}

// Desk is where the handles of one worker come from.
type Desk struct {
	crank.Crank
	Engine Engine
	Shown  func(error) error // an error as users have it, not nil
	Last   *request.Once     // of the operation that was posted last
}

func (d *Desk) shown(err error) error {
	if err == nil {
		return nil
	}
	return d.Shown(err)
}

// refusal is why nothing was done.
func (d *Desk) refusal(op, peer string, err error) error {
	return d.Shown(&outcome.Error{Op: op, Peer: peer, Fate: outcome.NotExecuted, Err: err})
}

// MayWait says whether a call may block here: refused before anything is posted, since an error afterwards would have it done twice.
func (d *Desk) MayWait(op, peer string) error {
	if d.Inside() {
		return d.refusal(op, peer, outcome.ErrInCallback)
	}
	return nil
}

// Result is what an operation brought.
type Result struct {
	Any any    // of an accept, and of a receive that takes
	Old uint64 // of a fetch

	Tag, Size uint64 // of a receive
}

func resultOf(r *request.Request) Result { return Result{r.Result, r.Old(), r.Tag, r.Size} }

// Await makes progress until r's end for the user, or until the context is over. It gives r back.
func (d *Desk) Await(ctx context.Context, r *request.Request) (Result, error) {
	if done, err := d.Crank.Wait(ctx, r); !done {
		return Result{}, d.shown(err)
	}
	d.Lock()
	defer d.Unlock()
	return d.take(r)
}

func (d *Desk) take(r *request.Request) (Result, error) {
	res, err := resultOf(r), d.shown(r.Err)
	d.Engine.Release(r)
	return res, err
}

// Poster posts an operation towards a peer. post returns a request; nil, nil if the user's end is reached already; or why it can't be. room is that of
// who waits until more may be posted. Both under the lock.
type Poster interface {
	Addr() string
	PostRoom() (*request.Request, error)
}

// Do posts and waits. While too many operations wait already, it waits for room.
func (d *Desk) Do(ctx context.Context, to Poster, post func() (*request.Request, error)) (Result, error) {
	if err := d.MayWait("wait", to.Addr()); err != nil {
		return Result{}, err
	}
	for {
		d.Lock()
		r, err := post()
		d.Unlock()
		switch {
		case r != nil:
			return d.Await(ctx, r)
		case err == nil:
			if d.Owned {
				d.Engine.Flush()
			}
			return Result{}, nil
		case !errors.Is(err, outcome.ErrBackPressure):
			return Result{}, d.shown(err)
		}
		d.Lock()
		r, err = to.PostRoom()
		d.Unlock()
		if err != nil {
			return Result{}, d.shown(err)
		}
		if _, err := d.Await(ctx, r); err != nil {
			return Result{}, err
		}
	}
}
