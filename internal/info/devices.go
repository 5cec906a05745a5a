package info

import (
	"os"
	"slices"
	"strings"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/verbs"
)

// Devices are those for RDMA.
type Devices struct {
	RDMA  []string `json:"rdma"` // that the system has
	Used  bool     `json:"used"`
	Why   string   `json:"why"`
	Ports []Port   `json:"ports,omitempty"` // where this program has the code for them
}

// Port is one of a device's.
type Port struct {
	Device    string   `json:"device"`
	Port      int      `json:"port"`
	State     string   `json:"state"`
	MTU       int      `json:"mtu"` // bytes of payload in a packet
	Addresses []string `json:"addresses"`
	Reason    string   `json:"reason,omitempty"` // why it can't be used
}

// DevicesOf says which there are, and why they are or are not used.
func DevicesOf(s *braid.Settings) *Devices {
	d := &Devices{RDMA: []string{}}
	if entries, err := os.ReadDir("/sys/class/infiniband"); err == nil {
		for _, e := range entries {
			d.RDMA = append(d.RDMA, e.Name())
		}
	}
	list, err := verbs.List()
	for _, i := range list {
		p := Port{Device: i.Name, Port: i.Port, State: i.State.String(), MTU: i.MTU.Bytes(), Addresses: []string{}, Reason: i.Reason}
		for _, g := range i.GIDs {
			if text := g.GID.String(); g.Type == rdma.RoCEv2 && !slices.Contains(p.Addresses, text) {
				p.Addresses = append(p.Addresses, text)
			}
		}
		d.Ports = append(d.Ports, p)
	}
	usable := slices.ContainsFunc(d.Ports, func(p Port) bool { return p.Reason == "" && len(p.Addresses) > 0 })
	switch {
	case err != nil:
		d.Why = err.Error()
	case !usable:
		d.Why = "the system has none with an IP address (RoCE): ibv_devices lists what it has. RDMA in software needs none (transports=rc)"
	case !slices.Contains(strings.Split(value(s, "transports"), ","), "verbs"):
		d.Why = "not named by the setting transports (verbs)"
	default:
		d.Used, d.Why = true, "named by the setting transports"
	}
	return d
}
