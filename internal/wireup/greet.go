package wireup

import (
	"time"

	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/internal/failover"
	"github.com/openbraid/braid/internal/wire"
)

// Nonce is 16 random bytes.
func Nonce(random func() uint64) (n [16]byte) {
	for i := range 2 {
		v := random()
		for b := range 8 {
			n[8*i+b] = byte(v >> (8 * b))
		}
	}
	return n
}

// Hello is a first word with these terms. Which instance it is for, and what proves it, is still to be filled in.
func (t Terms) Hello(c *config.Config, n failover.Names, nonce [16]byte) wire.Hello {
	return wire.Hello{
		Optional:    t.Caps(),
		Incarnation: n.Mine.Incarnation, Endpoint: n.Mine.Endpoint, PeerIncarnation: n.Yours.Incarnation, PeerEndpoint: n.Yours.Endpoint,
		Nonce: nonce, Mode: t.Mode, MaxFrame: t.MaxFrame, MaxMessage: c.MaxMessage, Backlog: c.Backlog, ReplyCredits: uint32(c.Replies),
		Keepalive: uint32(c.Keepalive / time.Millisecond), PeerTimeout: uint32(c.PeerTimeout / time.Millisecond),
		Name: c.Name,
	}
}

// HelloAck agrees to a Hello for the instance. The key, and where else there are listeners, is still to be filled in.
func (t Terms) HelloAck(c *config.Config, n failover.Names, id wire.Instance, nonce [16]byte) wire.HelloAck {
	return wire.HelloAck{
		Optional: t.Caps(), Instance: id, Incarnation: n.Mine.Incarnation, Endpoint: n.Mine.Endpoint,
		Nonce: nonce, Mode: t.Mode, MaxFrame: t.MaxFrame, MaxMessage: c.MaxMessage, Backlog: c.Backlog, ReplyCredits: uint32(c.Replies), Name: c.Name,
	}
}
