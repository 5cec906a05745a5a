package shm

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/transport/shm/segment"
)

// hint is what to do about it.
func (e *Error) hint() string {
	switch {
	case errors.Is(e.Err, ErrUser):
		return "both processes must be one user's, or Options.AnyUser be set on both sides"
	case errors.Is(e.Err, ErrVersion):
		return "build both programs of one version of braid"
	case errors.Is(e.Err, ErrLimit):
		return "raise the setting shm-limit (Options.Limit of the transport), or have smaller rings"
	case errors.Is(e.Err, segment.ErrSpace):
		return "free some memory, or have smaller rings: Options.Slots and Data of the transport"
	case errors.Is(e.Err, unix.ECONNREFUSED):
		return "nobody listens there: the peer has no shared memory, or is in another network namespace"
	case errors.Is(e.Err, unix.EADDRINUSE):
		return "somebody listens there already: choose another port, or port 0"
	case errors.Is(e.Err, unix.EMFILE):
		return "this process has no descriptor left: raise its limit, ulimit -n"
	case errors.Is(e.Err, ErrAddress):
		return "an address is host:port, such as shm:0 or 127.0.0.1:7777"
	}
	return ""
}
