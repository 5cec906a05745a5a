package soft

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/openbraid/braid/internal/timer"
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/pace"
	"github.com/openbraid/braid/rdma/soft/packet"
	"github.com/openbraid/braid/rdma/soft/ring"
)

// What a device can do.
const (
	maxCQE     = 1 << 20
	maxBlocks  = 1 << 14
	maxRecvWR  = 1 << 14
	maxMessage = 1 << 30
	gsiNum     = 1
)

// Config is what a device is opened with.
type Config struct {
	Name    string // default "soft"
	Carrier carrier.Carrier
	Now     func() time.Duration // monotonic
	Rand    func() uint64        // numbers and keys come from it: outside of tests it must not be guessable
	// Window is how many packets one queue pair has under way at most. It starts lower and follows losses. Default: what fits into half
	// of the carrier's own receive buffer, taken for the peer's, and no more than 256.
	Window int
	// Tap sees what leaves and what arrives, ICRC included; nil costs nothing. packet.Tap writes it to a file.
	Tap packet.Watcher
	// FirstBlock is the index of the first block of new send rings: for tests of its wrap.
	FirstBlock uint16
}

// Device is an open device.
type Device struct {
	cfg    Config
	c      carrier.Carrier
	now    time.Duration
	timers timer.Set
	tx     tx

	qps   map[uint32]*queuePair // looked up, never walked
	all   []*queuePair          // in the order of their making
	lkeys map[uint32]*region
	rkeys map[uint32]remote
	ready []*queuePair // have something to send
	spare []*queuePair
	ins   [recvBatch]carrier.In
	sum   packet.Sum

	events []rdma.Event
	down   bool
	closed bool
	stats  Stats
}

// recvBatch is how many datagrams are asked for at a time.
const recvBatch = 64

var _ rdma.Device = (*Device)(nil)

// Stats counts what a device did not do as asked, and what it did again.
type Stats struct {
	RxPackets, TxPackets   uint64
	BadICRC, BadPacket     uint64 // dropped
	UnknownQP, WrongPeer   uint64 // dropped
	WrongState, WrongQKey  uint64 // dropped
	NoRecv                 uint64 // datagrams that found no receive, or too short a one
	Duplicates, OutOfOrder uint64 // requests
	BadAnswers             uint64 // dropped
	Crowded                uint64 // READs and atomics that there was no room for: dropped
	NaksSent, RNRsSent     uint64
	NaksTaken, RNRsTaken   uint64
	Timeouts, GoBacks      uint64
	Probes                 uint64
}

// Open makes a device on a carrier, which is the device's from then on.
func Open(cfg Config) (*Device, error) {
	if cfg.Carrier == nil || cfg.Now == nil || cfg.Rand == nil {
		return nil, fmt.Errorf("%w: Config.Carrier, Now and Rand must be there: what moves packets, time and luck", rdma.ErrInvalid)
	}
	if cfg.Name == "" {
		cfg.Name = "soft"
	}
	if cfg.Window == 0 {
		cfg.Window = windowFor(cfg.Carrier)
	}
	if rdma.MTUFor(cfg.Carrier.LinkBytes()) == 0 {
		return nil, fmt.Errorf("%w: a link of %d bytes carries no path MTU", rdma.ErrInvalid, cfg.Carrier.LinkBytes())
	}
	d := &Device{
		cfg: cfg, c: cfg.Carrier, now: cfg.Now(),
		qps: map[uint32]*queuePair{}, lkeys: map[uint32]*region{}, rkeys: map[uint32]remote{},
	}
	d.tx.open(d)
	d.notice() // what the carrier knows already
	return d, nil
}

// windowFor is the default window.
func windowFor(c carrier.Carrier) int {
	n := c.BufferBytes()
	if n == 0 {
		return 64
	}
	return min(256, max(8, n/2/(rdma.MTUFor(c.LinkBytes()).Bytes()+packet.MaxOverhead)))
}

// Attr implements rdma.Device.
func (d *Device) Attr() rdma.DeviceAttr {
	return rdma.DeviceAttr{
		Name: d.cfg.Name, MaxCQE: maxCQE, MaxSendBlocks: maxBlocks, MaxRecvWR: maxRecvWR, MaxSGE: ring.MaxSGE, MaxInline: ring.MaxInline,
		MaxWRBlocks: ring.MaxWRBlocks, MaxMessageBytes: maxMessage, MaxReadsOut: pace.MaxReads, MaxReadsIn: pace.MaxReads,
		PeerPort: true, GSI: true, Windows: []rdma.MWType{rdma.Window1, rdma.Window2},
	}
}

// Port implements rdma.Device.
func (d *Device) Port() rdma.PortAttr {
	mtu := rdma.MTUFor(d.c.LinkBytes())
	a := rdma.PortAttr{
		State: rdma.PortActive, ActiveMTU: mtu, MaxMTU: rdma.MTU4096,
		UDPPort: d.c.Local().Port(), Sources: d.c.Sources(), MAC: d.c.MAC(),
	}
	if d.down {
		a.State = rdma.PortDown
	}
	return a
}

// GIDs implements rdma.Device: a device has one address.
func (d *Device) GIDs() []rdma.GIDEntry {
	return []rdma.GIDEntry{{GID: rdma.GIDFrom(d.c.Local().Addr()), Type: rdma.RoCEv2}}
}

// Addr is where the device takes packets.
func (d *Device) Addr() netip.AddrPort { return d.c.Local() }

// Stats are the counts so far.
func (d *Device) Stats() Stats { return d.stats }

// PollEvents implements rdma.Device.
func (d *Device) PollEvents(dst []rdma.Event) int {
	n := copy(dst, d.events)
	rest := copy(d.events, d.events[n:])
	clear(d.events[rest:])
	d.events = d.events[:rest]
	return n
}

func (d *Device) event(e rdma.Event) { d.events = append(d.events, e) }

// Close implements rdma.Device.
func (d *Device) Close() error {
	if d.closed {
		return nil
	}
	for len(d.all) > 0 {
		d.all[len(d.all)-1].end()
	}
	d.closed = true
	return d.c.Close()
}

// EventFD implements rdma.Device.
func (d *Device) EventFD() int { return d.c.FD() }

// Deadline implements rdma.Device.
func (d *Device) Deadline() time.Duration {
	at := d.timers.Next()
	if c := d.c.Deadline(); c != 0 && (at == 0 || c < at) {
		at = c
	}
	if len(d.ready) > 0 || d.tx.waiting() || len(d.events) > 0 {
		if soon := max(1, d.now+retryAfter); at == 0 || soon < at {
			at = soon
		}
	}
	return at
}

// retryAfter is when a carrier that had no room is asked again.
const retryAfter = 20 * time.Microsecond

// number draws a number that isn't taken, of bits bits and at least min.
func (d *Device) number(bits uint, min uint32, taken func(uint32) bool) uint32 {
	for {
		if n := uint32(d.cfg.Rand()) >> (32 - bits); n >= min && !taken(n) {
			return n
		}
	}
}
