package braid

import (
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/worker"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/self"
	"github.com/openbraid/braid/transport/tcp"
)

// Default is the transports that work everywhere: TCP, and without a network what dials a listener of its own worker.
func Default() []transport.Transport {
	return []transport.Transport{tcp.New(tcp.Options{}), self.New(self.Options{})}
}

// ErrorMode is what becomes of an endpoint that loses a lane.
//
// Source: ucp_err_handling_mode_t.
type ErrorMode uint8

const (
	// Failover: other lanes take over, nothing is lost and nothing done twice. The default.
	Failover ErrorMode = iota
	// Peer: a lost lane ends the endpoint. Silent peers are found.
	Peer
	// None: a lost lane ends the endpoint. Nothing is sent to find silent peers.
	None
)

func (m ErrorMode) String() string { return m.wire().String() }

func (m ErrorMode) wire() wire.Mode {
	switch m {
	case Failover:
		return wire.ModeFailover
	case Peer:
		return wire.ModePeer
	case None:
		return wire.ModeNone
	}
	return wire.ModeFailover
}

func errorMode(m wire.Mode) ErrorMode {
	switch m {
	case wire.ModeNone:
		return None
	case wire.ModePeer:
		return Peer
	case wire.ModeFailover:
		return Failover
	}
	return Failover
}

// Options make a Node. The zero value is ready to use. Nothing is read from the environment or from files.
//
// Source: ucp_params_t, ucp_config_t.
type Options struct {
	Transports []transport.Transport // nil: Default()
	// Rails are the local addresses on which lanes are built, and on which a listener listens besides its own address:
	// "192.168.1.5", "10.0.0.5". Nil: whatever address the system picks, one lane for each address of the peer. A rail that can't
	// reach the peer's address (another family; loopback and not) is left out; if none can, the system picks.
	Rails []string
	Lanes int    // lanes per endpoint, at most 16; 0: one per rail or address of the peer
	Name  string // label that peers show in their logs, at most 64 bytes
	// Secret is what peers must prove to have, and this side proves to them, when they dial and when they are dialed. Not set: anybody
	// who reaches a listener gets in.
	Secret Secret

	Owned     bool       // workers belong to one goroutine, which calls Progress; see Worker
	Wait      WaitPolicy // of blocking calls
	ErrorMode ErrorMode
	Limits    Limits
	Times     Times

	// OnEvent is told what happens to lanes and endpoints, in order, from a worker's callbacks.
	OnEvent func(Event)
	Log     *slog.Logger // nil: silent
}

// Limits bound what an endpoint keeps. Zero values are the defaults named.
type Limits struct {
	Window       int // bytes on their way and not acknowledged, per lane: 4 MiB
	Pending      int // operations that wait for room, per endpoint and kind: 4096. Beyond it posts end with ErrLimit, blocking calls wait
	PendingBytes int // bytes of operations that wait for room, per endpoint: 1 GiB; a single one may be larger
	Message      int // bytes of the largest active message, and of all unfinished ones of an endpoint: 64 MiB
	Backlog      int // bytes of messages that arrived and are not handled, each with 256 of overhead, per endpoint: 64 MiB. The peer sends no more before they are
}

// Times are how long things may take. Zero values are the defaults named.
type Times struct {
	Handshake time.Duration // of a dial: 5 s
	Keepalive time.Duration // between probes of an idle lane: 1 s
	Peer      time.Duration // silence on all lanes: 10 s
	Suspended time.Duration // without any lane: 30 s
	Close     time.Duration // until the peer agrees: 5 s
	Probe     time.Duration // silence of a lane with unacknowledged work until it is probed: 15 ms
	Lost      time.Duration // and until it is given up: 40 ms
	RedialMin time.Duration // before a lost lane is dialed again, doubling: 20 ms
	RedialMax time.Duration // up to this: 5 s
}

// check says which option can't be.
func (o *Options) check() error {
	if !wire.ValidName(o.Name) {
		return fmt.Errorf("braid: Options.Name %q: at most 64 bytes of printable text", o.Name)
	}
	if o.ErrorMode > None {
		return fmt.Errorf("braid: Options.ErrorMode %d: Failover, Peer or None", o.ErrorMode)
	}
	if o.Wait > WaitSleep {
		return fmt.Errorf("braid: Options.Wait %d: WaitAdaptive, WaitPoll or WaitSleep", o.Wait)
	}
	if o.Lanes > config.MostLanes {
		return fmt.Errorf("braid: Options.Lanes %d: at most %d", o.Lanes, config.MostLanes)
	}
	if o.Secret.IsSet() {
		return fmt.Errorf("braid: Options.Secret: %w: nothing proves it yet", ErrSecret)
	}
	for _, r := range o.Rails {
		// Other transports than the default may have addresses of another kind.
		if _, err := netip.ParseAddr(topo.HostOf(r)); err != nil && o.Transports == nil {
			return fmt.Errorf("braid: Options.Rails %q: want the IP address of an interface of this host, as \"192.168.1.5\"", r)
		}
	}
	l, t := o.Limits, o.Times
	for _, v := range []struct {
		name  string
		value int64
	}{
		{"Lanes", int64(o.Lanes)},
		{"Limits.Window", int64(l.Window)}, {"Limits.Pending", int64(l.Pending)}, {"Limits.PendingBytes", int64(l.PendingBytes)}, {"Limits.Message", int64(l.Message)}, {"Limits.Backlog", int64(l.Backlog)},
		{"Times.Handshake", int64(t.Handshake)}, {"Times.Keepalive", int64(t.Keepalive)}, {"Times.Peer", int64(t.Peer)},
		{"Times.Suspended", int64(t.Suspended)}, {"Times.Close", int64(t.Close)}, {"Times.Probe", int64(t.Probe)}, {"Times.Lost", int64(t.Lost)},
		{"Times.RedialMin", int64(t.RedialMin)}, {"Times.RedialMax", int64(t.RedialMax)},
	} {
		if v.value < 0 {
			return fmt.Errorf("braid: Options.%s: must not be negative; 0 is the default", v.name)
		}
	}
	return nil
}

func (o *Options) config() config.Config {
	return config.Config{
		Name: o.Name, Lanes: o.Lanes,
		Bounds: config.Bounds{Window: o.Limits.Window, Pending: o.Limits.Pending, PendingBytes: uint64(o.Limits.PendingBytes), MaxMessage: uint64(o.Limits.Message), Backlog: uint64(o.Limits.Backlog)},
		Times: config.Times{
			Handshake: o.Times.Handshake, Keepalive: o.Times.Keepalive, PeerTimeout: o.Times.Peer,
			Suspended: o.Times.Suspended, Close: o.Times.Close, ProbeAfter: o.Times.Probe, LostAfter: o.Times.Lost,
			RedialMin: o.Times.RedialMin, RedialMax: o.Times.RedialMax,
		},
	}
}

// EventKind says what happened.
type EventKind uint8

const (
	LaneUp     = EventKind(worker.LaneUp)     // a lane is ready
	LaneDown   = EventKind(worker.LaneDown)   // a lane is lost; other lanes take over its operations
	HandedOver = EventKind(worker.HandedOver) // everything that was under way on a lost lane is executed
	Suspended  = EventKind(worker.Suspended)  // no lane is left; the endpoint waits for one
	Resumed    = EventKind(worker.Resumed)    // a suspended endpoint has a lane again
	Failed     = EventKind(worker.Failed)     // the endpoint is over, and not by this side; ErrPeerClosed: the peer closed it
)

func (k EventKind) String() string { return worker.EventKind(k).String() }

// Event is something that happened to an endpoint. Fields that a kind has no use for are zero.
type Event struct {
	Kind     EventKind
	At       time.Time
	Endpoint *Endpoint
	Lane     string // "local->remote"
	Instance string // name of the lane's life: "d3" is the third that the dialing side opened
	Dialed   bool   // this side opened the lane
	Err      error
	// Bytes of frames. LaneDown: what this side had posted on the lane, and had accepted from it. HandedOver: also what the
	// peer had accepted, by its own count, and what was posted again.
	Posted, Accepted, PeerAccepted, Replayed uint64
}
