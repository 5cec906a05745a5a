package rc

import (
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/openbraid/braid/internal/mpool"
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc/outbox"
	"github.com/openbraid/braid/transport/rc/wire"
)

const (
	maxFrame = 1<<20 + wire.MaxHead // a control frame never waits for more than one part of it

	defaultWindow = 4 << 20
	// maxOutstanding frames, however small they are: each costs an entry in the books.
	maxOutstanding = 16 << 10
)

// Place says what device is wanted.
type Place struct {
	// Local is the address that the device is to have. Not valid: one from which Remote can be reached. Port 0: any, where the device
	// has a port of its own (rdma.DeviceAttr.PeerPort).
	Local netip.AddrPort
	// Remote is who is dialed; not valid for a listener.
	Remote netip.AddrPort
	// Now is the clock that the device goes by.
	Now func() time.Duration
}

// Options of the transport.
type Options struct {
	// Open opens a device; the transport closes it. One device serves all connections of one local address.
	Open func(at Place) (rdma.Device, error)
	// OpenMail opens a second device, at the address that the first one has, for the datagrams by which connections are made: where the first one keeps
	// queue pair 1 to itself, as adapters do. Its port is the listener's. Nil: the first one, which is handed in, does it.
	OpenMail func(at Place, first rdma.Device) (rdma.Device, error)
	// TrustNetwork allows addresses that are no loopback ones. RDMA packets carry no proof: whoever can send packets with the peer's address
	// and sees or guesses the numbers of a connection (24 bits each for queue pair and packet) can write into it.
	TrustNetwork bool
	// AllowSecret allows an endpoint with a secret, which proves both ends when a lane is made, and no packet after.
	AllowSecret bool
	// Polled: the devices have no descriptor, so there is none to sleep on.
	Polled bool

	// GIDIndex is the row of the port's table whose address is used; nil: chosen (see docs/rc.md).
	GIDIndex *int
	// TrafficClass (DSCP << 2) and HopLimit of what is sent; 0 is 0 and 64.
	TrafficClass, HopLimit uint8
	// Timeout (code of rdma.AckTimeout) and RetryCount decide when a peer that does not answer is given up. A device in software answers
	// only when its program makes progress, so these are generous; a lane whose peer answers elsewhere is found much earlier.
	// 0 is 18 (1.07 s) and 7: 8.6 s in all. On hardware, which answers by itself and repeats what is lost only after Timeout, take 14.
	Timeout, RetryCount uint8
	// Receives is how many segments of SegmentBytes each endpoint has room for; 0 is 32 of 32 KiB. Before Admit it has 4.
	Receives, SegmentBytes int
	// ReadFrom: a payload of so many bytes or more is not sent in segments but offered, and the peer reads it (RDMA READ) when it has room.
	// Both sides must say so; the larger number counts. 0 is never: over devices in software sending is faster, since there a READ costs the
	// processors of both sides as much, and a round trip more. Hardware reads by itself.
	ReadFrom int
	// ReadBytes is how many bytes all endpoints of a port read at a time; 0 is 8 MiB. Each needs as much memory meanwhile.
	ReadBytes int
	// SendCQ is the depth of the completion queue that all endpoints of a port share for what they send; 0 is 4096.
	SendCQ int

	// startAt is where indices of new send rings begin: for tests of their wrap.
	startAt uint16
	// startPSN is the first packet number; 0: random. For tests of its wrap.
	startPSN uint32
}

// softTimeout (1.07 s) is for peers in software.
const softTimeout = 18

const sendRing = 64 // work requests; a power of two

func (o *Options) defaults() error {
	or := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	or(&o.Receives, 32)
	or(&o.SegmentBytes, 32<<10)
	or(&o.SendCQ, 4096)
	or(&o.ReadBytes, 8<<20)
	if o.Timeout == 0 {
		o.Timeout = softTimeout
	}
	if o.RetryCount == 0 {
		o.RetryCount = 7
	}
	if o.Open == nil {
		return fmt.Errorf("rc: Options.Open is nil: a device must come from somewhere")
	}
	for _, f := range []struct {
		name               string
		value, least, most int
	}{
		{"Receives", o.Receives, 2 * wire.MinReceives, 1 << 12}, {"SegmentBytes", o.SegmentBytes, 8 << 10, outbox.ChunkLen},
		{"ReadFrom", o.ReadFrom, 0, wire.MostReadFrom}, {"ReadBytes", o.ReadBytes, maxFrame, math.MaxInt},
		{"SendCQ", o.SendCQ, 8, math.MaxInt}, {"Timeout", int(o.Timeout), 0, 31}, {"RetryCount", int(o.RetryCount), 0, 7},
	} {
		if f.value < f.least || f.value > f.most {
			return fmt.Errorf("rc: Options.%s is %d: want %d to %d", f.name, f.value, f.least, f.most)
		}
	}
	return nil
}

// readFrom is ReadFrom as it is told to peers: 0 is never.
func (o *Options) readFrom() uint32 {
	return uint32((o.ReadFrom + wire.ReadUnit - 1) / wire.ReadUnit * wire.ReadUnit)
}

type rc struct{ o Options }

// New makes the transport. Mistakes in the options are said when it is opened: by braid.Node.NewWorker.
//
// Source: uct_rc_iface; its settings are UCX_RC_*.
func New(o Options) transport.Transport { return &rc{o: o} }

// Name implements transport.Transport.
func (*rc) Name() string { return "rc" }

// Open implements transport.Transport. Devices are opened when something is listened or dialed on.
func (t *rc) Open(env transport.Env) (transport.Iface, error) {
	o := t.o
	if err := o.defaults(); err != nil {
		return nil, err
	}
	f := &iface{env: env, o: o, pool: mpool.New(4<<10, 2<<20, 16<<20)}
	if !o.Polled {
		if err := f.poll.Open(); err != nil {
			return nil, &Error{Transport: "rc", Op: "open", Err: err}
		}
	}
	return f, nil
}
