package fault

import (
	"net"
	"net/netip"
	"strconv"
	"time"
)

// conn is what the injector knows of a connection, or of a socket that serves many.
type conn struct {
	inj           *Injector
	on            string // "tcp", "rc", "verbs" or "shm"
	local, remote string
	device        string // that has the local address
	index         int    // in inj.conns, under inj.mu
	slot          int
	stood         bool // it was seen to work
	gone          bool // its slot is free
	spent         bool // cut, and never whole again
	given         bool // its owner has given it up
}

func (c *conn) base() *conn { return c }

// shared says whether it serves many connections, and so outlives a cut.
func (c *conn) shared() bool { return c.on == "rc" || c.on == "verbs" }

// member is a connection of either kind. Its methods are called under the injector's lock.
type member interface {
	base() *conn
	begun(a *active) bool // a rule that is about it came into force; whether that did something at once
	ended(a *active)
}

// writer is a member on which a rule may begin in the middle of a write.
type writer interface {
	member
	isCut() bool
}

// slot is the place of a lane: what comes between the same hosts when its user is gone takes it.
type slot struct {
	key  string
	user *conn // nil: free
	used bool  // somebody in it once stood
}

func (s *slot) stands() bool { return s.user != nil && s.user.stood && !s.user.spent }

// enter gives a connection a slot and a place in the list.
func (i *Injector) enter(m member) {
	c := m.base()
	c.index = len(i.conns)
	i.conns = append(i.conns, m)
	key := c.on + " " + host(c.local) + " " + host(c.remote)
	c.device = deviceOf(host(c.local))
	for n, s := range i.slots {
		if s.user == nil && s.key == key {
			s.user, c.slot = c, n
			return
		}
	}
	c.slot = len(i.slots)
	i.slots = append(i.slots, &slot{key: key, user: c})
}

// vacate frees the slot of a connection that is on its way out. One in which nobody ever stood was no lane's.
func (i *Injector) vacate(c *conn) {
	if c.gone {
		return
	}
	c.gone = true
	s := i.slots[c.slot]
	if s.user != c {
		return
	}
	s.user = nil
	for n := len(i.slots); n > 0 && i.slots[n-1].user == nil && !i.slots[n-1].used; n-- {
		i.slots = i.slots[:n-1]
	}
}

// spend notes that a connection was cut: a stream is never whole again, nor is a pipe.
func (i *Injector) spend(c *conn) {
	if !c.shared() {
		c.spent = true
		i.vacate(c)
	}
}

// givenUp notes that a connection's owner has given it up: what is dialed in its place may come before it is closed. One that was dialed into a
// cut never stood: it is no lane's, and nobody tells that it is lost.
func (i *Injector) givenUp(c *conn) {
	if c.spent && c.stood && !c.given {
		i.owed, i.noticed = i.owed+1, i.now()
	}
	c.given = true
	i.vacate(c)
}

// leave takes a connection off the list.
func (i *Injector) leave(m member) {
	i.givenUp(m.base())
	last := len(i.conns) - 1
	at := m.base().index
	i.conns[at] = i.conns[last]
	i.conns[at].base().index = at
	i.conns[last] = nil
	i.conns = i.conns[:last]
}

// stands notes that a connection works.
func (i *Injector) stands(c *conn) {
	i.mu.Lock()
	defer i.mu.Unlock()
	c.stood = true
	if c.slot < len(i.slots) && i.slots[c.slot].user == c {
		i.slots[c.slot].used = true
	}
}

// whole says whether every lane stands.
func (i *Injector) whole() bool {
	for _, m := range i.conns {
		if c := m.base(); c.spent && !c.given {
			return false // nobody has noticed
		}
	}
	if i.Stands != nil {
		return i.standing(i.Stands())
	}
	for _, s := range i.slots {
		if s.used && !s.stands() {
			return false
		}
	}
	return len(i.slots) > 0
}

// untold is how long who gives up a lane may take to tell that: within the same turn, unless his thread is stopped.
const untold = time.Second

// standing is what is believed of an answer of Stands: that all lanes stand may be from before one was given up that was cut, since its owner
// tells others of that when he is done with it. A second lane would be cut then, with nobody left to carry on. Losses are counted, since a lane may be
// back before somebody has seen that it was gone.
func (i *Injector) standing(all bool, lost int) bool {
	if !all || lost-i.known < i.owed && i.now()-i.noticed <= untold {
		return false
	}
	i.known, i.owed = lost, 0
	return true
}

// hitsConn says whether the rule is about a connection.
func (a *active) hitsConn(c *conn) bool {
	return a.Takes(c.on) && a.hitsLane(c) && a.hitsRail(c)
}

func (a *active) hitsLane(c *conn) bool {
	switch {
	case a.Lane == "":
		return true
	case a.Lane == Random:
		return c.slot == a.drawn && !c.gone
	case a.Lane[0] >= '0' && a.Lane[0] <= '9':
		return strconv.Itoa(c.slot) == a.Lane && !c.gone
	}
	return c.device == a.Lane
}

func (a *active) hitsRail(c *conn) bool {
	if a.Rail == "" {
		return true
	}
	return a.Side != Remote && host(c.local) == a.Rail || a.Side != Local && host(c.remote) == a.Rail
}

// host is an address without its port.
func host(addr string) string {
	if h, _, err := net.SplitHostPort(addr); err == nil {
		return h
	}
	return addr
}

// deviceOf is the interface that has an address, "" if none has.
func deviceOf(addr string) string {
	ip, err := netip.ParseAddr(addr)
	if err != nil {
		return ""
	}
	all, err := net.Interfaces()
	if err != nil {
		return ""
	}
	if z := ip.Zone(); z != "" {
		return z
	}
	for _, f := range all {
		addrs, _ := f.Addrs()
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr() == ip {
				return f.Name
			}
		}
	}
	if ip.IsLoopback() {
		for _, f := range all {
			if f.Flags&net.FlagLoopback != 0 {
				return f.Name
			}
		}
	}
	return ""
}
