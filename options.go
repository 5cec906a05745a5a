package braid

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/internal/carriers"
	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// Default is the transports that work everywhere: TCP, and without a network what dials a listener of its own worker.
func Default() []transport.Transport { return carriers.All(config.Node{}, nil) }

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

// wire is the same on the wire, where they are numbered the other way round: the zero value here is the most.
func (m ErrorMode) wire() wire.Mode { return wire.ModeFailover - wire.Mode(min(m, None)) }

func errorMode(m wire.Mode) ErrorMode { return ErrorMode(wire.ModeFailover - m) }

// Options make a Node. The zero value is ready to use. Nothing is read from the environment or from files, unless by FromEnv or
// Settings. A zero field is not said: then the setting holds, and where there is none the default named.
//
// Source: ucp_params_t, ucp_config_t.
type Options struct {
	Settings   *Settings             // what people said, in files, variables and flags; nil: nothing
	Transports []transport.Transport // nil: those of Default that the setting "transports" names
	// Rails are on which of this host's rails lanes are built, and on which a listener listens besides its own address: interfaces ("eth0"), addresses
	// ("10.0.0.5", "fe80::1%eth0"), networks ("10.0.0.0/16"), patterns ("eth*"), or one of those to be left out ("!docker*"). Nil: every interface
	// that reaches the peer, but bridges and tunnels of this host alone, and none that is slow beside others. LocalRails shows what that
	// is; docs/rails.md has the rules. An entry that nothing matches is a warning, for the rail may come; if none is left, Dial and Listen say so.
	Rails []string
	Lanes int    // lanes per endpoint, at most 16; 0: one for each interface that reaches the peer
	Name  string // label that peers show in their logs, at most 64 bytes
	// Secret is what peers must prove to have, and this side proves to them, when they dial and when they are dialed. Not set: anybody
	// who reaches a listener gets in.
	Secret Secret

	Owned     bool       // workers belong to one goroutine, which calls Progress; see Worker
	Wait      WaitPolicy // of blocking calls
	ErrorMode ErrorMode
	Limits    Limits
	Times     Times

	// Faults stands in front of the connections of the default transports, and does to them what its rules say. What they say for later (after=, every=, for=) needs
	// somebody who drives it: package fault/drive. Others have a place of their own (tcp.Options.Wrapper).
	Faults *fault.Injector

	// Control makes a socket of this user alone, for `braid inspect` and `braid fault` (docs/control.md). Connections of the default transports then have a lock more to take.
	Control bool
	// OnEvent is told what happens to lanes and endpoints, in order, from a worker's callbacks.
	OnEvent func(Event)
	Log     *slog.Logger // nil: as the setting "log" says; without it, silent
}

// Limits bound what an endpoint keeps. Zero values are the defaults named.
type Limits struct {
	Window             int // bytes on their way and not acknowledged, per lane: 4 MiB
	Pending            int // operations that wait for room, per endpoint and kind: 4096. Beyond it posts end with ErrLimit, blocking calls wait
	PendingBytes       int // bytes of operations that wait for room, per endpoint: 1 GiB; a single one may be larger
	Message            int // bytes of the largest active message, and of all unfinished ones of an endpoint: 64 MiB
	Backlog            int // bytes of messages that arrived and are not handled, each with 256 of overhead, per endpoint: 64 MiB. The peer sends no more before they are
	Frame              int // bytes of the largest piece in which data is sent: 256 KiB, from 4 KiB to 1 MiB
	Stripe             int // bytes from which a message goes over several lanes at once: as the lanes are (docs/explain.md), from 32 KiB to 1 MiB
	Eager              int // bytes up to which a tagged or offered message is sent without asking whether it is wanted: as the lanes are, from 16 KiB to a frame
	ZeroCopy           int // bytes from which a payload is sent from where it stands: as the transports say
	Replies            int // gets and fetches of the peer that are answered at a time, per endpoint: 64
	Lanes              int // lanes of an endpoint, whoever opens them: 16, which is also the most
	HalfOpen           int // connections that have not said who they are, per listener: 64
	HalfOpenPerAddress int // the same, of one address that is no loopback one: 8
}

// Times are how long things may take. Zero values are the defaults named.
type Times struct {
	Handshake time.Duration // of a dial: 5 s
	Hello     time.Duration // for who connects to say who he is: 2 s
	DialWait  time.Duration // of a dial that has its first lane, for the others: 1 s
	Keepalive time.Duration // between probes of an idle lane: 1 s
	Peer      time.Duration // silence on all lanes: 10 s
	Suspended time.Duration // without any lane: 30 s
	Close     time.Duration // until the peer agrees: 5 s
	Probe     time.Duration // silence of a lane with unacknowledged work until it is probed: 10 ms
	Lost      time.Duration // and until it is given up: 30 ms
	RedialMin time.Duration // before a lost lane is dialed again, doubling: 20 ms
	RedialMax time.Duration // up to this: 5 s
	RedialFor time.Duration // until it is given up, while another lane carries on, and nothing is heard of rails or addresses: never
}

// settle lays the options over the settings. The error names everything that can't be.
func (o *Options) settle() (*config.Set, error) {
	set := &o.Settings.Clone().set
	if err := errors.Join(o.check(), set.Options(o.node())); err != nil {
		return nil, err
	}
	if err := set.Relate(); err != nil {
		return nil, err
	}
	if _, err := topo.Select(set.Node().Rails); err != nil {
		return nil, fmt.Errorf("%s: %w", set.Origin("rails").Where, err)
	}
	return set, o.takeSecret(set)
}

// takeSecret makes the secret that holds the options' own.
func (o *Options) takeSecret(set *config.Set) (err error) {
	text := set.Node().Secret
	if text == "" {
		return nil
	}
	where := set.Origin("secret").Where
	if o.Secret, err = ParseSecret(text); err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	return nil
}

// check says which of the options can't be that are no settings, or that a setting could not say.
func (o *Options) check() error {
	if !wire.ValidName(o.Name) {
		return fmt.Errorf("Options.Name %q: want at most 64 bytes of printable text", o.Name)
	}
	if o.ErrorMode > None {
		return fmt.Errorf("Options.ErrorMode %d: want Failover, Peer or None", o.ErrorMode)
	}
	if o.Wait > WaitSleep {
		return fmt.Errorf("Options.Wait %d: want WaitAdaptive, WaitPoll or WaitSleep", o.Wait)
	}
	return nil
}

// node is what the options say of what can also be a setting.
func (o *Options) node() config.Node {
	l, t := o.Limits, o.Times
	n := config.Node{Rails: o.Rails, ErrorMode: int(o.ErrorMode), Wait: int(o.Wait), Secret: o.Secret.Text()}
	if o.Control {
		n.Control = 1
	}
	for _, t := range o.Transports {
		n.Transports = append(n.Transports, t.Name()) // to be shown
	}
	n.Config = config.Config{
		Name: o.Name, Lanes: o.Lanes,
		Bounds: config.Bounds{
			Window: l.Window, Pending: l.Pending, PendingBytes: uint64(l.PendingBytes), MaxMessage: uint64(l.Message), Backlog: uint64(l.Backlog),
			MaxFrame: l.Frame, Stripe: l.Stripe, Eager: l.Eager, ZeroCopy: l.ZeroCopy, Replies: l.Replies, MaxLanes: l.Lanes, HalfOpen: l.HalfOpen, HalfOpenPer: l.HalfOpenPerAddress,
		},
		Times: config.Times{
			Handshake: t.Handshake, HelloTimeout: t.Hello, DialWait: t.DialWait, Keepalive: t.Keepalive, PeerTimeout: t.Peer,
			Suspended: t.Suspended, Close: t.Close, ProbeAfter: t.Probe, LostAfter: t.Lost, RedialMin: t.RedialMin, RedialMax: t.RedialMax, RedialFor: t.RedialFor,
		},
	}
	return n
}

// optionsOf is what node makes of options, the other way round, with the defaults filled in.
func optionsOf(n config.Node) Options {
	n.Defaults()
	return Options{
		Rails: n.Rails, Lanes: n.Lanes, Name: n.Name, Wait: WaitPolicy(n.Wait), ErrorMode: ErrorMode(n.ErrorMode), Control: n.Control != 0,
		Limits: Limits{
			Window: n.Window, Pending: n.Pending, PendingBytes: int(n.PendingBytes), Message: int(n.MaxMessage), Backlog: int(n.Backlog),
			Frame: n.MaxFrame, Stripe: n.Stripe, Eager: n.Eager, ZeroCopy: n.ZeroCopy, Replies: n.Replies, Lanes: n.MaxLanes, HalfOpen: n.HalfOpen, HalfOpenPerAddress: n.HalfOpenPer,
		},
		Times: Times{
			Handshake: n.Handshake, Hello: n.HelloTimeout, DialWait: n.DialWait, Keepalive: n.Keepalive, Peer: n.PeerTimeout,
			Suspended: n.Suspended, Close: n.Close, Probe: n.ProbeAfter, Lost: n.LostAfter, RedialMin: n.RedialMin, RedialMax: n.RedialMax, RedialFor: n.RedialFor,
		},
	}
}

// EventKind says what happened.
type EventKind uint8

const (
	LaneUp     = EventKind(delivery.LaneUp)     // a lane is ready
	LaneDown   = EventKind(delivery.LaneDown)   // a lane is lost; other lanes take over its operations
	HandedOver = EventKind(delivery.HandedOver) // everything that was under way on a lost lane is executed
	Suspended  = EventKind(delivery.Suspended)  // no lane is left; the endpoint waits for one
	Resumed    = EventKind(delivery.Resumed)    // a suspended endpoint has a lane again
	Failed     = EventKind(delivery.Failed)     // the endpoint is over, and not by this side; ErrPeerClosed: the peer closed it
	// TurnedAway: a peer that dialed a listener was not let in, and Err says why: ErrSecret, ErrVersion, a limit. There is no endpoint. Of
	// many in a second one is told; see Worker.Strangers.
	TurnedAway = EventKind(delivery.TurnedAway)
	// LaneGivenUp: a lane was dialed in vain for as long as Times.RedialFor says, and is not dialed any more while another one carries on. Err
	// says why the last attempt failed. It is dialed again, and then may tell LaneUp, when rails or addresses change, or no lane is left.
	LaneGivenUp = EventKind(delivery.LaneGivenUp)
)

func (k EventKind) String() string { return delivery.Kind(k).String() }

// Event is something that happened to an endpoint. Fields that a kind has no use for are zero.
type Event struct {
	Kind     EventKind
	At       time.Time
	Endpoint *Endpoint // nil of TurnedAway
	Lane     string    // "local->remote"; the local port of LaneGivenUp is not known
	Instance string    // name of the lane's life: "d3" is the third that the dialing side opened
	Dialed   bool      // this side opened the lane
	Err      error
	Fault    string // of LaneDown, whose it looks like: "local port", "remote port", "path" or "peer"
	// Bytes of frames. LaneDown: what this side had posted on the lane, of that acknowledged by then, and what it had accepted from it. HandedOver: Posted, Accepted, what the peer had accepted, by its own count, and what was posted again.
	Posted, Acked, Accepted, PeerAccepted, Replayed uint64
}
