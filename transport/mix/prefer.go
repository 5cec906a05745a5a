package mix

import (
	"errors"
	"sync"
	"time"

	"github.com/openbraid/braid/transport"
)

// elsewhere is how long the second transport is taken to a peer that the first one did not reach.
const elsewhere = 30 * time.Second

// prefer is two transports, of which the second is there for who can't have the first.
type prefer struct {
	mix
	said sync.Once
}

// Prefer makes one transport of two: connections run over the first one where both sides have it, else over the second. A listener is at the same port of both. What
// stands in the way is said once, in the log.
//
// Source: UCX_TLS=rc,tcp, which takes what there is.
func Prefer(first, second transport.Transport) transport.Transport {
	return &prefer{mix: mix{rest: second, parts: []Part{{Transport: first, Takes: func(string) bool { return false }}}}}
}

// Name implements transport.Transport.
func (p *prefer) Name() string { return p.parts[0].Transport.Name() + " or " + p.rest.Name() }

// Open implements transport.Transport.
func (p *prefer) Open(env transport.Env) (transport.Iface, error) {
	i, err := p.mix.Open(env)
	if err != nil {
		return nil, err
	}
	return &choice{iface: i.(*iface), p: p, env: env, missed: map[way]time.Duration{}}, nil
}

// way is from where to where a dial goes.
type way struct{ local, remote string }

// choice is the interfaces of both.
type choice struct {
	*iface
	p      *prefer
	env    transport.Env
	missed map[way]time.Duration // until when the second is taken
}

func (c *choice) first() transport.Iface  { return c.ifaces[1] }
func (c *choice) second() transport.Iface { return c.ifaces[0] }

// say says, once for all workers, why the second is taken.
func (c *choice) say(err error) {
	c.p.said.Do(func() {
		c.env.Log.Warn("connections run over "+c.second().Attr().Name+", not over "+c.first().Attr().Name, "why", err)
	})
}

// Attr implements transport.Iface.
func (c *choice) Attr() transport.Attr {
	a := c.iface.Attr()
	a.Name = c.p.Name()
	return a
}

// Listen implements transport.Iface. The port is the second one's choice: peers without the first have no other.
func (c *choice) Listen(addr string, a transport.Acceptor) (transport.Listener, error) {
	l, err := c.second().Listen(addr, a)
	if err != nil {
		return nil, err
	}
	also, err := c.first().Listen(l.Addr(), a)
	if err != nil {
		c.say(err)
		return l, nil
	}
	return &both{l, also}, nil
}

// Dial implements transport.Iface.
func (c *choice) Dial(local, remote string, o transport.Options, s transport.Sink) (transport.Endpoint, error) {
	w := way{local, remote}
	if until, ok := c.missed[w]; !ok || c.env.Now() >= until {
		delete(c.missed, w)
		ep, err := c.first().Dial(local, remote, o, &attempt{Sink: s, c: c, w: w})
		if err == nil {
			return ep, nil
		}
		c.say(err)
	}
	return c.second().Dial(local, remote, o, s)
}

// both are a listener of each.
type both struct {
	transport.Listener
	also transport.Listener
}

// Close implements transport.Listener.
func (b *both) Close() error { return errors.Join(b.Listener.Close(), b.also.Close()) }

// attempt is a dial over the first: if it comes to nothing, the next one goes over the second.
type attempt struct {
	transport.Sink
	c     *choice
	w     way
	stood bool
}

// Connected implements transport.Sink.
func (a *attempt) Connected() {
	a.stood = true
	a.Sink.Connected()
}

// OnError implements transport.Sink.
func (a *attempt) OnError(err error) transport.Decision {
	if !a.stood {
		a.c.missed[a.w] = a.c.env.Now() + elsewhere
		a.c.say(err)
	}
	return a.Sink.OnError(err)
}
