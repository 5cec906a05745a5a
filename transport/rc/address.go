package rc

import (
	"fmt"
	"net/netip"

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
