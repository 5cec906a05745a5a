//go:build !linux

package echo

import (
	"errors"
	"io"
	"net"
)

var errNotPolled = errors.New("sockets are polled by hand on Linux only")

func Polled(*net.TCPConn) (io.ReadWriter, error) { return nil, errNotPolled }

func Congest(*net.TCPConn, string) error { return errNotPolled }
