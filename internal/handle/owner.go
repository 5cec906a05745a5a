package handle

import (
	"context"
	"errors"

	"github.com/openbraid/braid/internal/outcome"
)

// EventFD is the descriptor that Arm prepares, for the owner of a worker.
func (d *Desk) EventFD() (int, error) {
	err := d.owners()
	if err == nil && d.FD() < 0 {
		err = errors.ErrUnsupported
	}
	if err != nil {
		return -1, d.refusal("event descriptor", "", err)
	}
	return d.FD(), nil
}

// OwnerSleep is Sleep, by who may.
func (d *Desk) OwnerSleep(ctx context.Context) error {
	err := d.owners()
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && d.Inside() {
		err = outcome.ErrInCallback
	}
	if err == nil {
		err = d.Sleep(ctx)
	}
	if err != nil {
		return d.refusal("sleep", "", err)
	}
	return nil
}

// owners says why the owner of a worker can't do what only he can.
func (d *Desk) owners() error {
	switch {
	case !d.Owned:
		return outcome.ErrShared
	case d.Closed():
		return outcome.ErrClosed
	}
	return nil
}
