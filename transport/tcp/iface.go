package tcp

import (
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/internal/ledger"
	"github.com/openbraid/braid/internal/mpool"
	"github.com/openbraid/braid/internal/poll"
	"github.com/openbraid/braid/transport"
)

const (
	// directMax is up to how many endpoints each turn reads the sockets without asking which is ready.
	directMax = 4
	// everyIdle: so often a turn of few endpoints that found nothing asks for listeners too.
	everyIdle = 8
	// everyBusy: and at least so often, however much there is to do.
	everyBusy = time.Millisecond
	// mutedEvery is how long the engine may sleep with an endpoint whose descriptor can't wake it.
	mutedEvery = 10 * time.Millisecond
)

// iface is one worker's sockets.
type iface struct {
	env  transport.Env
	o    Options
	poll poll.Poller
	pool *mpool.Pool

	eps       []*endpoint // all that aren't swept away yet
	listeners []*listener
	byFD      []watched
	gone      int  // closed ones in eps
	writers   int  // endpoints watched for writing: connecting or blocked
	polled    bool // nobody waits for the descriptor
	unwatched bool // so endpoints that are read each turn aren't watched for reading: what arrives costs less then
	closed    bool // what may still come finds nothing
	turn      turn

	dirty []*endpoint             // Flush has something to do for them
	later []*endpoint             // Progress has
	muted []*endpoint             // polled by hand
	owing ledger.Owing[*endpoint] // acknowledgements that may wait a little

	scratch
}

// turn is where Progress stands.
type turn struct {
	running bool
	asked   bool          // somebody may sleep after this: look everywhere
	idle    int           // turns in a row that found nothing
	last    time.Duration // when the system was last asked who is ready
	// now is when it began: asked for before the sockets are read, so that nobody waits for the answer.
	now time.Duration
}

// scratch is memory that calls share, because only one of them runs at a time.
type scratch struct {
	vec      *vector
	pieces   [maxPieces][]byte
	incoming transport.Incoming
	serving  []*endpoint
	spare    *transport.Buffer // the next read of an endpoint that holds no buffer
}

// watched is who a descriptor belongs to.
type watched struct {
	ep *endpoint
	ln *listener
}

// Attr implements transport.Iface.
func (f *iface) Attr() transport.Attr {
	return transport.Attr{Name: "tcp", Frame: 400 * time.Nanosecond, MaxHead: maxHead, MaxFrame: maxFrame, InOrder: true, ZeroCopy: zeroCopy, Asks: true}
}

// Dial implements transport.Iface.
func (f *iface) Dial(local, remote string, o transport.Options, s transport.Sink) (transport.Endpoint, error) {
	if f.closed {
		return nil, newError(Error{Op: "dial", Local: local, Remote: remote, Err: transport.ErrClosed})
	}
	to, err := parseAddr(remote)
	if err != nil {
		return nil, newError(Error{Op: "dial", Local: local, Remote: remote, Err: err})
	}
	var from netip.Addr
	if local != "" {
		if from, err = netip.ParseAddr(local); err != nil {
			return nil, newError(Error{Op: "dial", Local: local, Remote: remote, Err: err})
		}
	}
	fd, err := dialSocket(from, to, &f.o)
	if fd < 0 {
		return nil, newError(Error{Op: "dial", Local: local, Remote: remote, Err: err})
	}
	ep := f.endpoint(fd, local, to.String(), o)
	ep.sink = s
	f.adopt(ep)
	if err != nil {
		ep.fail("dial", err) // from Progress, as any other reason why it can't stand
	}
	return ep, nil
}

// endpoint makes one over a new descriptor.
func (f *iface) endpoint(fd int, local, remote string, o transport.Options) *endpoint {
	if name := nameOf(unix.Getsockname(fd)); name != "" {
		local = name
	}
	f.o.control(fd, local, remote)
	ep := &endpoint{f: f, local: local, remote: remote, lim: limits{frame: transport.HelloMax}}
	ep.setWindow(o)
	ep.stream = &socket{fd: fd, vec: f.vec}
	if f.o.Wrapper != nil {
		ep.stream = f.o.Wrapper.Wrap(ep.stream, ep.local, ep.remote)
	}
	return ep
}

// adopt takes an endpoint in and watches it.
func (f *iface) adopt(ep *endpoint) {
	f.eps = append(f.eps, ep)
	f.rewatch()
	ep.watch()
}

// direct says whether each turn reads all sockets without asking which is ready.
func (f *iface) direct() bool { return len(f.eps) <= directMax }

// Watch implements transport.Iface.
func (f *iface) Watch(on bool) {
	if f.polled == on {
		f.polled = !on
		f.rewatch()
	}
}

// rewatch makes the system watch for what is needed now.
func (f *iface) rewatch() {
	if un := f.polled && f.direct(); un != f.unwatched {
		f.unwatched = un
		for _, ep := range f.eps {
			ep.watch()
		}
	}
}

// watch is the only place that changes what a descriptor is watched for, and by whom.
func (f *iface) watch(fd int, was, want poll.Interest, who watched) error {
	if fd >= len(f.byFD) {
		f.byFD = append(f.byFD, make([]watched, fd+64-len(f.byFD))...)
	}
	f.byFD[fd] = who
	if want == poll.None {
		f.byFD[fd] = watched{}
	}
	if was == want {
		return nil
	}
	return f.poll.Set(fd, was, want)
}

// Flush implements transport.Iface.
func (f *iface) Flush() {
	now := f.turn.now
	f.overdue(now)
	for _, ep := range f.dirty {
		ep.dirty = false
		ep.flush()
		if ep.owes() {
			ep.acks.Wait(&f.owing, ep, now+ledger.AckDelay)
		}
	}
	clear(f.dirty)
	f.dirty = f.dirty[:0]
}

// Deadline implements transport.Iface. Who asks may sleep until then, so the next turn looks everywhere.
func (f *iface) Deadline() time.Duration {
	f.turn.asked = true
	var at time.Duration
	sooner := func(t time.Duration) {
		if t = max(t, 1); at == 0 || t < at {
			at = t
		}
	}
	if at, ok := f.owing.Next(); ok {
		sooner(at)
	}
	for _, l := range f.listeners {
		if l.paused > 0 {
			sooner(l.paused)
		}
	}
	if len(f.later) > 0 {
		sooner(f.env.Now())
	} else if len(f.muted) > 0 {
		sooner(f.env.Now() + mutedEvery)
	}
	return at
}

// EventFD implements transport.Iface.
func (f *iface) EventFD() int {
	if f.closed {
		return -1
	}
	return f.poll.FD()
}

// Close implements transport.Iface.
func (f *iface) Close() error {
	if f.closed {
		return nil
	}
	for _, l := range slices.Clone(f.listeners) {
		l.Close()
	}
	for _, ep := range f.eps {
		ep.Close()
	}
	f.closed = true
	f.eps, f.dirty, f.later, f.muted = nil, nil, nil, nil
	if f.spare != nil {
		f.spare.Release()
		f.spare = nil
	}
	f.pool.Close()
	return f.poll.Close()
}

// overdue has those send that have waited long enough.
func (f *iface) overdue(now time.Duration) {
	for ep, ok := f.owing.Overdue(now); ok; ep, ok = f.owing.Overdue(now) {
		ep.acks.Now = true
		ep.soil()
	}
}
