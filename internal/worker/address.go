package worker

import (
	"slices"

	"github.com/openbraid/braid/internal/address"
	"github.com/openbraid/braid/internal/failover"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/wireup"
)

// naming is who a worker is to its peers.
type naming struct {
	incarnation uint64    // of the process
	name        uint64    // of the worker in it, once it is asked for
	known       *Listener // where who has the address gets in
}

// Address is where the worker is reached by those that have it, and by nobody else: from the first call on, at the first of the hosts that can be bound.
func (w *Worker) Address(hosts []string, o ListenOptions) (address.Address, error) {
	o.unasked = true
	for i := 0; w.known == nil; i++ {
		ln, err := w.Listen(hosts[i], o)
		if err != nil && i == len(hosts)-1 {
			return address.Address{}, err
		}
		w.known = ln
	}
	return w.known.Address()
}

// Address is that of the listener's worker, by this listener.
func (ln *Listener) Address() (address.Address, error) {
	if ln.closed {
		return address.Address{}, &outcome.Error{Op: "address", Err: outcome.ErrClosed}
	}
	if ln.w.name == 0 {
		ln.w.name = wire.Worker(ln.w.env.Rand())
	}
	return address.Address{Process: ln.w.incarnation, Worker: ln.w.name, Ways: ln.doors.Known(address.MaxWays)}, nil
}

// Connect is Dial of the worker that has an address, and of nobody else. To itself it needs no network.
func (w *Worker) Connect(a address.Address, o DialOptions) (*Endpoint, *request.Request, error) {
	o.to = wireup.Whom{Incarnation: a.Process, Endpoint: a.Worker}
	if i := slices.IndexFunc(w.listeners, func(ln *Listener) bool { return ln.secret.Equal(o.Secret) }); i >= 0 && w.isCalled(failover.Identity(o.to)) {
		a.Ways = w.listeners[i].Addrs()
	}
	return w.Dial(a.Ways, o)
}

// isCalled says whether a name is the worker's.
func (w *Worker) isCalled(n failover.Identity) bool {
	return wire.IsWorker(n.Endpoint) && n == failover.Identity{Incarnation: w.incarnation, Endpoint: w.name}
}
