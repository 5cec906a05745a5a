package rail

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// ResolvePeer is Resolve for an address that is dialed: its port is not 0.
func ResolvePeer(ctx context.Context, addr string) ([]string, error) {
	if _, port, err := net.SplitHostPort(addr); err == nil {
		if n, err := strconv.Atoi(port); err == nil && n == 0 {
			return nil, errors.New("port 0 is for listeners, it lets the system pick one: dial the port that the listener got")
		}
	}
	return Resolve(ctx, addr)
}

// Resolve turns "host:port" into addresses with that port; no host is loopback.
func Resolve(ctx context.Context, addr string) ([]string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("%w; write host:port", err)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return nil, fmt.Errorf("port %q: want a number from 0 to 65535", port)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return []string{net.JoinHostPort(host, port)}, nil
	}
	ips, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return nil, err
	}
	for i := range ips {
		ips[i] = net.JoinHostPort(ips[i], port)
	}
	return ips, nil
}
