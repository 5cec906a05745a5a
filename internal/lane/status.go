package lane

import (
	"time"

	"github.com/openbraid/braid/internal/inspect"
	"github.com/openbraid/braid/internal/wire"
)

// Status describes one lane for people and tools.
type Status struct {
	Instance      wire.Instance
	Local, Remote string
	State         State
	Since         time.Duration
	Path          int
	Speed         int     // of the interface here, Mbit/s; 0: not known
	Rate          float64 // that it is thought to carry, bytes per second; 0: it is not up
	Order         bool    // messages go on it
	Fault         string  // of a lost one: whose it looks like
	PostedBytes   uint64  // of frames
	AckedBytes    uint64
	AcceptedBytes uint64
}

// Status describes the lane, given what it is thought to carry and whether messages go on it.
func (l *Lane) Status(rate float64, order bool) Status {
	c := l.Tep.Counts()
	return Status{l.ID, l.Tep.Local(), l.Tep.Remote(), l.State(), l.Since, l.Path, l.Speed,
		rate, order, l.Fault, c.PostedBytes, c.AckedBytes, c.AcceptedBytes}
}

// Inspect is the lane as it is now, with its positions.
func (l *Lane) Inspect(now time.Duration) inspect.Lane {
	c := l.Tep.Counts()
	return inspect.Lane{
		Path: l.Path, Slot: -1, Name: l.Tep.Local() + "->" + l.Tep.Remote(), Instance: l.ID.String(), State: l.state.String(), Fault: l.Fault, Seconds: (now - l.Since).Seconds(),
		Posted: c.Posted, Acked: c.Acked, Accepted: c.Accepted, PostedBytes: c.PostedBytes, AckedBytes: c.AckedBytes, AcceptedBytes: c.AcceptedBytes,
	}
}
