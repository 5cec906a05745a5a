package faulty

import (
	"slices"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm"
)

// New makes transport/shm with an injector in front of its connections.
func New(o shm.Options, inj *fault.Injector) transport.Transport { return &faulty{o, inj} }

type faulty struct {
	o   shm.Options
	inj *fault.Injector
}

// Name implements transport.Transport.
func (*faulty) Name() string { return shm.Host }

// Open implements transport.Transport.
func (t *faulty) Open(env transport.Env) (transport.Iface, error) {
	f := &iface{inj: t.inj, eps: map[ends]*endpoint{}}
	o := t.o
	o.Fault = f.fault
	under, err := shm.New(o).Open(env)
	if err != nil {
		return nil, err
	}
	f.Iface = under
	return f, nil
}

// ends are the two addresses of a connection: within one interface they name it.
type ends struct{ local, remote string }

type iface struct {
	transport.Iface
	inj     *fault.Injector
	eps     map[ends]*endpoint
	starved []*endpoint // refused a frame for a rate's sake
	graves  []*endpoint // closed, and nobody may know yet
}

// fault is shm.Options.Fault.
func (f *iface) fault(local, remote string) shm.Fault {
	e := f.eps[ends{local, remote}]
	if e == nil {
		return shm.Sound
	}
	c := e.Counts()
	h := e.pipe.Held(c.Posted != c.Acked)
	if h.Reset {
		return shm.Reset
	}
	bits := shm.Sound
	for _, x := range []struct {
		on  bool
		bit shm.Fault
	}{{h.Tx, shm.Mute}, {h.Rx, shm.Deaf}, {h.Hidden, shm.Hide}, {h.Ruled, shm.Apart}} {
		if x.on {
			bits |= x.bit
		}
	}
	return bits
}

// know makes the endpoint that stands in front of one.
func (f *iface) know(e *endpoint, under transport.Endpoint) *endpoint {
	e.Endpoint, e.f, e.pipe = under, f, f.inj.Pipe(under.Local(), under.Remote())
	f.eps[e.ends()] = e
	return e
}

// Dial implements transport.Iface.
func (f *iface) Dial(local, remote string, o transport.Options, s transport.Sink) (transport.Endpoint, error) {
	e := &endpoint{sink: s}
	under, err := f.Iface.Dial(local, remote, o, e)
	if err != nil {
		return nil, err
	}
	return f.know(e, under), nil
}

// Listen implements transport.Iface.
func (f *iface) Listen(addr string, a transport.Acceptor) (transport.Listener, error) {
	return f.Iface.Listen(addr, acceptor{f, a})
}

type acceptor struct {
	f *iface
	transport.Acceptor
}

// Accepted implements transport.Acceptor.
func (a acceptor) Accepted(under transport.Endpoint) (transport.Sink, transport.Options) {
	e := a.f.know(&endpoint{}, under)
	s, o := a.Acceptor.Accepted(e)
	if s == nil {
		e.forget()
		return nil, o
	}
	e.sink = s
	return e, o
}

// Progress implements transport.Iface.
func (f *iface) Progress() int {
	n := f.Iface.Progress()
	for _, e := range slices.Clone(f.starved) {
		if e.over || e.pipe.May() {
			f.starved = slices.DeleteFunc(f.starved, func(x *endpoint) bool { return x == e })
			n += e.room()
		}
	}
	f.graves = slices.DeleteFunc(f.graves, func(e *endpoint) bool {
		if e.pipe.Buried() {
			return false
		}
		e.exhume()
		n++
		return true
	})
	return n
}

// Close implements transport.Iface.
func (f *iface) Close() error {
	err := f.Iface.Close()
	for _, e := range f.eps {
		e.pipe.Close()
	}
	clear(f.eps)
	f.starved, f.graves = nil, nil
	return err
}
