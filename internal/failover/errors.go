package failover

import (
	"errors"
	"fmt"

	"github.com/openbraid/braid/internal/outcome"
)

var (
	// ErrPeerRestarted: the peer answered an own HELLO with another incarnation.
	ErrPeerRestarted = errors.New("failover: the peer restarted")
	// ErrPeerEnded: the peer answered an own HELLO: same incarnation, but the endpoint is closed there.
	ErrPeerEnded = errors.New("failover: the peer closed the endpoint")
)

// ProtocolError says that an event can't be. The endpoint fails with it; what was not acknowledged ends as unknown.
type ProtocolError struct {
	Event Event
	State State  // of the instance Event.ID, when it came
	Why   string // what is wrong with it
	Local bool   // the mistake is this side's engine's, not the peer's
	Dump  string // the machine's state when that was seen
}

func (e *ProtocolError) Error() string {
	who, hint := "the peer broke the hand-over protocol", "check that both sides run the same version"
	if e.Local {
		who, hint = "an event that can't be", "this is a defect of braid: please report it with this text"
	}
	return fmt.Sprintf("failover: %s: %s about instance %s (%s): %s; %s\n%s",
		who, e.Event.What, e.Event.ID, e.State, e.Why, hint, e.Dump)
}

// Reason is why the endpoint fails, for its user.
func Reason(err error) error {
	switch {
	case errors.Is(err, ErrPeerRestarted):
		return outcome.ErrPeerRestarted
	case errors.Is(err, ErrPeerEnded):
		return outcome.ErrPeerFailed
	}
	return fmt.Errorf("%w: %w", outcome.ErrProtocol, err)
}
