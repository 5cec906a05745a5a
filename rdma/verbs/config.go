package verbs

import (
	"errors"
	"net/netip"

	"github.com/openbraid/braid/rdma"
)

// Config says which port of which adapter is opened.
type Config struct {
	// Name of the device, as `braid info` and ibv_devices print it; "": the one that has Address.
	Name string
	// Port of the device; 0: the one that has Address, or 1.
	Port int
	// Address that one of the port's GIDs must have, if Name is empty.
	Address netip.Addr
}

// Info is one port of one adapter.
type Info struct {
	Name string
	Port int
	// Reason why the port can't be opened; "": it can.
	Reason string
	State  rdma.PortState
	MTU    rdma.MTU
	GIDs   []rdma.GIDEntry
}

// Main is the address by which the port is known first: of RoCE v2, IPv4 before IPv6, none that only its link knows. Not valid: there is none.
func (i *Info) Main() (a netip.Addr) {
	for _, g := range i.GIDs {
		ip := g.GID.IP()
		if g.Type != rdma.RoCEv2 || ip.IsLinkLocalUnicast() {
			continue
		}
		if ip.Is4() {
			return ip
		}
		if !a.IsValid() {
			a = ip
		}
	}
	return a
}

// ErrNotBuilt: this program has no code for adapters.
var ErrNotBuilt = errors.New("verbs: this program was built without libibverbs: install libibverbs-dev and a C compiler, and build with CGO_ENABLED=1 go build -tags verbs")

// ErrNoLibrary: this host has no libibverbs, or one that is too old.
var ErrNoLibrary = errors.New("verbs: no libibverbs that can be used (packages libibverbs1 and ibverbs-providers)")

// ErrNoDevice: there is no adapter, or not this one.
var ErrNoDevice = errors.New("verbs: no such RDMA device")
