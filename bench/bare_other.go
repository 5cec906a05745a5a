//go:build !linux

package main

import (
	"errors"
	"io"
	"net"
)

var errNotPolled = errors.New("sockets are polled by hand on Linux only")

func bare(*net.TCPConn) (io.ReadWriter, error) { return nil, errNotPolled }

func congest(*net.TCPConn, string) error { return errNotPolled }
