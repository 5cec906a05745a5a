package wireup

import (
	"errors"
	"fmt"

	"github.com/openbraid/braid/internal/failover"
	"github.com/openbraid/braid/internal/outcome"
)

var errStranger = errors.New("somebody else answers at this address")

// Whom is the worker that an endpoint was dialed to, by the address that it has given out. The zero value: whoever listens.
type Whom failover.Identity

// Any says that anybody is meant.
func (w Whom) Any() bool { return w == Whom{} }

// Names are an endpoint's names as its next Hello has them: the first one goes to the worker, if one is meant.
func (w Whom) Names(n failover.Names) failover.Names {
	if n.Yours == (failover.Identity{}) {
		n.Yours = failover.Identity(w)
	}
	return n
}

// Not is why a first lane came to nothing: another process than the one that is meant answers, or that one has no such worker. theirs is its incarnation.
func (w Whom) Not(theirs uint64) error {
	switch {
	case w.Any():
		return errStranger
	case theirs == w.Incarnation:
		return fmt.Errorf("%w: the worker of this address is closed, while its process runs: ask it for another address", outcome.ErrPeerClosed)
	}
	return fmt.Errorf("%w: its address is out of date: ask it for its new one, and for its keys", outcome.ErrPeerRestarted)
}

// Undialed is why no way led anywhere.
func (w Whom) Undialed(why error) error {
	err := fmt.Errorf("%w: %w", outcome.ErrDial, why)
	if !w.Any() && !errors.Is(why, outcome.ErrPeerRestarted) && !errors.Is(why, outcome.ErrPeerClosed) { // those say so
		err = fmt.Errorf("%w; if the peer was restarted or has closed this worker, its address is out of date: ask it for its new one", err)
	}
	return err
}
