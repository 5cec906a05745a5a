package sim

import (
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/openbraid/braid/transport"
)

// Host is one simulated machine: a transport with rails of its own.
type Host struct {
	net   *Net
	name  string
	rails []*rail
	luck  luck
	iface *Iface
}

// rail is one simulated network card. Its name is the host part of addresses.
type rail struct {
	host *Host
	name string
	cut  [2]cutKind // by direction: out, in
}

// cutKind is the state of one direction of a rail.
type cutKind uint8

const (
	whole cutKind = iota
	cutReset
	cutSilence
)

// Host makes a host. Rails are named for addresses ("a0" in "a0:7000"); without names there is one, name+"0".
func (n *Net) Host(name string, rails ...string) *Host {
	if len(rails) == 0 {
		rails = []string{name + "0"}
	}
	h := &Host{net: n, name: name, luck: luck{mix(n.seed ^ checksum(1, []byte(name)))}}
	for _, r := range rails {
		if n.rails[r] != nil {
			panic(fmt.Sprintf("sim: Host %s: rail %q exists already", name, r))
		}
		n.rails[r] = &rail{host: h, name: r}
		h.rails = append(h.rails, n.rails[r])
	}
	n.hosts = append(n.hosts, h)
	return h
}

// Name implements transport.Transport.
func (h *Host) Name() string { return "sim" }

// Env is what a worker of this host needs: the network's clock, luck of its own, no log.
func (h *Host) Env() transport.Env {
	return transport.Env{Now: h.net.Now, Rand: h.luck.next, Log: slog.New(slog.DiscardHandler)}
}

// Open implements transport.Transport. One worker at a time; its clock must be the network's, so
// env's is not used.
func (h *Host) Open(transport.Env) (transport.Iface, error) {
	if h.iface != nil {
		return nil, &Error{Op: "open", Local: h.name, Err: errOpen}
	}
	h.iface = &Iface{net: h.net, host: h}
	return h.iface, nil
}

// pick is the rail for a local address of a dial: "" takes the first.
func (h *Host) pick(local string) *rail {
	for _, r := range h.rails {
		if local == "" || local == r.name {
			return r
		}
	}
	return nil
}

// Error says what failed between which addresses.
type Error struct {
	Op            string // "dial", "listen", "open", "connection"
	Local, Remote string
	Err           error
}

func (e *Error) Error() string {
	s := "sim: " + e.Op
	if e.Local != "" {
		s += " " + e.Local
	}
	if e.Remote != "" {
		s += " to " + e.Remote
	}
	return s + ": " + e.Err.Error()
}

// Unwrap gives errors.Is the cause.
func (e *Error) Unwrap() error { return e.Err }

var (
	errOpen    = fmt.Errorf("the host has an open interface: close it first, or make another host")
	errRail    = fmt.Errorf("no such rail on this host: name one of its rails, or none")
	errAddress = fmt.Errorf(`not an address of this network: write "rail:port"`)
	errInUse   = fmt.Errorf("another listener is bound there: choose another port, or 0")
	errRefused = fmt.Errorf("nobody listens there: start the peer first: %w", transport.ErrReset)
	errTimeout = fmt.Errorf("no answer: the peer or the way to it is down: %w", transport.ErrReset)
	errCut     = fmt.Errorf("cut by the simulation: %w", transport.ErrReset)
)

// split takes an address apart; rail is nil if there is none of that name.
func (n *Net) split(addr string) (*rail, string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "" {
		return nil, "", errAddress
	}
	return n.rails[host], port, nil
}

// maybe is true once in k times, and always in a calm network.
func (n *Net) maybe(k int) bool { return n.cfg.Calm || n.luck.oneIn(k) }

// delay is the time that one message takes from a to b.
func (n *Net) delay(l *Link) time.Duration { return l.Latency + n.luck.upTo(l.Jitter) }
