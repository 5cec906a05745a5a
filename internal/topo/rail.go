package topo

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Trait is what is known of a rail, a bit each.
type Trait uint16

const (
	Up         Trait = 1 << iota // the interface is switched on
	Carrier                      // its link is up
	Loopback                     // leads to this host only
	Tunnel                       // what goes through it goes over another interface
	HostOnly                     // a bridge without a port to the outside, a dummy
	Tentative                    // the address is being checked, or another host has it too
	Deprecated                   // the address is not to be used for what is new
	Temporary                    // the address changes now and then
)

// Ready is what a rail that can be used has.
const Ready = Up | Carrier

// Rail is one address of an interface of this host.
type Rail struct {
	Name   string     // of the interface; "" on a simulated host
	Index  int        // of the interface
	Addr   netip.Addr // with its zone, the interface's name, if it is link-local
	Bits   int        // of the network's prefix
	Speed  int        // of the interface in Mbit/s; 0: not known
	Traits Trait
	host   string // instead of Addr, on a simulated host
}

// Fixed are rails by their names alone: of a simulated host, or of one whose interfaces can't be read.
func Fixed(hosts ...string) (rails []Rail) {
	for _, h := range hosts {
		r := Rail{Traits: Ready, host: h}
		if a, err := netip.ParseAddr(h); err == nil {
			r.Addr = a.Unmap()
			r.Bits = a.BitLen()
			if a.IsLoopback() {
				r.Traits |= Loopback
			}
		}
		rails = append(rails, r)
	}
	return rails
}

// Host is what a connection from the rail is bound to.
func (r Rail) Host() string {
	if r.Addr.IsValid() {
		return r.Addr.String()
	}
	return r.host
}

func (r Rail) String() string {
	s := r.Host()
	if r.Name == "" {
		return s
	}
	s = strings.TrimSuffix(s, "%"+r.Name)
	return r.Name + " " + s + "/" + strconv.Itoa(r.Bits)
}

// has says whether all of the traits are there.
func (r Rail) has(t Trait) bool { return r.Traits&t == t }

// prefix is the rail's network.
func (r Rail) prefix() netip.Prefix {
	p, err := r.Addr.WithZone("").Prefix(r.Bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}

// state is why a rail can't be used now, whatever anybody wishes.
func (r Rail) state() string {
	switch {
	case !r.has(Up):
		return r.Name + " is down"
	case !r.has(Carrier):
		return r.Name + " has no link"
	case r.has(Tentative):
		return "the address is still being checked, or another host has it too"
	}
	return ""
}

// nature is why a rail is not used unless somebody asks for it.
func (r Rail) nature() string {
	switch {
	case r.has(Deprecated):
		return "the address is deprecated"
	case r.has(HostOnly):
		return r.Name + " leads to this host only"
	case r.has(Tunnel):
		return r.Name + " is a tunnel: what it carries goes over another interface"
	}
	return ""
}

// Hop is what the system does with a packet from a local address to another one.
type Hop struct {
	Known  bool   // else nothing below means anything
	None   bool   // there is no way
	Index  int    // of the interface by which it leaves
	Name   string // the same for people
	Direct bool   // the other address is on a network of that interface, no router is between
}

// View is what is known of this host at one time.
type View struct {
	Rails  []Rail
	Chosen Selection
	Route  func(local, remote netip.Addr) Hop // nil: nobody knows
}

// find is the rail with an address, by its text.
func (v View) find(host string) (Rail, bool) {
	for _, r := range v.Rails {
		if r.at(host) {
			return r, true
		}
	}
	return Rail{}, false
}

// at says whether a text is the rail's address, whatever names the interface in it.
func (r Rail) at(host string) bool {
	a, err := netip.ParseAddr(host)
	if err != nil {
		return r.host != "" && r.host == host
	}
	return r.Addr.IsValid() && r.Addr.WithZone("") == a.Unmap().WithZone("") && inZone(a.Zone(), r)
}

// inZone says whether a zone, a name or a number or nothing, is the rail's interface.
func inZone(zone string, r Rail) bool {
	return zone == "" || zone == r.Name || zone == strconv.Itoa(r.Index)
}

// owns says whether an address is one of this host.
func (v View) owns(a netip.Addr) bool {
	if a.IsLoopback() {
		return true
	}
	for _, r := range v.Rails {
		if r.Addr.IsValid() && r.Addr.WithZone("") == a.WithZone("") && !a.IsLinkLocalUnicast() {
			return true
		}
	}
	return false
}

// Speed is the speed in Mbit/s of the rail with an address; 0: not known.
func (v View) Speed(host string) int {
	r, _ := v.find(host)
	return r.Speed
}

// Gone says why what is bound to an address can't go on in the view that follows; "" if it can, or never was known to.
func (v View) Gone(next View, host string) string {
	was, known := v.find(host)
	if !known || was.state() != "" {
		return ""
	}
	r, still := next.find(host)
	if !still {
		if was.Name == "" {
			return "the rail is gone"
		}
		return was.Name + " does not have the address any more"
	}
	return r.state()
}

// Came says whether a rail can be used in the view that follows, and could not in this one. What the system picks may have come by any change.
func (v View) Came(next View, host string) bool {
	was, before := v.find(host)
	r, known := next.find(host)
	return host == "" || known && r.state() == "" && (!before || was.state() != "")
}

// Pin is the rail on which the system has put a connection, "" if none is known there, or the peer is on this host.
func (v View) Pin(local, remote string) string {
	r, known := v.find(local)
	if !known || v.Here(remote) {
		return ""
	}
	return r.Host()
}

// known is the table for an error that says what there is.
func (v View) known() string {
	var names []string
	for _, r := range v.Rails {
		names = append(names, r.String())
	}
	if len(names) == 0 {
		return "no interface at all"
	}
	return strings.Join(names, ", ")
}

func speedName(mbits int) string {
	if mbits >= 1000 && mbits%1000 == 0 {
		return fmt.Sprintf("%d Gb/s", mbits/1000)
	}
	return fmt.Sprintf("%d Mb/s", mbits)
}
