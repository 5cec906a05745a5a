package stream_test

import (
	"net"
	"testing"

	"golang.org/x/net/nettest"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/stream"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/tcp"
)

// TestNetConn: a stream is a net.Conn by golang.org/x/net/nettest, whichever side is looked at.
func TestNetConn(t *testing.T) {
	tidy(t)
	sockets := newPairOver(t, braid.Options{Transports: []transport.Transport{tcp.New(tcp.Options{})}}, stream.Options{}, stream.Options{})
	testNetConn(t, "tcp/", sockets)
	testNetConn(t, "default/", newPair(t, stream.Options{}, stream.Options{})) // shared memory, where there is such
}

func testNetConn(t *testing.T, over string, p *pair) {
	for name, turn := range map[string]bool{"opened": false, "accepted": true} {
		t.Run(over+name, func(t *testing.T) {
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
