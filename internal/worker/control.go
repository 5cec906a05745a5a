package worker

import (
	"fmt"

	"github.com/openbraid/braid/internal/failover"
	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/wire"
)

// control takes a control frame on a lane that is up, or lost: from a lost one only what is about other instances is of
// use (R3), and its answers, so that what is about itself is dropped here or by the machine.
func (ep *Endpoint) control(l *link, id uint8, body []byte) {
	if err := ep.takeControl(l, id, body); err != nil {
		ep.stats.BadFrames++
		ep.fail(fmt.Errorf("%w: lane %s: %w\n%s", outcome.ErrProtocol, l.name(), err, ep.hand.Dump()))
	}
}

func (ep *Endpoint) takeControl(l *link, id uint8, body []byte) error {
	up := l.State() == lane.Up
	switch id {
	case wire.IDLost:
		m, err := wire.DecodeLost(body)
		if err == nil {
			ep.lostArrived(l, m)
		}
		return err
	case wire.IDGone:
		m, err := wire.DecodeGone(body)
		if err == nil {
			ep.carry(ep.hand.Step(failover.Event{What: failover.GoneArrived, ID: m.Instance, On: l.ID}), nil)
		}
		return err
	case wire.IDClose:
		m, err := wire.DecodeClose(body)
		if err == nil && up {
			ep.closeArrived(l, m)
		}
		return err
	case wire.IDClosed:
		_, err := wire.DecodeClosed(body)
		if err == nil && up {
			ep.closedArrived()
		}
		return err
	}
	if !up {
		return nil // a lost lane answers no probe
	}
	switch id {
	case wire.IDPing:
		m, err := wire.DecodePing(body)
		if err == nil {
			l.post(wire.IDPong, wire.Pong(m).AppendTo(ep.w.Head[:0]))
		}
		return err
	case wire.IDPong:
		m, err := wire.DecodePong(body)
		if err == nil {
			ep.live.pong(l, m)
		}
		return err
	case wire.IDRefused:
		m, err := wire.DecodeRefused(body)
		if err == nil {
			ep.refusedArrived(l, m)
		}
		return err
	case wire.IDRails:
		m, err := wire.DecodeRails(body)
		if err == nil {
			err = ep.railsArrived(m)
		}
		return err
	}
	return fmt.Errorf("%s may not come on a lane that is up", wire.Name(id))
}
