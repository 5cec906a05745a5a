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

// ErrNotBuilt: this program has no code for adapters.
var ErrNotBuilt = errors.New("verbs: this program was built without libibverbs: install libibverbs-dev and a C compiler, and build with CGO_ENABLED=1 go build -tags verbs")

// ErrNoDevice: there is no adapter, or not this one.
var ErrNoDevice = errors.New("verbs: no such RDMA device")
