package paths

import (
	"log/slog"
	"net"
	"slices"

	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/transport"
)

// Doors are where a listener is bound: the address that was asked for, the rails that were chosen, and where its own worker gets in without
// a network.
type Doors struct {
	g        *Ground
	ifaces   []transport.Iface // of the network first
	acceptor transport.Acceptor
	log      *slog.Logger
	bound    []transport.Listener
	addrs    []string // on the network
	own      Path     // without one; Iface nil: nowhere
	near     []string // for other processes of this host
}

// OpenDoors binds addr, and each chosen rail with the same port where that is free, with another one where it isn't.
//
// Errors: topo's, if the rails that were chosen say otherwise; the transport's.
func OpenDoors(g *Ground, ifaces []transport.Iface, addr string, a transport.Acceptor, log *slog.Logger) (*Doors, error) {
	d := &Doors{g: g, ifaces: ifaces, acceptor: a, log: log}
	if _, err := topo.Bind(g.View, addr); err != nil {
		return nil, err
	}
	if err := d.bind(addr); err != nil {
		return nil, err
	}
	d.Rebind()
	d.bindNear()
	if err := d.bindOwn(); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// bindOwn binds the interfaces that don't leave the worker.
func (d *Doors) bindOwn() error {
	for _, i := range d.ifaces {
		if a := i.Attr(); a.Local {
			b, err := i.Listen(net.JoinHostPort(a.Name, "0"), d.acceptor)
			if err != nil {
				return err
			}
			d.bound = append(d.bound, b)
			if d.own.Iface == nil {
				d.own = Path{Path: topo.Path{Remote: b.Addr()}, Iface: i}
			}
		}
	}
	return nil
}

// bindNear binds what other processes of this host reach without a network, unless the rails within it were chosen. What can't be is left out: they come by the network as well.
func (d *Doors) bindNear() {
	if d.g.View.NamesLoopback() {
		return
	}
	for _, i := range d.g.Near {
		a := i.Attr()
		b, err := i.Listen(net.JoinHostPort(a.Name, "0"), d.acceptor)
		if err != nil {
			d.log.Warn("peers on this host come by the network only", "reason", err)
			continue
		}
		d.bound, d.near = append(d.bound, b), append(d.near, b.Addr())
	}
}

func (d *Doors) bind(addr string) error {
	b, err := d.ifaces[0].Listen(addr, d.acceptor)
	if err != nil {
		return err
	}
	d.bound, d.addrs = append(d.bound, b), append(d.addrs, b.Addr())
	return nil
}

// Rebind binds what is chosen and not bound yet. A rail that can't be is left out: others lead here too, and the next change of the rails is
// another chance. One whose address is gone stays bound, should it come back.
func (d *Doors) Rebind() {
	hosts, err := topo.Bind(d.g.View, d.addrs[0])
	if err != nil {
		return // what was chosen is gone, for now
	}
	_, port, err := net.SplitHostPort(d.addrs[0])
	if err != nil {
		return
	}
	for _, h := range hosts {
		if slices.ContainsFunc(d.addrs, func(a string) bool { return topo.SameHost(a, h) }) || d.bind(net.JoinHostPort(h, port)) == nil {
			continue
		}
		if err := d.bind(net.JoinHostPort(h, "0")); err != nil {
			d.log.Warn("a rail can't be listened on", "rail", h, "reason", err)
		}
	}
}

// Addrs are the bound addresses, the one asked for first.
func (d *Doors) Addrs() []string { return slices.Clone(d.addrs) }

// Known are the addresses by which anybody may know the listener, at most most of them.
func (d *Doors) Known(most int) []string { return topo.Known(d.g.View, d.addrs, most) }

// Own is the way without a network to who listens at an address, nil if there is none.
func (d *Doors) Own(addr string) *Path {
	if d.own.Iface == nil || !slices.Contains(d.addrs, addr) {
		return nil
	}
	p := d.own
	return &p
}

// Told are the addresses of use to a peer, given the two ends of a connection with it.
func (d *Doors) Told(local, remote string, most int) []string {
	var near []string
	if d.g.View.Here(remote) {
		near = d.near
	}
	return append(topo.Told(d.g.View, d.addrs, local, remote, most-len(near)), near...)
}

// Close unbinds all.
func (d *Doors) Close() (err error) {
	for _, b := range d.bound {
		if e := b.Close(); e != nil && err == nil {
			err = e
		}
	}
	return err
}
