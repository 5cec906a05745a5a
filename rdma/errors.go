package rdma

import "errors"

// Errors of calls that make, change and end objects. Devices wrap them with what was asked for.
var (
	// ErrInvalid: an argument that can't be: EINVAL.
	ErrInvalid = errors.New("rdma: invalid argument")
	// ErrBusy: others still depend on it: EBUSY. Poll, or end those, and call again.
	ErrBusy = errors.New("rdma: still in use")
	// ErrLimit: the device has no more of these: ENOMEM.
	ErrLimit = errors.New("rdma: limit of the device reached")
	// ErrUnsupported: this device can't: EOPNOTSUPP.
	ErrUnsupported = errors.New("rdma: not supported by the device")
	// ErrState: the queue pair's state doesn't allow it.
	ErrState = errors.New("rdma: not in this state")
	// ErrUnreachable: nobody knows the way to this address: EHOSTUNREACH, ENETUNREACH, or no neighbour answers.
	ErrUnreachable = errors.New("rdma: address can't be reached")
	// ErrClosed: the object or its device has ended.
	ErrClosed = errors.New("rdma: closed")
)

// Status is how a post ended: for the data path, which makes no errors.
type Status uint8

// The ends of a post.
const (
	Posted   Status = iota
	Full            // no room in the queue: poll completions, then post again (ENOMEM)
	BadState        // RESET, or for sends INIT and RTR: EINVAL
	BadWR           // a work request that can't be: its operation on this type, too many SGEs, too long an Inline: EINVAL
	Closed          // destroyed
)

func (s Status) String() string {
	switch s {
	case Posted:
		return "posted"
	case Full:
		return "full"
	case BadState:
		return "bad state"
	case BadWR:
		return "bad work request"
	case Closed:
		return "closed"
	}
	return "status(?)"
}
