package sim

import (
	"fmt"
	"time"
)

// Config is the shape of a network. The zero value is a lively local network.
type Config struct {
	Link Link // of each pair of rails for which SetLink says nothing else

	MaxHead   int // default 128
	MaxFrame  int // default 64 KiB
	ZeroCopy  int // payload from which zero-copy pays; default 1 KiB
	PlaceFrom int // payload from which a frame arrives in pieces and Place is asked; default 8 KiB
	Window    int // of endpoints whose Options say 0; default 256 KiB

	// Stingy lets one in so many data posts say NoResource for no reason; 0 never.
	Stingy int
	// Notice is the longest time after which a side notices a reset or the peer's close; default 2 ms.
	Notice time.Duration
	// AckDelay is the longest time that an acknowledgement is kept back; default 1 ms.
	AckDelay time.Duration
	// DialTimeout ends a dial that nobody answers; default 10 s.
	DialTimeout time.Duration
	// Calm takes the luck out: everything that can arrive arrives at once, for transcripts.
	Calm bool

	// Steered is Calm, and nothing arrives by itself once connections stand: what is on a wire, and the news that a wire is cut,
	// arrive when Let says so. For a driver that tries all orders.
	Steered bool

	// Trace is told of each event; nil costs nothing.
	Trace func(Event)
}

// Link is one direction between two rails.
type Link struct {
	Latency time.Duration // default 5 µs
	Jitter  time.Duration // up to this is added, first in first out; default 5 µs, 0 in a calm network
	// BytesPerSecond of each connection; 0 is no limit.
	BytesPerSecond int64
}

func (c *Config) fill() {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	defTime := func(v *time.Duration, d time.Duration) {
		if *v == 0 {
			*v = d
		}
	}
	def(&c.MaxHead, 128)
	def(&c.MaxFrame, 64<<10)
	def(&c.ZeroCopy, 1<<10)
	def(&c.PlaceFrom, 8<<10)
	def(&c.Window, 256<<10)
	defTime(&c.Notice, 2*time.Millisecond)
	defTime(&c.AckDelay, time.Millisecond)
	defTime(&c.DialTimeout, 10*time.Second)
	defTime(&c.Link.Latency, 5*time.Microsecond)
	c.Calm = c.Calm || c.Steered
	if !c.Calm {
		defTime(&c.Link.Jitter, 5*time.Microsecond)
	}
}

// Net is a simulated network. It is for one goroutine at a time (buffers may be released by any).
type Net struct {
	cfg  Config
	seed uint64
	luck luck
	now  time.Duration
	seq  uint64

	events    heap
	hosts     []*Host
	rails     map[string]*rail
	listeners map[string]*listener // looked up, never walked
	endpoints []*endpoint          // that are not closed, oldest first
	links     map[[2]*rail]*Link

	pool  pool
	ids   uint32
	port  int
	hash  uint64
	found []string // violations
}

// New makes a network; the seed decides all luck.
func New(seed uint64, c Config) *Net {
	c.fill()
	return &Net{
		cfg: c, seed: seed, luck: luck{mix(seed)}, port: 40000,
		now:   time.Microsecond, // 0 means "none" in the contract
		rails: map[string]*rail{}, listeners: map[string]*listener{}, links: map[[2]*rail]*Link{},
	}
}

// Now is the virtual time.
func (n *Net) Now() time.Duration { return n.now }

// Rand is the network's own luck, for drivers that want one seed for everything.
func (n *Net) Rand() uint64 { return n.luck.next() }

// Hash is a digest of everything that happened so far: two runs that differ anywhere differ here.
func (n *Net) Hash() uint64 { return n.hash }

// Step goes to the next point in time at which something happens by itself. False: nothing ever will.
func (n *Net) Step() bool {
	for len(n.events) > 0 {
		e := n.events.pop()
		if e.stale() {
			continue
		}
		n.now = max(n.now, e.at)
		n.run(&e)
		for len(n.events) > 0 && n.events[0].at <= n.now {
			e = n.events.pop()
			if !e.stale() {
				n.run(&e)
			}
		}
		return true
	}
	return false
}

// StepTo is Step that does not go beyond t: false when now is t.
func (n *Net) StepTo(t time.Duration) bool {
	if n.now >= t {
		return false
	}
	for len(n.events) > 0 && n.events[0].stale() {
		n.events.pop()
	}
	if len(n.events) == 0 || n.events[0].at > t {
		n.now = t
		return true
	}
	return n.Step()
}

// At makes time stop at t: for a timer of somebody outside.
func (n *Net) At(t time.Duration) { n.schedule(event{at: t, kind: call}) }

// Do runs fn from Step at time t: for plans of faults.
func (n *Net) Do(t time.Duration, fn func()) { n.schedule(event{at: t, kind: call, fn: fn}) }

func (n *Net) schedule(e event) {
	n.seq++
	e.seq = n.seq
	n.events.push(e)
}

// wakeAt makes time stop at t for ep's Progress, if t is still to come.
func (n *Net) wakeAt(t time.Duration, ep *endpoint) {
	if t > n.now {
		n.schedule(event{at: t, kind: wake, ep: ep})
	}
}

func (n *Net) run(e *event) {
	switch e.kind {
	case wake, expire:
	case pump:
		e.ep.pumpAt = 0
		e.ep.pump()
	case knock:
		e.ep.knock()
	case call:
		if e.fn != nil {
			e.fn()
		}
	}
}

// SetLink sets one direction between two rails, for connections that stand and for new ones.
func (n *Net) SetLink(from, to string, l Link) {
	a, b := n.mustRail("SetLink", from), n.mustRail("SetLink", to)
	n.links[[2]*rail{a, b}] = &l
	for _, ep := range n.endpoints {
		if ep.rail == a && ep.peer != nil && ep.peer.rail == b {
			ep.out.link = &l
		}
	}
}

func (n *Net) link(from, to *rail) *Link {
	if l := n.links[[2]*rail{from, to}]; l != nil {
		return l
	}
	return &n.cfg.Link
}

func (n *Net) mustRail(op, name string) *rail {
	r := n.rails[name]
	if r == nil {
		panic(fmt.Sprintf("sim: %s: no rail %q: make its host first", op, name))
	}
	return r
}
