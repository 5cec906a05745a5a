package segment

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Hint is what to do about an error of this package's, or of the system; "" where nothing is known.
func Hint(err error) string {
	switch {
	case errors.Is(err, ErrSpace):
		return "free some memory, or have smaller rings: Options.Slots and Data of the transport"
	case errors.Is(err, unix.ECONNREFUSED):
		return "nobody listens there: the peer has no shared memory, or is in another network namespace"
	case errors.Is(err, unix.EADDRINUSE):
		return "somebody listens there already: choose another port, or port 0"
	case errors.Is(err, unix.EMFILE):
		return "this process has no descriptor left: raise its limit, ulimit -n"
	}
	return ""
}

// ErrBoot: a name can't say which host it is of.
var ErrBoot = errors.New("/proc/sys/kernel/random/boot_id can't be read: nobody could tell which host an address is of")

// Boot is how this boot of the host is told from others, in names; "": nobody can.
func Boot() string {
	if boot := BootID(); len(boot) >= 8 {
		return boot[:8]
	}
	return ""
}

// Try makes a segment and gives it back, and says what is missing.
func Try() error {
	if Boot() == "" {
		return ErrBoot
	}
	s, err := Create(1 << 16)
	if err == nil {
		s.Close()
	}
	return err
}
