package tcp

import (
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// withinHost is the congestion control of connections that leave no host.
const withinHost = "reno"

// control sets the congestion control of a connection. If the system has it no more, the default does.
func (o *Options) control(fd int, local, remote string) {
	switch {
	case o.Congestion != "":
		_ = sysCongestion(fd, o.Congestion)
	case oneHost(local, remote):
		_ = sysCongestion(fd, withinHost)
	}
}

// oneHost says whether both ends of a connection are known to be on one host.
func oneHost(local, remote string) bool {
	l, err := netip.ParseAddrPort(local)
	if err != nil {
		return false
	}
	r, err := netip.ParseAddrPort(remote)
	return err == nil && (l.Addr() == r.Addr() || r.Addr().IsLoopback())
}

// checkCongestion tries what connections will be given.
func (o *Options) checkCongestion() error {
	if o.Congestion == "" {
		return nil
	}
	fd, err := sysSocket(unix.AF_INET)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := sysCongestion(fd, o.Congestion); err != nil {
		return fmt.Errorf("Options.Congestion %q: %w; Linux lists what there is in /proc/sys/net/ipv4/tcp_allowed_congestion_control", o.Congestion, err)
	}
	return nil
}
