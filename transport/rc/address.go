package rc

import (
	"fmt"
	"net/netip"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport"
)

// trusted says whether an address may be used.
func (o *Options) trusted(a netip.Addr) error {
	if !o.TrustNetwork && !a.IsLoopback() {
		return fmt.Errorf("%v: %w", a, errTrust)
	}
	return nil
}

// protects says why a lane that is to prove a secret is not made.
func (o *Options) protects(lane transport.Options) error {
	if lane.Secret && !o.AllowSecret {
		return errSecret
	}
	return nil
}

// av is the way to a peer.
func (p *port) av(gid rdma.GID, udp uint16) rdma.AHAttr {
	return rdma.AHAttr{DGID: gid, SGIDIndex: p.gid.Index, Port: udp, TrafficClass: p.f.o.TrafficClass, HopLimit: p.f.o.HopLimit}
}
