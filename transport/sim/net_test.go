package sim_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/sim"
)

// probe is a sink and completer that only counts.
type probe struct {
	ep        transport.Endpoint
	connected int
	data      int
	control   int
	executed  int
	errs      []error
	sent      int
}

func (p *probe) Connected()                      { p.connected++ }
func (p *probe) Place(uint8, []byte, int) []byte { return nil }
func (p *probe) Room()                           {}
func (p *probe) Sent(uint64)                     { p.sent++ }
func (p *probe) Executed(uint64, error)          { p.executed++ }
func (p *probe) OnError(err error) transport.Decision {
	p.errs = append(p.errs, err)
	return transport.Hold
}
func (p *probe) Frame(in *transport.Incoming) {
	if in.Class == transport.Data {
		p.data++
	} else {
		p.control++
	}
}
func (p *probe) Accepted(ep transport.Endpoint) (transport.Sink, transport.Options) {
	p.ep = ep
	ep.Admit(4096, true)
	return p, transport.Options{}
}

// bed is a network of two hosts with a listener at b0:7000.
type bed struct {
	t            testing.TB
	n            *sim.Net
	hosts        [2]*sim.Host
	a, b         transport.Iface
	dialer, peer *probe
}

func newBed(t testing.TB, seed uint64, c sim.Config) *bed {
	n := sim.New(seed, c)
	x := &bed{t: t, n: n, hosts: [2]*sim.Host{n.Host("a"), n.Host("b")}, peer: new(probe)}
	x.a, x.b = x.open(0), x.open(1)
	if _, err := x.b.Listen("b0:7000", x.peer); err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *bed) open(i int) transport.Iface {
	iface, err := x.hosts[i].Open(x.hosts[i].Env())
	if err != nil {
		x.t.Fatal(err)
	}
	return iface
}

func (x *bed) dial() *bed {
	x.dialer = new(probe)
	ep, err := x.a.Dial("", "b0:7000", transport.Options{}, x.dialer)
	if err != nil {
		x.t.Fatal(err)
	}
	x.dialer.ep = ep
	ep.Admit(4096, true)
	return x
}

// run lets d pass.
func (x *bed) run(d time.Duration) *bed {
	end := x.n.Now() + d
	for {
		n := x.a.Progress() + x.b.Progress()
		x.a.Flush()
		x.b.Flush()
		if n == 0 && !x.n.StepTo(end) {
			return x
		}
	}
}

func (p *probe) post(payload []byte, zero bool) transport.Status {
	return p.ep.Post(&transport.Frame{ID: 1, Payload: payload, ZeroCopy: zero, Done: p})
}

func (p *probe) say() transport.Status {
	return p.ep.Post(&transport.Frame{ID: 1, Class: transport.Control})
}

const ms = time.Millisecond

func TestZeroCopyChangedIsFound(t *testing.T) {
	payload := make([]byte, 2000)
	for name, when := range map[string]func(x *bed){
		"before it left":             func(x *bed) { payload[1999]++; x.run(3 * ms) },
		"before it was acknowledged": func(x *bed) { x.a.Flush(); x.n.StepTo(x.n.Now() + ms); payload[0]++; x.run(3 * ms) },
		"before close":               func(x *bed) { payload[1000]++; x.dialer.ep.Close() },
		"before the purge": func(x *bed) {
			x.dialer.ep.Quiesce()
			payload[1000]++
			x.dialer.ep.PurgeOutstanding(0, func(*transport.Frame) error { return nil })
		},
	} {
		x := newBed(t, 1, sim.Config{}).dial().run(ms)
		if st := x.dialer.post(payload, true); st != transport.Pending {
			t.Fatalf("Post says %v", st)
		}
		when(x)
		if v := x.n.Violations(); len(v) == 0 || !strings.Contains(v[0], "changed between Post and Sent") {
			t.Errorf("%s: violations %q", name, v)
		}
	}
	x := newBed(t, 1, sim.Config{}).dial().run(ms)
	x.dialer.post(payload, true)
	x.run(3 * ms)
	clear(payload) // after Sent
	if v := x.n.Violations(); len(v) > 0 || x.dialer.sent != 1 {
		t.Errorf("a change after Sent is fine: %q", v)
	}
}

func TestBreakOneDirection(t *testing.T) {
	for seed := range uint64(20) {
		for _, d := range []sim.Dir{sim.Out, sim.In} {
			x := newBed(t, seed, sim.Config{}).dial().run(ms)
			x.n.Break(x.dialer.ep, sim.Silence, d)
			x.dialer.post([]byte("there"), false)
			x.peer.post([]byte("back"), false)
			x.run(20 * ms)
			there, back := x.peer.data == 1, x.dialer.data == 1
			if there != (d == sim.In) || back != (d == sim.Out) {
				t.Fatalf("seed %d, direction %d: there %v, back %v", seed, d, there, back)
			}
			if x.dialer.executed+x.peer.executed != 0 || len(x.dialer.errs)+len(x.peer.errs) != 0 {
				t.Fatalf("seed %d: silence: executed %d, errors %v %v", seed, x.dialer.executed, x.dialer.errs, x.peer.errs)
			}
			// A close is seen only where its direction works.
			x.dialer.ep.Quiesce()
			x.run(20 * ms)
			if told := len(x.peer.errs) == 1; told != (d == sim.In) {
				t.Fatalf("seed %d, direction %d: the peer was told of the close: %v", seed, d, told)
			}
		}
	}
}

func TestBreakKinds(t *testing.T) {
	told := map[int]int{}
	for seed := range uint64(60) {
		x := newBed(t, seed, sim.Config{}).dial().run(ms)
		x.n.Break(x.dialer.ep, sim.Reset, sim.Both)
		x.run(5 * ms)
		for _, p := range []*probe{x.dialer, x.peer} {
			if len(p.errs) != 1 || !errors.Is(p.errs[0], transport.ErrReset) || p.say() != transport.Failed {
				t.Fatalf("seed %d: reset: %v", seed, p.errs)
			}
		}
		x = newBed(t, seed, sim.Config{}).dial().run(ms)
		x.n.Break(x.dialer.ep, sim.Some, sim.Both)
		x.run(5 * ms)
		told[2*len(x.dialer.errs)+len(x.peer.errs)]++
	}
	if len(told) != 4 {
		t.Errorf("of a break of kind Some none, either, or both sides are told; got %v", told)
	}
}

// What was in flight may arrive in part, and a prefix of it: over many seeds every length is seen.
func TestBreakPrefix(t *testing.T) {
	lengths := map[int]bool{}
	for seed := range uint64(100) {
		x := newBed(t, seed, sim.Config{}).dial().run(ms)
		for range 5 {
			x.dialer.post([]byte("x"), false)
		}
		x.a.Flush()
		for end := x.n.Now() + 100*time.Microsecond; x.n.StepTo(end); { // b stands still
		}
		x.n.Break(x.dialer.ep, sim.Silence, sim.Both)
		x.run(5 * ms)
		lengths[x.peer.data] = true
	}
	for k := range 6 {
		if !lengths[k] {
			t.Errorf("no seed delivered exactly %d of 5", k)
		}
	}
}

func TestCutRail(t *testing.T) {
	x := newBed(t, 3, sim.Config{DialTimeout: 50 * ms}).dial().run(ms)
	first := x.dialer
	x.n.CutRail("b0", sim.Reset, sim.Both)
	x.run(5 * ms)
	if len(first.errs) != 1 || len(x.peer.errs) != 1 {
		t.Errorf("the connection over the rail: %v, %v", first.errs, x.peer.errs)
	}
	x.dial().run(ms)
	if e := x.dialer.errs; len(e) != 1 || !strings.Contains(e[0].Error(), "nobody listens") {
		t.Errorf("a dial over a rail that was reset: %v", e)
	}
	x.n.CutRail("b0", sim.Silence, sim.Both)
	x.dial().run(40 * ms)
	if e := x.dialer.errs; len(e) != 0 {
		t.Errorf("a dial over a silent rail hangs: %v", e)
	}
	x.run(20 * ms)
	if e := x.dialer.errs; len(e) != 1 || !strings.Contains(e[0].Error(), "no answer") {
		t.Errorf("after the time-out: %v", e)
	}
	x.n.Heal("b0")
	x.peer.errs = nil
	x.dial().run(ms)
	if x.dialer.connected != 1 {
		t.Error("a healed rail connects")
	}
}

// With the way back silent, the acceptor may believe in a connection of which the dialer never hears.
func TestHalfOpen(t *testing.T) {
	half := 0
	for seed := range uint64(20) {
		x := newBed(t, seed, sim.Config{})
		x.n.CutRail("a0", sim.Silence, sim.In)
		x.dial().run(5 * ms)
		if x.dialer.connected != 0 {
			t.Fatal("connected without a way back")
		}
		if x.peer.ep != nil {
			half++
			x.peer.post([]byte("x"), false)
			x.run(5 * ms)
			if x.dialer.data != 0 {
				t.Fatal("data over a silent direction")
			}
		}
	}
	if half == 0 || half == 20 {
		t.Errorf("%d of 20 dials were half open: want some", half)
	}
}

// A silent break while the dial's answer is on its way: one side is up, the other never hears of it.
func TestBreakWhileDialing(t *testing.T) {
	half := 0
	for seed := range uint64(30) {
		x := newBed(t, seed, sim.Config{DialTimeout: 20 * ms, Link: sim.Link{Latency: 100 * time.Microsecond}})
		x.dial().run(time.Duration(seed*7) * time.Microsecond)
		if x.dialer.connected > 0 {
			t.Fatalf("seed %d: connected too early for this test", seed)
		}
		x.n.Break(x.dialer.ep, sim.Silence, sim.Both)
		x.run(5 * ms)
		if x.dialer.connected > 0 || len(x.dialer.errs) > 0 {
			t.Fatalf("seed %d: connected %d, errors %v", seed, x.dialer.connected, x.dialer.errs)
		}
		if x.peer.ep != nil {
			half++
		}
		if x.run(20 * ms); len(x.dialer.errs) != 1 {
			t.Fatalf("seed %d: after the time-out: %v", seed, x.dialer.errs)
		}
	}
	if half == 0 || half == 30 {
		t.Errorf("%d of 30 were half open: want some", half)
	}
}

func TestKill(t *testing.T) {
	x := newBed(t, 4, sim.Config{}).dial().run(ms)
	for range 5 {
		x.dialer.post(make([]byte, 2000), true)
		x.peer.post(make([]byte, 100), false)
	}
	x.b.Flush()
	x.hosts[1].Kill(sim.Reset)
	if x.peer.executed != 0 || x.peer.sent != 0 {
		t.Error("a crash calls nobody back")
	}
	x.b = x.open(1) // the restarted process
	x.run(5 * ms)
	if len(x.dialer.errs) != 1 || x.dialer.executed != 0 {
		t.Errorf("the peer of a crash: %v, executed %d", x.dialer.errs, x.dialer.executed)
	}
	x.peer = new(probe)
	if _, err := x.b.Listen("b0:7000", x.peer); err != nil {
		t.Fatalf("the address of the dead process is free: %v", err)
	}
	old := x.dialer
	x.dial().run(ms)
	if x.dialer.connected != 1 {
		t.Error("no connection to the restarted process")
	}
	old.ep.Close()
	x.a.Close()
	x.b.Close()
	if c := x.n.Open(); c != (sim.Counters{}) {
		t.Errorf("left open: %+v", c)
	}
}

func TestTime(t *testing.T) {
	n := sim.New(1, sim.Config{})
	if n.Step() {
		t.Error("an empty network has no next event")
	}
	var order []int
	n.Do(3*ms, func() { order = append(order, 3) })
	n.Do(ms, func() { order = append(order, 1) })
	n.Do(ms, func() { order = append(order, 2); n.Do(0, func() { order = append(order, -1) }) })
	n.At(2 * ms)
	var tied []int
	for i := range 50 {
		n.Do(ms, func() { tied = append(tied, i) })
	}
	if !n.Step() || n.Now() != ms || !slices.Equal(order, []int{1, 2, -1}) {
		t.Errorf("first step: now %v, ran %v", n.Now(), order)
	}
	if !slices.IsSorted(tied) || len(tied) != 50 {
		t.Errorf("what is due at one time runs in the order in which it was asked for: %v", tied)
	}
	if n.StepTo(1500 * time.Microsecond); n.Now() != 1500*time.Microsecond {
		t.Errorf("StepTo stops where it is told: %v", n.Now())
	}
	if n.StepTo(10 * ms); n.Now() != 2*ms {
		t.Errorf("At stops the clock: %v", n.Now())
	}
	if !n.Step() || n.Now() != 3*ms || n.Step() {
		t.Errorf("last step: now %v", n.Now())
	}
	if n.StepTo(ms) || n.Now() != 3*ms {
		t.Error("time went back")
	}
}

// An idle network has no next event: the time-out of a dial that was answered is none.
func TestIdle(t *testing.T) {
	x := newBed(t, 1, sim.Config{}).dial().run(ms)
	x.dialer.post([]byte("x"), false)
	x.run(5 * ms)
	if now := x.n.Now(); x.n.Step() {
		t.Errorf("idle since %v, but time went on to %v", now, x.n.Now())
	}
}

// closer closes its whole interface from inside Frame.
type closer struct {
	probe
	iface transport.Iface
}

func (c *closer) Frame(*transport.Incoming) { c.data++; c.iface.Close() }
func (c *closer) Accepted(ep transport.Endpoint) (transport.Sink, transport.Options) {
	ep.Admit(4096, true)
	return c, transport.Options{}
}

func TestIfaceCloseInsideFrame(t *testing.T) {
	x := newBed(t, 1, sim.Config{})
	c := &closer{iface: x.b}
	if _, err := x.b.Listen("b0:7001", c); err != nil {
		t.Fatal(err)
	}
	x.dial()
	other := new(probe)
	other.ep, _ = x.a.Dial("", "b0:7001", transport.Options{}, other)
	x.run(ms)
	for range 5 {
		other.say()
	}
	x.run(5 * ms)
	if c.data != 1 || len(other.errs) != 1 || len(x.dialer.errs) != 1 {
		t.Errorf("frames %d, errors %v and %v", c.data, other.errs, x.dialer.errs)
	}
}

func TestBandwidth(t *testing.T) {
	x := newBed(t, 1, sim.Config{Calm: true, Link: sim.Link{BytesPerSecond: 1e6}}).dial().run(ms)
	start := x.n.Now()
	for range 10 {
		x.dialer.post(make([]byte, 4000), false)
	}
	for x.peer.data < 10 {
		x.run(100 * time.Microsecond)
	}
	if d := x.n.Now() - start; d < 40*ms || d > 42*ms {
		t.Errorf("40 kB at 1 MB/s took %v", d)
	}
	x.n.SetLink("a0", "b0", sim.Link{Latency: 5 * ms})
	start = x.n.Now()
	x.dialer.post(nil, false)
	for x.peer.data < 11 {
		x.run(100 * time.Microsecond)
	}
	if d := x.n.Now() - start; d < 5*ms || d > 6*ms {
		t.Errorf("a link of 5 ms took %v", d)
	}
}

func TestTrace(t *testing.T) {
	var lines []string
	x := newBed(t, 1, sim.Config{Calm: true, Trace: func(e sim.Event) { lines = append(lines, e.String()) }}).dial().run(ms)
	x.dialer.post([]byte("x"), false)
	x.run(3 * ms)
	x.dialer.ep.Close()
	all := strings.Join(lines, "\n")
	for _, want := range []string{"dial", "established", "connected", "accepted", "post 0", "out 0", "take 0", "acked 1", "close"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
}

func TestMistakes(t *testing.T) {
	x := newBed(t, 1, sim.Config{})
	if _, err := x.hosts[0].Open(x.hosts[0].Env()); err == nil {
		t.Error("two interfaces of one host")
	}
	for _, addr := range []string{"", "b0", "a0:1", "nowhere:1", "b0:"} {
		if _, err := x.b.Listen(addr, x.peer); err == nil {
			t.Errorf("Listen(%q) must fail", addr)
		}
	}
	if _, err := x.a.Dial("b0", "b0:7000", transport.Options{}, x.peer); err == nil {
		t.Error("dial from another host's rail")
	}
	var e *sim.Error
	if _, err := x.a.Dial("", "nonsense", transport.Options{}, x.peer); !errors.As(err, &e) || e.Op != "dial" {
		t.Errorf("dial to nonsense: %v", err)
	}
}

// BenchmarkSeed is what one simulated seed of 400 small operations costs: the network, from nothing to nothing.
func BenchmarkSeed(b *testing.B) {
	payload := make([]byte, 100)
	for i := range b.N {
		x := newBed(b, uint64(i), sim.Config{}).dial().run(100 * time.Microsecond)
		for range 40 {
			for range 5 {
				x.dialer.post(payload, false)
				x.peer.post(payload, true)
			}
			x.run(20 * time.Microsecond)
		}
		x.run(2 * ms)
		if x.peer.data != 200 || x.dialer.data != 200 {
			b.Fatal(x.peer.data, x.dialer.data)
		}
		x.a.Close()
		x.b.Close()
	}
}
