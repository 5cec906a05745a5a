package perf

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/catalog"
	"github.com/openbraid/braid/internal/perf/cpu"
	"github.com/openbraid/braid/internal/perf/ends"
	"github.com/openbraid/braid/internal/perf/inbox"
	"github.com/openbraid/braid/internal/perf/landing"
	"github.com/openbraid/braid/internal/perf/ledger"
	"github.com/openbraid/braid/internal/perf/meter"
	"github.com/openbraid/braid/internal/perf/note"
	"github.com/openbraid/braid/internal/perf/pattern"
	"github.com/openbraid/braid/internal/perf/puts"
	"github.com/openbraid/braid/internal/perf/streams"
	"github.com/openbraid/braid/internal/perf/trial"
)

const (
	// lookEvery is how many idle polls go by between two looks at what makes waiting pointless.
	lookEvery = 1 << 10
	// stalledAfter is how long something may not come before the test is given up: longer than an
	// endpoint without lanes is kept.
	stalledAfter = time.Minute
	// answerWithin is how long the server may take to say something.
	answerWithin = 20 * time.Second
)

// errStalled: what was waited for did not come although the endpoint lives.
var errStalled = errors.New("nothing has come for a minute, although the connection stands")

// client is one endpoint towards a server, and the test that runs on it.
type client struct {
	ctx  context.Context
	p    Params
	test catalog.Test
	id   string // names this process to the server

	node *braid.Node
	w    *braid.Worker
	ep   *braid.Endpoint

	notes  inbox.Of[note.Note]
	echoes atomic.Uint64  // answers that arrived
	field  landing.Field  // in which offered ones are read
	ledger *ledger.Ledger // of echoes or gets, with verify

	lane puts.Lane // where the server's puts go
	win  *window   // of streams
	remote
	total uint64 // operations agreed on
	seq   uint64 // of the next operation
	head  []byte
	body  []byte
	waiting
	trial *trial.Trial // nil: nothing is broken on purpose
}

// waiting is what whoever waits goes by.
type waiting struct {
	since time.Time   // when the current wait began
	awake func() bool // ends that an interruption wakes who sleeps
}

// remote is what is the server's, and what comes from it.
type remote struct {
	offered uint64 // messages, to it
	key     braid.RKey
	slots   uint64         // places in it, for gets
	back    []byte         // where its answers with a tag go, and those on a stream
	giver   *streams.Giver // of a stream
}

// Run measures against the server at addr. tell is called about once a second, and at the end; nil for nobody. What is broken off has
// an error, and a result of what was measured until then: Interrupted.
func Run(ctx context.Context, addr string, p Params, tell func(Row)) (Result, error) {
	if err := p.Validate(); err != nil {
		return Result{}, err
	}
	r, err := p.bound(func() (Result, error) {
		if p.Faults != nil {
			return runTrial(ctx, addr, p, tell)
		}
		x, err := run(ctx, addr, p, tell)
		return x.result, err
	})
	return r, ended(ctx, err)
}

// ended is why it ended: what an interruption makes fail is not why.
func ended(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// bound runs what measures, on a processor if one is named.
func (p *Params) bound(fn func() (Result, error)) (Result, error) {
	if t, err := catalog.Lookup(p.Test); err != nil || !t.Stream {
		return cpu.OnThread(p.CPUs, fn)
	}
	if err := cpu.HoldAll(p.CPUs); err != nil {
		return Result{}, err
	}
	return fn()
}

// measured is a run, and what it comes from.
type measured struct {
	result Result
	meter  *meter.Meter
	tally  Tally
}

func run(ctx context.Context, addr string, p Params, tell func(Row)) (x measured, err error) {
	r := &x.result
	c, err := dial(ctx, addr, p, newID(), nil)
	if err != nil {
		return x, err
	}
	defer c.close(&err)
	if err := c.begin(uint64(p.Warmup + p.Iterations)); err != nil {
		return x, err
	}
	r.Lanes, r.ErrorMode = len(c.ep.Lanes()), c.ep.Mode().String()
	idle := newMeter(&p, nil)
	idle.Begin()
	if err := c.operate(p.Warmup, idle); err != nil {
		return x, c.explain(err)
	}
	if err := p.gate.pass(c); err != nil {
		return x, err
	}
	m := newMeter(&p, tell)
	m.Begin()
	if err := c.operate(p.Iterations, m); err != nil {
		if m.Ops() > 0 { // the rest is what nobody has counted
			m.Row(true)
			p.Verify, r.Interrupted = false, true
			r.take(&p, m, Tally{})
		}
		return x, c.explain(err)
	}
	m.Row(true)
	t, err := c.end()
	if err != nil {
		return x, err
	}
	r.take(&p, m, t)
	x.meter, x.tally = m, t
	return x, nil
}

// operate runs n operations of the test to their end at the server.
func (c *client) operate(n int, m *meter.Meter) error {
	switch {
	case n == 0:
		return nil
	case c.test.Latency:
		return c.pingPong(n, m)
	case c.test.Stream:
		return c.pour(n, m)
	case c.test.Put && c.p.Verify:
		return c.rounds(n, m)
	}
	return c.keepPosting(n, m)
}

func newID() string { return strconv.FormatUint(rand.Uint64(), 36) }

// withPort adds the port that servers have by default.
func withPort(addr string) string {
	if _, _, err := net.SplitHostPort(addr); err == nil {
		return addr
	}
	return net.JoinHostPort(addr, strconv.Itoa(DefaultPort))
}

func dial(ctx context.Context, addr string, p Params, id string, t *trial.Trial) (*client, error) {
	c := &client{ctx: ctx, p: p, id: id, trial: t}
	var err error
	if c.test, err = catalog.Lookup(p.Test); err != nil {
		return nil, err
	}
	var onEvent func(braid.Event)
	if t != nil {
		onEvent = t.Event
	}
	p.Spin = p.Spin || p.Lists.Used() && !p.Sleep // calls that wait
	if c.node, c.w, err = ends.Open(p.Setup, onEvent, t); err != nil {
		return nil, err
	}
	c.awake = context.AfterFunc(ctx, c.w.Wake)
	c.w.HandleAM(note.ID, func(m *braid.Message) {
		n, err := note.Parse(m.Payload())
		if err != nil {
			n = note.Note{Kind: note.Refused, Text: err.Error()}
		}
		c.notes.Put(n)
	})
	c.w.HandleOffer(note.Echo, c.echo)
	if c.ep, err = c.w.Dial(ctx, withPort(addr)); err != nil {
		c.awake()
		c.node.Close()
		if errors.Is(err, braid.ErrSecret) { // somebody is there
			return nil, err
		}
		return nil, fmt.Errorf("%w; is `braid perftest` running there?", err)
	}
	return c, nil
}

// echo takes the server's answers of a message latency test.
func (c *client) echo(m *braid.Message) {
	if c.field.Receive(m, c.echoed) {
		c.echoed(m.Header(), m.Payload())
	}
}

func (c *client) echoed(head, body []byte) {
	if c.ledger != nil {
		c.ledger.Message(head, body, true)
	}
	c.echoes.Add(1)
}

// begin agrees with the server on the test. total 0 leaves open how many operations there will be.
func (c *client) begin(total uint64) error {
	c.total = total
	n := note.Note{Kind: note.Start, Client: c.id, Test: c.p.Test, Size: c.p.Size, Slots: 1, Total: total, Verify: c.p.Verify, Shared: c.p.Shared, Sleep: c.p.Sleep}
	if c.p.Lists.There {
		n.Pieces = c.p.Lists.Sizes
	}
	c.head, c.body = make([]byte, c.p.Header), make([]byte, c.p.Size)
	if c.p.Lent && c.p.Size > 0 {
		mem, err := c.node.Alloc(c.p.Size)
		if err != nil {
			return err
		}
		c.body = mem.Bytes()
	}
	switch {
	case c.test.Put && c.test.Latency:
		spot := puts.SpotOf(c.p.Size, c.test.Signal)
		mem, err := c.node.Alloc(spot.Room)
		if err != nil {
			return err
		}
		c.lane = puts.Lane{Spot: spot, Mem: mem}
		n.Key = mem.Key(braid.Write).Bytes()
	case c.test.Put && c.p.Verify:
		n.Slots = c.p.Outstanding
	case c.test.Get && c.p.Verify:
		n.Slots = getSlots(&c.p)
	case c.test.Atomic && c.p.Verify:
		n.Slots = c.p.Outstanding
	case c.p.Verify:
		c.head = make([]byte, max(c.p.Header, pattern.WordLen))
	}
	c.slots = uint64(n.Slots)
	if c.p.Verify && (c.test.Latency || c.test.Get || c.test.Fetch) {
		c.ledger = ledger.New(total)
		c.ledger.Free = c.test.Get || c.test.Fetch
		c.lane.Ledger = c.ledger
	}
	answer, err := c.ask(n, note.Ready)
	switch {
	case err != nil:
	case c.test.Put || c.test.Get || c.test.Atomic:
		c.key, err = braid.ParseRKey(answer.Key)
	case c.test.Stream:
		c.giver, err = streams.Open(c.ctx, c.w, c.ep, stalledAfter)
	}
	return err
}

// ask sends a note and waits for the answer of the given kind.
func (c *client) ask(n note.Note, want note.Kind) (note.Note, error) {
	ctx, cancel := context.WithTimeout(c.ctx, answerWithin)
	defer cancel()
	if err := c.ep.SendAM(ctx, note.ID, nil, n.Bytes()); err != nil {
		return note.Note{}, c.explain(err)
	}
	for i := 1; ; i++ {
		switch n, ok := c.notes.Take(); {
		case ok && n.Kind == want:
			return n, nil
		case ok && n.Kind == note.Refused:
			return note.Note{}, fmt.Errorf("the server at %s refuses: %s", c.ep.Addr(), n.Text)
		case ok:
			return note.Note{}, fmt.Errorf("the server at %s says %q instead of %q", c.ep.Addr(), n.Kind, want)
		}
		c.w.Progress()
		if i%lookEvery != 0 {
			continue
		}
		if err := c.alive(ctx); err != nil {
			return note.Note{}, err
		}
	}
}

// alive says why waiting is pointless, nil if it isn't.
func (c *client) alive(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return c.ep.Err()
}

// explain puts what the server said last in front of an error.
func (c *client) explain(err error) error {
	for n, ok := c.notes.Take(); ok; n, ok = c.notes.Take() {
		if n.Kind == note.Refused {
			return fmt.Errorf("the server at %s refuses: %s", c.ep.Addr(), n.Text)
		}
	}
	return err
}

// end has the server count what arrived.
func (c *client) end() (Tally, error) {
	stop := note.Note{Kind: note.Stop, More: c.p.More}
	if c.trial != nil {
		stop.Total = c.seq
	}
	if err := c.last(); err != nil {
		return Tally{}, err
	}
	answer, err := c.ask(stop, note.Report)
	if err != nil {
		return Tally{}, err
	}
	t := answer.Tally
	c.late()
	if c.ledger != nil {
		c.ledger.Trim(stop.Total)
		t.Add(c.ledger.Final())
	}
	return t, nil
}

// close ends the connection in agreement; an error of that counts only if there was none before.
func (c *client) close(err *error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), 5*time.Second)
	defer cancel()
	if c.giver != nil {
		c.giver.Close()
	}
	if *err != nil {
		c.ep.Abort()
	} else if e := c.ep.Close(ctx); e != nil {
		*err = e
	}
	c.awake()
	c.node.Close()
}
