//go:build !linux

package datagrams

import (
	"errors"
	"net"
)

// End is for Linux only.
func End(string, net.Conn, bool) error {
	return errors.New("datagrams are sent in batches on Linux only")
}
