package rail

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/internal/topo"
)

// groups are what is listened to.
const groups = unix.RTMGRP_LINK | unix.RTMGRP_IPV4_IFADDR | unix.RTMGRP_IPV6_IFADDR

// source is a socket on which the system tells of changes. Its goroutine is parked, not a thread, while nothing changes.
type source struct {
	file *os.File
	buf  []byte
}

// Watch begins to watch, and returns the table as it is. fn is called from a goroutine of its own, until Close.
func Watch(fn func([]topo.Rail)) (*Watcher, []topo.Rail, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, nil, fmt.Errorf("netlink: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: groups}); err != nil {
		unix.Close(fd)
		return nil, nil, fmt.Errorf("netlink: %w", err)
	}
	rd := newReader()
	table, err := rd.read() // after the socket listens: no change is missed
	if err != nil {
		unix.Close(fd)
		return nil, nil, err
	}
	w := &Watcher{source: source{os.NewFile(uintptr(fd), "netlink"), make([]byte, 64<<10)}, fn: fn, done: make(chan struct{})}
	go w.run(rd, table)
	return w, table, nil
}

// wait waits for a change, or until a time; zero: no time. open is false once the source is stopped.
func (s *source) wait(until time.Time) (changed, open bool) {
	if err := s.file.SetReadDeadline(until); err != nil {
		return false, false
	}
	switch _, err := s.file.Read(s.buf); {
	case err == nil, errors.Is(err, unix.ENOBUFS): // so much changed that some of it is lost
		return true, true
	case errors.Is(err, os.ErrDeadlineExceeded):
		return false, true
	}
	return false, false
}

func (s *source) stop() { s.file.Close() }
