package mail

import (
	"errors"
	"fmt"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport/rc/wire"
)

// Ways makes the address vectors of a port: of its datagrams, and of the packets of its connections, which may take another device.
type Ways struct {
	Device rdma.Device // of connections
	GID    rdma.GIDEntry
	Row    int    // that the GID has for datagrams
	Port   uint16 // where datagrams arrive
	// TrafficClass and HopLimit of all of them.
	TrafficClass, HopLimit uint8
}

// Choose takes the best row of the device's table that works: with each an address handle to itself is made, and the next one is tried where the device
// refuses. Of a port that is down, which would refuse all, the best one is taken as it is.
//
// Source: uct_ib_device_test_roce_gid_index.
func (w *Ways) Choose(pd rdma.PD, want Wanted) error {
	rows, err := Candidates(w.Device.GIDs(), want)
	if err != nil {
		return err
	}
	var refused []error
	for _, e := range rows {
		w.GID, w.Row = e, e.Index
		ah, err := pd.CreateAH(w.Self())
		if err == nil {
			return ah.Destroy()
		}
		if w.Device.Port().State != rdma.PortActive {
			return nil
		}
		refused = append(refused, fmt.Errorf("the device can't send from GID %d (%v, %v): %w", e.Index, e.GID, e.Type, err))
	}
	return errors.Join(refused...)
}

// Letter is the way of datagrams to a peer.
func (w *Ways) Letter(gid rdma.GID, udp uint16) rdma.AHAttr {
	return rdma.AHAttr{DGID: gid, SGIDIndex: w.Row, Port: udp, TrafficClass: w.TrafficClass, HopLimit: w.HopLimit}
}

// Packets is the way to the queue pair of a peer that a letter reaches, given what the peer says of it.
func (w *Ways) Packets(letter rdma.AHAttr, m *wire.Message) rdma.AHAttr {
	a := letter
	a.SGIDIndex, a.From = w.GID.Index, m.Source
	if m.Port != 0 {
		a.Port = m.Port
	}
	return a
}

// Self is the way to queue pairs of the same device.
func (w *Ways) Self() rdma.AHAttr {
	return w.Packets(w.Letter(w.GID.GID, w.Device.Port().UDPPort), &wire.Message{})
}

// Ports are what a peer must know: where our packets come from, and where they are taken if that isn't where datagrams are.
func (w *Ways) Ports(flowLabel uint32) (source, port uint16) {
	now := w.Device.Port()
	if w.Device.Attr().PeerPort {
		source = now.Source(flowLabel)
	}
	if now.UDPPort != w.Port {
		port = now.UDPPort
	}
	return source, port
}
