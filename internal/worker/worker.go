package worker

import (
	"fmt"
	"slices"
	"time"

	"github.com/openbraid/braid/internal/arrivals"
	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/match"
	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/offer"
	"github.com/openbraid/braid/internal/outbox"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/paths"
	"github.com/openbraid/braid/internal/reassembly"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/rota"
	"github.com/openbraid/braid/internal/secret"
	"github.com/openbraid/braid/internal/tags"
	"github.com/openbraid/braid/internal/timer"
	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/wireup"
	"github.com/openbraid/braid/transport"
)

// Options make a worker.
type Options struct {
	config.Config
	Transports  []transport.Transport
	Env         transport.Env
	Memory      *memory.Table
	Incarnation uint64     // of this process, not 0
	Rails       topo.View  // of this host, and what the user chose of them
	Seed        match.Seed // of tags: luck, but whatever it is, a run is the same
}

// DialOptions are an endpoint's own.
type DialOptions struct {
	Mode   wire.Mode
	Secret secret.Secret // that both sides are to have; not set: none
	to     wireup.Whom
}

// ListenOptions are a listener's own.
type ListenOptions struct {
	Secret  secret.Secret // that both sides are to have; not set: none
	unasked bool          // nobody accepts, and only who has the worker's address is let in
}

// Worker is one progress domain: its endpoints move when it does.
type Worker struct {
	cfg config.Config
	env transport.Env
	naming
	ground paths.Ground // of all endpoints' paths: this host's rails, too
	mem    *memory.Table
	below

	endpoints []*Endpoint // in the order of their ids
	lastID    uint64
	listeners []*Listener

	now    time.Duration // of this turn
	clock  timer.Clock
	turns  timer.Set
	ready  []*Endpoint // have something to post
	buried []*link     // to be closed at the end of the turn

	due
	pool request.Pool

	incoming
	delivery.Handlers
	state
}

// incoming is where messages are until somebody has them.
type incoming struct {
	memory *reassembly.Pool // of those of several frames
	tags   *tags.Tags
	offers *offer.Table
}

// due is code that is to be run between turns.
type due struct {
	calls delivery.Queue // programs' own
	above delivery.Queue // of the library's own families, which wait for no program
}

// below is what carries frames.
type below struct {
	ifaces []transport.Iface
	rota   rota.Rota // of them
}

// state is what the post path would otherwise allocate, and what a worker counts.
type state struct {
	outbox.Scratch
	request.Desk
	OnNew  func(*Endpoint) // run when an endpoint is made; set before the first
	inTurn bool
	closed bool
	room   arrivals.Room[*link] // for who has not said who he is
	ports  ports
}

// keep is how many bytes a worker keeps for the messages of several frames to come, all in all.
const keep = 32 << 20

// New opens an interface of each transport.
func New(o Options) (*Worker, error) {
	o.Config.Defaults()
	if o.Incarnation == 0 || o.Memory == nil || o.Env.Now == nil || o.Env.Rand == nil || o.Env.Log == nil {
		return nil, fmt.Errorf("worker: incomplete options")
	}
	o.Memory = o.Memory.OfWorker()
	w := &Worker{cfg: o.Config, env: o.Env, naming: naming{incarnation: o.Incarnation}, mem: o.Memory}
	w.memory = reassembly.NewPool(4<<10, keep, keep)
	w.Scratch.Memory, w.Desk = o.Memory, request.DeskOf(&w.pool, &w.calls)
	w.tags = tags.New(tags.Options{Pool: &w.pool, Memory: o.Memory, Seed: o.Seed, Report: w.Report})
	w.offers = offer.New(offer.Options{Pool: &w.pool, Memory: o.Memory, Report: w.Report})
	w.room.Places, w.room.PerHost = w.cfg.HalfOpen, w.cfg.HalfOpenPer
	w.ports = ports{}
	w.clock.Now = w.env.Now
	w.now = w.env.Now()
	w.ground = paths.Ground{
		View: o.Rails, Turns: &w.turns, Now: func() time.Duration { return w.now }, Rand: w.env.Rand, Most: w.cfg.MaxLanes, Want: w.cfg.Lanes,
		Handshake: w.cfg.Handshake, DialWait: w.cfg.DialWait, RedialMin: w.cfg.RedialMin, RedialMax: w.cfg.RedialMax, RedialFor: w.cfg.RedialFor, Log: w.env.Log,
	}
	w.calls.Handled = func(from any, cost uint64) { from.(*Endpoint).box.Handled(cost) }
	w.above.Handled = w.calls.Handled
	for _, t := range o.Transports {
		i, err := t.Open(o.Env)
		if err != nil {
			w.Close()
			return nil, fmt.Errorf("worker: transport %s: %w", t.Name(), err)
		}
		w.ifaces = append(w.ifaces, i)
		w.rota.Add(i)
		w.ground.Ifaces, w.ground.Near = w.ifaces, paths.Near(w.ifaces)
	}
	if len(w.ifaces) == 0 {
		return nil, fmt.Errorf("worker: no transport; hand at least one to Options.Transports")
	}
	return w, nil
}

// Close fails what is left and closes the interfaces. Calls that this causes can still be taken.
func (w *Worker) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	for _, ep := range append([]*Endpoint(nil), w.endpoints...) {
		ep.Abort()
	}
	w.tags.Close(outcome.ErrClosed)
	for _, l := range append([]*Listener(nil), w.listeners...) {
		l.Close()
	}
	for _, l := range w.room.Empty() {
		w.bury(l)
	}
	w.rota.Flush() // what says good-bye
	w.buryAll()
	var err error
	for _, i := range w.ifaces {
		if e := i.Close(); e != nil && err == nil {
			err = e
		}
	}
	return err
}

// Fence puts a fence into each endpoint.
func (w *Worker) Fence() { w.Scratch.Fences.Fence() }

// Calls is the user code that is due: for the owner to run between turns.
func (w *Worker) Calls() *delivery.Queue { return &w.calls }

// Above is the code of the library's own families that is due. It waits for nobody, and so it need not wait for a call of a program's that does.
func (w *Worker) Above() *delivery.Queue { return &w.above }

// Tags are the worker's tagged messages.
func (w *Worker) Tags() *tags.Tags { return w.tags }

// Offers are those that have come to the worker.
func (w *Worker) Offers() *offer.Table { return w.offers }

// Config is the configuration in force, with its defaults filled in.
func (w *Worker) Config() config.Config { return w.cfg }

// Endpoints are those that are not closed.
func (w *Worker) Endpoints() []*Endpoint { return append([]*Endpoint(nil), w.endpoints...) }

// EventFDs are the descriptors that become readable when a turn has something to do.
func (w *Worker) EventFDs() []int {
	var fds []int
	for _, i := range w.ifaces {
		if fd := i.EventFD(); fd >= 0 {
			fds = append(fds, fd)
		}
	}
	return fds
}

// Watch says whether anybody waits for these descriptors; at first somebody does.
func (w *Worker) Watch(on bool) {
	w.clock.Poll(!on)
	w.rota.Watch(on)
}

func (w *Worker) endpoint(id uint64) *Endpoint {
	if i := slices.IndexFunc(w.endpoints, func(ep *Endpoint) bool { return ep.id == id }); i >= 0 {
		return w.endpoints[i]
	}
	return nil
}

// bury closes a link's connection once the turn is over: a connection must not be closed from inside its own call.
func (w *Worker) bury(l *link) {
	if !l.buried {
		l.buried = true
		if l.goodbye {
			w.room.Parted()
		}
		w.buried = append(w.buried, l)
	}
}

func (w *Worker) buryAll() {
	for i := 0; i < len(w.buried); i++ { // closing may bury more
		w.buried[i].Tep.Close()
	}
	clear(w.buried)
	w.buried = w.buried[:0]
}

func (w *Worker) event(e delivery.Event) {
	e.At = w.now
	w.calls.Event(&e)
}
