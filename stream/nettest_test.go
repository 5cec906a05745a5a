package stream_test

import (
	"net"
	"testing"

	"golang.org/x/net/nettest"

	"github.com/openbraid/braid/stream"
)

// TestNetConn: a stream is a net.Conn by golang.org/x/net/nettest, whichever side is looked at.
func TestNetConn(t *testing.T) {
	tidy(t)
	p := newPair(t, stream.Options{}, stream.Options{})
	for name, turn := range map[string]bool{"opened": false, "accepted": true} {
		t.Run(name, func(t *testing.T) {
			nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
				c1, c2 = p.conns(t)
				if turn {
					c1, c2 = c2, c1
				}
				return c1, c2, func() { c1.Close(); c2.Close() }, nil
			})
		})
	}
}
