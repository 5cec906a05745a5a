package trial

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/fault/drive"
	"github.com/openbraid/braid/internal/verdict"
)

// Options say what is to be broken.
type Options struct {
	Plan fault.Plan
	Seed uint64
	// Outside: rules come from outside, over the control socket; the plan is empty.
	Outside bool
	Events  io.Writer // lines of JSON; nil: nowhere
	// Ready is told of the trial before it dials; nil for nobody.
	Ready func(*Trial)
	// Patience is how long lanes may take to come back when no rule is in force; 0: 30 s.
	Patience time.Duration
}

// Endless says whether nothing of the plan ends by itself.
func (o *Options) Endless() bool {
	return len(o.Plan) > 0 && !slices.ContainsFunc(o.Plan, fault.Rule.Ends)
}

// Kills says whether the plan takes the peer away for good.
func (o *Options) Kills() bool { return slices.ContainsFunc(o.Plan, fault.Rule.TakesPeer) }

// Trial is one run.
type Trial struct {
	o     Options
	start time.Time // of the clock; the end of the warm-up is zero
	zero  time.Duration
	inj   *fault.Injector
	drv   *drive.Driver
	pulse pulse
	watch watch

	up    atomic.Int32 // lanes
	lanes atomic.Int32 // that there are to be
	open  atomic.Int32 // lost and not handed over
	lost  atomic.Int32 // so far

	mu     sync.Mutex
	events []verdict.Event
	places map[string]place // by instance, and by the hosts between which it ran
	begun  bool
	enc    *json.Encoder
	bad    error // of the events' writer

	last time.Duration // completion
	gaps []verdict.Span
}

type place struct {
	slot   int
	device string
}

// New makes a trial whose injector has no rules yet.
func New(o Options) *Trial {
	o.Patience = cmp.Or(o.Patience, patience)
	t := &Trial{o: o, start: time.Now(), places: map[string]place{}}
	t.inj = fault.NewSeeded(t.now, o.Seed)
	t.inj.Stands = func() (bool, int) {
		lost := t.lost.Load() // before what it changes, which is written in the other order
		return t.lanes.Load() > 0 && t.up.Load() >= t.lanes.Load() && t.open.Load() == 0, int(lost)
	}
	t.inj.Told = t.told
	if o.Events != nil {
		t.enc = json.NewEncoder(o.Events)
		t.enc.SetEscapeHTML(false)
	}
	t.drv = drive.Start(t.inj, t.now)
	return t
}

// Injector is what connections are to be made through. Its Wake is for the owner of the worker to set.
func (t *Trial) Injector() *fault.Injector { return t.inj }

// Driver drives the injector.
func (t *Trial) Driver() *drive.Driver { return t.drv }

// Peer names the server's process, if it is of this host: it is what "kill peer" means, and whether it runs is looked at.
func (t *Trial) Peer(pid int) {
	t.drv.SetPeer(pid)
	t.pulse.peer = threadsOf(pid)
}

// now never is 0, which is no time to stamps.
func (t *Trial) now() time.Duration { return time.Since(t.start) + 1 }

// Begin is the end of the warm-up: the plan's times count from now. lanes are up. away is called, once at most, if they don't come back while the plan
// waits for them: then it would never be over.
func (t *Trial) Begin(lanes int, away func()) {
	t.lanes.Store(int32(lanes))
	t.zero = t.now()
	t.last = t.zero
	t.mu.Lock()
	t.begun = true
	for _, x := range t.events {
		t.print(x)
	}
	t.mu.Unlock()
	t.pulse.begin(t.now)
	t.drv.Apply(t.o.Plan...)
	t.watch.begin(t.o.Patience, func() bool { return t.inj.InForce() || t.inj.Whole() }, away)
}

// Event is told what happens to lanes.
func (t *Trial) Event(e braid.Event) {
	x := verdict.Event{
		Side: "client", Name: e.Lane, Instance: e.Instance, Event: e.Kind.String(), At: t.now(), Lane: -1,
		Posted: e.Posted, Acked: e.Acked, PeerAccepted: e.PeerAccepted, Replayed: e.Replayed,
	}
	x.Local, x.Remote, _ = strings.Cut(e.Lane, "->")
	if e.Endpoint != nil {
		x.Endpoint = e.Endpoint.Addr()
	}
	if e.Err != nil {
		x.Error = e.Err.Error()
	}
	var at *place
	if e.Kind == braid.LaneUp { // the injector is asked without the lock, which it takes under its own
		if slot, device, ok := t.inj.Where(x.Local, x.Remote); ok {
			at = &place{slot, device}
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	between := hostOf(x.Local) + "->" + x.Remote
	if at != nil {
		t.places[e.Instance], t.places[between] = *at, *at
	}
	name := e.Instance
	if e.Kind == braid.LaneGivenUp { // an attempt that never stood has no other name
		name = between
	}
	if p, ok := t.places[name]; ok && name != "" {
		x.Lane, x.Device = p.slot, p.device
	}
	t.count(e.Kind)
	t.write(x)
}

func hostOf(addr string) string {
	if host, _, err := net.SplitHostPort(addr); err == nil {
		return host
	}
	return addr
}

func (t *Trial) count(k braid.EventKind) {
	switch k {
	case braid.LaneUp:
		t.up.Add(1)
	case braid.LaneDown:
		t.up.Add(-1)
		t.open.Add(1)
		t.lost.Add(1)
	case braid.HandedOver:
		t.open.Add(-1)
	case braid.Suspended, braid.Resumed, braid.Failed, braid.TurnedAway, braid.LaneGivenUp:
	}
}

// told writes strokes down. The injector calls it under its lock.
func (t *Trial) told(r fault.Rule, begin bool, at time.Duration) {
	if t.enc == nil {
		return
	}
	x := verdict.Event{Side: "client", Event: verdict.FaultOff, Lane: -1, Rule: r.String(), At: at}
	if begin {
		x.Event = verdict.FaultOn
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.write(x)
}

// write takes an event down. Under the lock.
func (t *Trial) write(x verdict.Event) {
	t.events = append(t.events, x)
	if t.begun {
		t.print(x)
	}
}

// print writes an event to the file: what came before the zero of times has to wait for it.
func (t *Trial) print(x verdict.Event) {
	if t.enc != nil && t.bad == nil {
		x.T = (x.At - t.zero).Seconds()
		t.bad = t.enc.Encode(x)
	}
}

// longGap is what is written down.
const longGap = 100 * time.Microsecond

// Done is told of each operation that is completed, by one goroutine.
func (t *Trial) Done() {
	now := t.now()
	if now-t.last >= longGap {
		t.gaps = append(t.gaps, verdict.Span{From: t.last, To: now})
	}
	t.last = now
}

// Over says whether all of the plan is over that ends by itself, and whether that will not change.
func (t *Trial) Over() bool {
	if t.drv.Dead() != nil || t.inj.Abandoned() != nil {
		return true
	}
	if t.o.Outside {
		return t.inj.Any() && t.inj.Over()
	}
	return t.inj.Spent()
}

// Settle ends what is in force, and makes progress until all lanes are back and all that was lost is handed over, or it takes too long.
func (t *Trial) Settle(progress func() error) error {
	dead := t.drv.Dead()
	t.watch.end()
	_ = t.inj.Close()
	for end := t.now() + t.o.Patience; !t.inj.Whole() && t.now() < end && dead == nil; {
		if err := progress(); err != nil {
			return err
		}
	}
	return nil
}

// Verdict judges. err is what the run ended with.
func (t *Trial) Verdict(c verdict.Counts, err error) *verdict.Report {
	r := t.run()
	r.Err, r.Counts = err, c
	r.Lost = errors.Is(err, braid.ErrPeerFailed) && !errors.Is(err, braid.ErrProtocol) && !errors.Is(err, braid.ErrLaneFailed)
	return verdict.Judge(r)
}

// Stopped tells what the rules did until the run was stopped, and judges nothing.
func (t *Trial) Stopped() *verdict.Report { return verdict.Sum(t.run()) }

// run is what is known of the run.
func (t *Trial) run() *verdict.Run {
	r := verdict.Run{Dead: t.drv.Dead(), Lanes: int(t.lanes.Load()), Up: int(t.up.Load()), End: t.now(), Gaps: t.gaps, Least: longGap}
	if r.Dead == nil {
		r.Rules, r.Dead = t.inj.Report(), t.inj.Abandoned()
	}
	t.pulse.end()
	r.Pauses.At = func(from, to time.Duration) (gc, host time.Duration) { return t.pulse.longest(from+t.zero, to+t.zero) }
	r.Pauses.Peer = func(from, to time.Duration) time.Duration { return t.pulse.starved(from+t.zero, to+t.zero) }
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.events {
		t.events[i].T = (t.events[i].At - t.zero).Seconds()
	}
	r.Events = t.events
	return &r
}

// Close ends it, and says whether the events were written.
func (t *Trial) Close() error {
	t.watch.end()
	t.drv.Stop()
	t.pulse.end()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bad
}
