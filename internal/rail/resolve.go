package rail

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

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
