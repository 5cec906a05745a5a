package rdma

import (
	"fmt"
	"net/netip"
)

// GID is the address of a port: on RoCE an IP address, IPv4 in its mapped form.
//
// Source: ibv_gid.
type GID [16]byte

// GIDFrom is the GID of an address.
func GIDFrom(a netip.Addr) GID { return a.As16() }

// IP is the GID as an address, IPv4 in four bytes.
func (g GID) IP() netip.Addr { return netip.AddrFrom16(g).Unmap() }

func (g GID) String() string { return g.IP().String() }

// GIDType says how packets to and from a GID look.
//
// Source: ibv_gid_type.
type GIDType uint8

// The types of GIDs.
const (
	RoCEv1 GIDType = iota + 1
	RoCEv2
)

func (t GIDType) String() string {
	switch t {
	case RoCEv1:
		return "RoCE v1"
	case RoCEv2:
		return "RoCE v2"
	}
	return "GID type(?)"
}

// GIDEntry is one row of a port's table.
//
// Source: ibv_gid_entry.
type GIDEntry struct {
	Index int
	GID   GID
	Type  GIDType
}

// MAC is the link layer's address.
type MAC [6]byte

func (m MAC) String() string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5])
}

// AHAttr says where packets go and how.
//
// Source: ibv_ah_attr, ibv_global_route.
type AHAttr struct {
	DGID         GID
	SGIDIndex    int    // row of the own GID table
	HopLimit     uint8  // 0: 64
	TrafficClass uint8  // DSCP << 2
	FlowLabel    uint32 // 20 bits; also what the UDP source port is made of, where the device can choose it (UDPSourcePort)
	// Port is the peer's PortAttr.UDPPort; 0 is RoCEPort. From a peer with a port of its own only packets that come from that
	// port are taken. Devices without Attr().PeerPort refuse any other.
	Port uint16
	// From is the port that the peer's packets come from, if it isn't Port: PortAttr.Source of the peer's flow label.
	From uint16
}

// AH is an address handle: an AHAttr that was resolved, with the neighbour's MAC in it.
//
// Source: ibv_ah.
type AH interface {
	Attr() AHAttr
	// MAC is what the neighbour's address was when the handle was made; zero if the device leaves that to the system.
	MAC() MAC
	// Destroy ends it. ErrBusy while a posted work request uses it.
	//
	// Source: ibv_destroy_ah.
	Destroy() error
}

// UDPSourcePort is the source port for a flow label: in 0xC000 to 0xFFFF, so that paths hash to different routes.
//
// Source: rdma_flow_label_to_udp_sport.
func UDPSourcePort(flowLabel uint32) uint16 {
	return uint16(flowLabel&0x3fff^flowLabel&0xfc000>>14) | 0xc000
}
