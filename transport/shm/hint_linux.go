package shm

import (
	"errors"

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
	case errors.Is(err, ErrAddress):
		return "an address is host:port, such as shm:0 or 127.0.0.1:7777"
	}
	return segment.Hint(err)
}
