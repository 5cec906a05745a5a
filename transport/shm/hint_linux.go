package shm

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/transport/shm/segment"
)

// hint is what to do about it.
func hint(err error) string {
	switch {
	case errors.Is(err, ErrUser):
		return "both processes must be one user's, or Options.AnyUser be set on both sides"
	case errors.Is(err, ErrVersion):
		return "build both programs of one version of braid"
	case errors.Is(err, ErrLimit):
		return "raise the setting that is named (Options.Limit or PeerLimit of the transport), or have smaller rings"
	case errors.Is(err, segment.ErrSpace):
		return "free some memory, or have smaller rings: Options.Slots and Data of the transport"
	case errors.Is(err, unix.ECONNREFUSED):
		return "nobody listens there: the peer has no shared memory, or is in another network namespace"
	case errors.Is(err, unix.EADDRINUSE):
		return "somebody listens there already: choose another port, or port 0"
	case errors.Is(err, unix.EMFILE):
		return "this process has no descriptor left: raise its limit, ulimit -n"
	case errors.Is(err, ErrAddress):
		return "an address is host:port, such as shm:0 or 127.0.0.1:7777"
	}
	return ""
}
