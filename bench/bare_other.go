//go:build !linux

package main

import (
	"errors"
	"io"
	"net"
)

func bare(*net.TCPConn) (io.ReadWriter, error) {
	return nil, errors.New("sockets are polled by hand on Linux only")
}
