//go:build !linux

package udp

import (
	"fmt"
	"net/netip"
	"runtime"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/carrier"
)

// Open says that there is none here.
func Open(netip.AddrPort, Options) (carrier.Carrier, error) {
	return nil, fmt.Errorf("%w: software RDMA over sockets needs Linux, this is %s", rdma.ErrUnsupported, runtime.GOOS)
}
