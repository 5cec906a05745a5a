//go:build !linux

package main

import "net"

func datagramEnd(string, net.Conn, bool) error { return errNotPolled }
