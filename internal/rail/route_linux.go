package rail

import (
	"errors"
	"net"
	"strconv"

	"golang.org/x/sys/unix"
)

// isUnreachable: the system knows no way.
func isUnreachable(err error) bool {
	return errors.Is(err, unix.ENETUNREACH) || errors.Is(err, unix.EHOSTUNREACH) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.EINVAL)
}

// zoneIndex is the interface of a zone, 0 if there is none.
func zoneIndex(zone string) int {
	if n, err := strconv.Atoi(zone); err == nil {
		return n
	}
	i, err := net.InterfaceByName(zone)
	if err != nil {
		return 0
	}
	return i.Index
}

// nameOf is an interface's name for people.
func nameOf(index int) string {
	i, err := net.InterfaceByIndex(index)
	if err != nil {
		return "interface " + strconv.Itoa(index)
	}
	return i.Name
}
