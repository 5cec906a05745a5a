package rdma

import "time"

// Device is an opened device with one port.
//
// Source: ibv_open_device, ibv_context; a device of several ports is opened once for each.
type Device interface {
	// Attr says what the device can do. It doesn't change.
	Attr() DeviceAttr
	// Port says how its port is now.
	Port() PortAttr
	// GIDs are the port's addresses, in the order of their indices. An index may be missing: use GIDEntry.Index.
	//
	// Source: ibv_query_gid_table.
	GIDs() []GIDEntry

	// AllocPD makes a protection domain: what belongs to different ones doesn't work together.
	//
	// Source: ibv_alloc_pd.
	AllocPD() (PD, error)
	// CreateCQ makes a completion queue for depth completions that nobody has polled yet.
	//
	// Errors: ErrInvalid if depth is not in [1, MaxCQE].
	// Source: ibv_create_cq.
	CreateCQ(depth int) (CQ, error)

	// Progress takes what has arrived, runs the timers that are due, sends what may be sent, and returns the number of
	// packets, timers and changes it dealt with: 0 means that nothing happened. Posting sends by itself as far as it can.
	// On hardware, which needs no help, it returns 0.
	Progress() int
	// Deadline is the time, of the clock that the device was opened with, at which Progress must run even if nothing
	// arrives; 0 is none.
	Deadline() time.Duration
	// EventFD is a descriptor that polls readable when Progress may have something to do, an armed completion queue has
	// got a completion, or there is an event; -1 if there is none, then the device must be polled.
	EventFD() int

	// PollEvents takes up to len(dst) asynchronous events, oldest first, and returns how many.
	//
	// Source: ibv_get_async_event, ibv_ack_async_event.
	PollEvents(dst []Event) int

	// Close ends the device and all that is left of it. Nothing is sent, no completion is made. Idempotent.
	//
	// Source: ibv_close_device.
	Close() error
}

// DeviceAttr is what a device can do.
//
// Source: ibv_device_attr.
type DeviceAttr struct {
	Name            string
	MaxCQE          int    // depth of a completion queue
	MaxSendBlocks   int    // of a queue pair's send ring
	MaxRecvWR       int    // of a queue pair's receive queue
	MaxSGE          int    // of one work request
	MaxInline       int    // bytes of one work request
	MaxWRBlocks     int    // blocks that one work request takes at most
	MaxMessageBytes uint32 // of one RC work request
	MaxReadsOut     uint8  // MaxReads of a queue pair, as requester
	MaxReadsIn      uint8  // MaxDestReads of a queue pair, as responder
	// PeerPort: AH.Port means something: the device speaks to ports other than the standard's.
	PeerPort bool
	// GSI: queue pairs of TypeGSI can be made.
	GSI bool
	// Windows: the types of memory windows that can be made.
	Windows []MWType
}

// PortState is how a port is.
//
// Source: ibv_port_state.
type PortState uint8

// The states of a port, with the numbers of ibv_port_state. A port of an Ethernet device knows Down and Active only.
const (
	PortDown   PortState = 1
	PortActive PortState = 4
)

func (s PortState) String() string {
	switch s {
	case PortDown:
		return "down"
	case PortActive:
		return "active"
	}
	return "state(?)"
}

// PortAttr is how a port is at the moment.
//
// Source: ibv_port_attr.
type PortAttr struct {
	State     PortState
	ActiveMTU MTU // largest path MTU that its link carries
	MaxMTU    MTU
	// UDPPort is where the device takes packets: RoCEPort unless Attr().PeerPort. It travels in wireup.
	UDPPort uint16
	// Sources are ports that packets of connections may leave from instead, see Source. The peer must be told (AHAttr.From).
	Sources []uint16
	// BytesPerSecond of the link; 0 if the device doesn't know.
	BytesPerSecond int64
	MAC            MAC // zero if the device doesn't know
}

// Source is the port that the packets of a connection with this flow label leave from.
func (p *PortAttr) Source(flowLabel uint32) uint16 {
	if len(p.Sources) == 0 {
		return p.UDPPort
	}
	return p.Sources[int(UDPSourcePort(flowLabel))%len(p.Sources)]
}

// RoCEPort is the standard's UDP port of RoCEv2.
const RoCEPort = 4791

// MTU is a path MTU: bytes of payload in one packet.
//
// Source: ibv_mtu, whose numbers it has.
type MTU uint8

// The path MTUs that there are.
const (
	MTU256 MTU = iota + 1
	MTU512
	MTU1024
	MTU2048
	MTU4096
)

// Bytes is the MTU in bytes, 0 if it isn't one.
func (m MTU) Bytes() int {
	if m < MTU256 || m > MTU4096 {
		return 0
	}
	return 128 << m
}

// Shift is the power of two of Bytes.
func (m MTU) Shift() uint { return 7 + uint(m) }

// MTUFor is the largest MTU whose packets, with all headers that RoCEv2 puts around them, fit into a link of linkBytes; 0 if none does.
func MTUFor(linkBytes int) MTU {
	const around = 40 + 8 + 12 + 4 + 28 + 4 // IPv6, UDP, BTH, an extension, AtomicETH, ICRC: as iboe_get_mtu reckons
	for m := MTU4096; m >= MTU256; m-- {
		if m.Bytes()+around <= linkBytes {
			return m
		}
	}
	return 0
}
