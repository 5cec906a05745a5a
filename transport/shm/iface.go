//go:build linux

package shm

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/internal/ledger"
	"github.com/openbraid/braid/internal/mpool"
	"github.com/openbraid/braid/internal/poll"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm/budget"
	"github.com/openbraid/braid/transport/shm/cma"
	"github.com/openbraid/braid/transport/shm/crowd"
	"github.com/openbraid/braid/transport/shm/frames"
	"github.com/openbraid/braid/transport/shm/loan"
)

const (
	// eventsEvery so many turns who polls asks the system for ends, bells and newcomers.
	eventsEvery = 256
	// clockEvery so many turns the clock is looked at, if somebody waits for it.
	clockEvery = 32
)

// iface is one worker's connections.
type iface struct {
	env  transport.Env
	o    Options
	pool *mpool.Pool
	poll poll.Poller
	bell int // an eventfd: this side's own, for what it found when it was about to sleep

	eps       []*endpoint // all that aren't swept away yet
	listeners []*listener
	guests    []*guest
	byFD      map[int]watched
	prefix    string
	number    uint32 // of the last connection or port that was made up
	closed    bool

	turn  turn
	crowd crowd.Crowd[*endpoint] // all of them: those that are polled, and those that doze
	dirty []*endpoint            // Flush has something to do for them
	later []*endpoint            // Progress has
	owing []*endpoint            // acknowledgements that may wait a little
	stock
	sight
	scratch
}

// stock is the shared memory that there is.
type stock struct {
	budget *budget.Budget
	lacked bool // that there is none was said
	desk   *loan.Desk
	news   uint32 // of it that the peers were told
}

// sight is what this side lets others read, and may read itself.
type sight struct {
	mark    *cma.Mark // of this process; its address is what peers know
	mayRead bool      // the memory of peers
	refused bool      // that it can't be read any more was said
}

// turn is where Progress and sleeping stand.
type turn struct {
	running  bool
	count    uint32
	watched  bool // somebody waits for the descriptor
	idle     bool // the last turn found nothing
	awake    int  // endpoints that have not said that they sleep
	rung     bool // the own bell
	expected int  // endpoints and guests from which the socket is to bring something
	gone     bool // one is closed, and not swept away yet
}

// scratch is memory that calls share, because only one of them runs at a time.
type scratch struct {
	incoming transport.Incoming
	serving  []*endpoint
	message  [64]byte
}

// watched is who a descriptor belongs to.
type watched struct {
	ep    *endpoint
	ln    *listener
	guest *guest
}

// Open implements transport.Transport.
func (s *shm) Open(env transport.Env) (transport.Iface, error) {
	f := &iface{env: env, o: s.o, bell: -1, pool: mpool.New(frames.ChunkLen, 2<<20, 16<<20), byFD: map[int]watched{}, prefix: Prefix(), number: uint32(env.Rand())}
	if err := f.shape().Check(); err != nil {
		return nil, newError(Error{Op: "open", Err: err})
	}
	f.mark = cma.NewMark(env.Rand)
	f.mayRead = s.o.Read == cma.Always || s.o.Read == cma.Measured && cma.Filtered() == nil
	f.turn.watched, f.desk, f.budget = true, &s.desk, &s.budget
	err := f.poll.Open()
	if err != nil {
		return nil, newError(Error{Op: "open", Err: err})
	}
	if f.bell, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err == nil {
		err = f.poll.Set(f.bell, poll.None, poll.Readable)
	}
	if err != nil {
		_ = f.Close()
		return nil, newError(Error{Op: "open", Err: err})
	}
	return f, nil
}

// offered is the mark that peers get.
func (f *iface) offered() (m cma.Mark) {
	if f.o.Read != cma.Never {
		m = *f.mark
	}
	return m
}

// Attr implements transport.Iface.
func (f *iface) Attr() transport.Attr {
	return transport.Attr{Name: Host, Here: f.prefix, Speed: speed, Frame: 400 * time.Nanosecond, MaxHead: maxHead, MaxFrame: maxFrame, InOrder: true, ZeroCopy: zeroCopy}
}

// watch has the system tell of a descriptor.
func (f *iface) watch(fd int, who watched) error {
	f.byFD[fd] = who
	return f.poll.Set(fd, poll.None, poll.Readable)
}

func (f *iface) unwatch(fd int) {
	if _, ok := f.byFD[fd]; ok {
		delete(f.byFD, fd)
		_ = f.poll.Set(fd, poll.Readable, poll.None)
	}
}

// Progress implements transport.Iface.
func (f *iface) Progress() (n int) {
	if f.closed {
		return 0
	}
	t := &f.turn
	if t.running {
		panic("shm: Progress was called from inside a callback")
	}
	t.running = true
	t.count++
	if len(f.later) > 0 {
		n = f.leftovers()
	}
	if t.watched || t.expected > 0 || f.crowd.Dozing > 0 && t.count%crowd.Bells == 0 || t.count%eventsEvery == 0 {
		n += f.events()
	}
	for i := 0; i < len(f.crowd.Polled); i++ { // grows when a callback dials
		ep := f.crowd.Polled[i]
		if k := ep.turn(); k > 0 {
			n += k
			ep.place.Moved(t.count)
		}
	}
	t.idle = n == 0
	t.running = false
	f.sweep()
	if !t.watched && f.o.Fault == nil { // faults are asked for in each turn
		f.crowd.Drowse(t.count)
	}
	return n
}

// leftovers does what calls outside of Progress found to do but may not do themselves.
func (f *iface) leftovers() (n int) {
	batch := f.later
	f.later = f.serving[:0] // what is added meanwhile waits for the next turn
	for _, ep := range batch {
		ep.later = false
		n += ep.leftovers()
	}
	clear(batch)
	f.serving = batch[:0]
	return n
}

// events takes what the system has to tell.
func (f *iface) events() (n int) {
	for _, ev := range f.poll.Poll() {
		if ev.FD == f.bell {
			f.hush()
			continue
		}
		switch w := f.byFD[ev.FD]; { // somebody served before may have closed it: then an attempt finds nothing
		case w.ln != nil:
			n += w.ln.accept()
		case w.guest != nil:
			n += w.guest.hear()
		case w.ep != nil:
			n += w.ep.fired()
		}
		if f.closed {
			return n
		}
	}
	f.resume()
	f.tidy()
	return n + f.expire()
}

// sweep forgets closed endpoints. Not during a turn, when somebody walks over the lists.
func (f *iface) sweep() {
	if !f.turn.gone {
		return
	}
	f.turn.gone = false
	f.eps = slices.DeleteFunc(f.eps, func(ep *endpoint) bool {
		if ep.state == closed {
			f.crowd.Leave(ep)
		}
		return ep.state == closed
	})
}

// Flush implements transport.Iface.
func (f *iface) Flush() {
	if f.closed {
		return
	}
	if len(f.owing) > 0 && (f.turn.watched || f.turn.count%clockEvery == 0) {
		f.overdue()
	}
	for i := 0; i < len(f.dirty); i++ {
		ep := f.dirty[i]
		ep.dirty = false
		ep.flush()
	}
	clear(f.dirty)
	f.dirty = f.dirty[:0]
	if f.turn.watched && f.turn.idle && f.turn.awake > 0 {
		f.lie()
	}
}

// overdue has those acknowledge that have waited long enough, and gives those that are new their time.
func (f *iface) overdue() {
	now := f.env.Now()
	f.owing = slices.DeleteFunc(f.owing, func(ep *endpoint) bool {
		a := &ep.acks
		switch {
		case !ep.owes() || a.Now:
		case a.Until == 0:
			a.Until = now + ledger.AckDelay
			return false
		case a.Until > now:
			return false
		default:
			a.Now = true
			ep.soil()
		}
		a.Until, a.Listed = 0, false
		return true
	})
}

// Deadline implements transport.Iface. Who asks may sleep until then.
func (f *iface) Deadline() (at time.Duration) {
	if f.closed {
		return 0
	}
	if len(f.owing) > 0 {
		f.overdue()
	}
	if len(f.later) > 0 || len(f.dirty) > 0 {
		return max(f.env.Now(), 1)
	}
	sooner := func(t time.Duration) {
		if at == 0 || t < at {
			at = t
		}
	}
	for _, ep := range f.owing {
		sooner(ep.acks.Until)
	}
	for _, g := range f.guests {
		sooner(g.until)
	}
	for _, l := range f.listeners {
		if l.paused > 0 {
			sooner(l.paused)
		}
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
	for _, g := range slices.Clone(f.guests) {
		g.leave()
	}
	for _, ep := range f.eps {
		ep.Close()
	}
	f.closed = true
	f.eps, f.dirty, f.later, f.owing, f.crowd.Polled = nil, nil, nil, nil, nil
	f.desk.Reap(true)
	f.pool.Close()
	if f.bell >= 0 {
		unix.Close(f.bell)
	}
	return f.poll.Close()
}
