package worker_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/outbox"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/secret"
	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/worker"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/sim"
)

// stage is two workers over a calm network, told what to do line by line. What arrives is logged.
type stage struct {
	net     *sim.Net
	backlog uint64
	a, b    *actor
	ln      *worker.Listener // of b
	log     strings.Builder
	muted   bool // fetches are not logged
	life    int  // of processes, so far
}

type actor struct {
	*stage
	name  string
	host  *sim.Host
	eng   *worker.Worker
	mem   *memory.Table
	key   wire.RKey
	ep    *worker.Endpoint
	sent  int
	named map[string]*request.Request

	inside  [][]string
	fetched int
}

func (s *stage) logf(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if !s.muted || !strings.Contains(line, "AtomicOp") && !strings.Contains(line, "GetData") && !strings.Contains(line, "bytes at 16") {
		fmt.Fprintln(&s.log, line)
	}
}

func newStage(t *testing.T, lanes int, mode wire.Mode) *stage {
	return newStageOf(t, lanes, mode, 0, secret.Secret{})
}

// newStageOf is newStage with a limit for messages that are not handled, 0 is the default, and a secret.
func newStageOf(t *testing.T, lanes int, mode wire.Mode, backlog uint64, both secret.Secret) *stage {
	s := emptyStage(lanes, backlog)
	var err error
	if s.ln, err = s.b.eng.Listen("b0:7", worker.ListenOptions{Secret: both}); err != nil {
		t.Fatal(err)
	}
	ep, r, err := s.a.eng.Dial([]string{"b0:7"}, worker.DialOptions{Mode: mode, Secret: both})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; !r.Reported && i < 1000; i++ {
		s.turn()
	}
	s.a.eng.Release(r)
	s.a.ep = ep
	for i := 0; both.IsSet() && !s.b.allUp() && i < 100; i++ {
		s.turn() // what confirms a lane may be on its way
	}
	if s.b.ep, _, _ = s.ln.Accept(); s.b.ep == nil || len(ep.Lanes()) != lanes {
		t.Fatalf("no endpoint of %d lanes:\n%s", lanes, s.log.String())
	}
	s.log.Reset()
	return s
}

// allUp says whether all lanes that there are are up.
func (a *actor) allUp() bool {
	for _, ep := range a.eng.Endpoints() {
		for _, l := range ep.Lanes() {
			if l.State != lane.Up {
				return false
			}
		}
	}
	return true
}

// emptyStage has the workers, and nothing between them.
func emptyStage(lanes int, backlog uint64) *stage {
	s := &stage{net: sim.New(1, sim.Config{MaxHead: 2048, Calm: true}), backlog: backlog}
	s.a, s.b = s.actor("a", lanes), s.actor("b", lanes)
	return s
}

func (s *stage) actor(name string, lanes int) *actor {
	var rails []string
	for i := range lanes {
		rails = append(rails, fmt.Sprintf("%s%d", name, i))
	}
	a := &actor{stage: s, name: name, host: s.net.Host(name, rails...), named: map[string]*request.Request{}}
	env := a.host.Env()
	a.mem = memory.NewTable(env.Rand)
	region := a.mem.Add(make([]byte, 1<<20))
	region.Watch = func(offset uint64, src []byte) { s.logf("%s: written %d bytes at %d", name, len(src), offset) }
	var err error
	a.eng, err = worker.New(worker.Options{Transports: []transport.Transport{tap{a.host, func(l string) { s.logf("%s", l) }}},
		Env: env, Memory: a.mem, Incarnation: uint64(name[0]), Rails: topo.View{Rails: topo.Fixed(rails...)},
		Config: config.Config{Bounds: config.Bounds{Backlog: s.backlog}, Times: config.Times{Suspended: time.Second, RedialMin: 10 * time.Millisecond}}})
	if err != nil {
		panic(err)
	}
	a.key = region.Key(wire.Write|wire.Read|wire.Atomic, uint64(name[0]))
	a.eng.Calls().OnEvent = func(v any) {
		e := v.(*delivery.Event)

		s.logf("%s: event %v %s", name, e.Kind, strings.TrimSuffix(e.Instance.String(), "d0"))
	}
	a.eng.Handle(1, func(m *delivery.Message) {
		s.logf("%s: handled message %d", name, binary.LittleEndian.Uint32(m.Header))
		a.doInside()
	})
	return a
}

func (a *actor) turn() int {
	n := a.eng.Turn()
	calls := a.eng.Calls().Take(nil)
	for i := range calls {
		a.eng.Calls().Run(&calls[i])
	}
	a.eng.Calls().Finish(calls)
	a.eng.Flush()
	for _, name := range slices.Sorted(maps.Keys(a.named)) {
		if r := a.named[name]; r.Reported {
			was := ""
			if r.Change.Fetch && r.Err == nil {
				was = fmt.Sprintf(", it was %d", r.Old())
			}
			a.logf("%s: %s ended: %v%s", a.name, name, r.Err, was)
			a.eng.Release(r)
			delete(a.named, name)
		}
	}
	return n + len(calls)
}

// turn lets both make progress, or time pass. False: nothing will ever happen again.
func (s *stage) turn() bool {
	if s.a.turn()+s.b.turn() > 0 {
		return true
	}
	for _, a := range []*actor{s.a, s.b} {
		if d := a.eng.Deadline(); d > s.net.Now() {
			s.net.At(d)
		}
	}
	return s.net.Step()
}

func (s *stage) who(name string) *actor {
	if name == "a" {
		return s.a
	}
	return s.b
}

func instance(name string) (i wire.Instance) {
	if name[0] == 'a' {
		i.Opener = wire.Acceptor
	}
	fmt.Sscan(name[1:], &i.N)
	return i
}

// keep remembers a request by a name, or logs that it ended at once.
func (a *actor) keep(name string, r *request.Request, err error) {
	switch {
	case err != nil:
		a.logf("%s: %s: %v", a.name, name, err)
	case r != nil:
		a.named[name] = r
	}
}

func theSecret(t *testing.T) secret.Secret {
	s, err := secret.From([]byte("what both sides of the stage have"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLitmus(t *testing.T) {
	datadriven.Walk(t, "testdata/litmus", func(t *testing.T, path string) {
		var s *stage
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "pair" {
				lanes, mode, backlog, both := 2, "failover", uint64(0), secret.Secret{}
				if d.HasArg("secret") {
					both = theSecret(t)
				}
				d.MaybeScanArgs(t, "lanes", &lanes)
				d.MaybeScanArgs(t, "mode", &mode)
				d.MaybeScanArgs(t, "backlog", &backlog)
				s = newStageOf(t, lanes, map[string]wire.Mode{"failover": wire.ModeFailover, "peer": wire.ModePeer, "none": wire.ModeNone}[mode], backlog, both)
				return ""
			}
			s.log.Reset()
			for _, line := range append([]string{d.Cmd + " " + args(d)}, strings.Split(d.Input, "\n")...) {
				if f := strings.Fields(line); len(f) > 0 {
					s.do(t, f)
				}
			}
			return s.log.String()
		})
	})
}

func args(d *datadriven.TestData) string {
	var out []string
	for _, a := range d.CmdArgs {
		out = append(out, a.String())
	}
	return strings.Join(out, " ")
}

// do carries out one line: a verb, whose, and what.
func (s *stage) do(t *testing.T, f []string) {
	f = append(f, "", "", "")
	if !s.network(t, f) && !s.operation(s.who(f[1]), f) {
		t.Fatalf("unknown verb %q", f[0])
	}
}

// operation does what a user does.
func (s *stage) operation(a *actor, f []string) bool {
	switch f[0] {
	case "am": // am a [NAME]: a message
		r, err := a.ep.PostAM(1, binary.LittleEndian.AppendUint32(nil, uint32(a.sent)), []byte("hello"))
		a.sent++
		a.keep(f[2], r, err)
	case "amz": // amz a [NAME]: a message of 2000 bytes, zero-copy
		r, err := a.ep.PostAM(1, binary.LittleEndian.AppendUint32(nil, uint32(a.sent)), make([]byte, 2000))
		a.sent++
		a.keep(f[2], r, err)
	case "amp": // amp a [NAME]: a message in parts
		r, err := a.ep.PostAM(1, binary.LittleEndian.AppendUint32(nil, uint32(a.sent)), make([]byte, 1<<20))
		a.sent++
		a.keep(f[2], r, err)
	case "prefer": // prefer a d2: messages go on it, once those under way are acknowledged
		a.ep.Box().Prefer(f[2])
	case "signal": // signal a OFFSET NAME [SIZE]: a put, and then the word at 0 is counted up
		s.signal(a, f[2], f[3], f[4])
	case "nohandler": // nohandler a [NAME]: a message that the other has no handler for
		r, err := a.ep.PostAM(2, nil, nil)
		a.keep(f[2], r, err)
	case "put": // put a OFFSET [NAME]: eight bytes
		s.put(a, f[2], f[3], 8)
	case "putz": // zero-copy
		s.put(a, f[2], f[3], 2000)
	case "put2": // two frames
		s.put(a, f[2], f[3], 100_000)
	case "flush": // flush a NAME [sent | cancel | memory | lanes] [INSTANCES]: all, or a part
		a.flush(f[2], f[3], f[4:])
	case "wflush": // wflush a NAME: of the worker
		r, err := a.eng.PostFlush(outbox.Flushing{})
		a.keep(f[2], r, err)
	case "fence": // fence a
		a.ep.Fence()
	case "wfence": // wfence a: of the worker
		a.eng.Fence()
	case "get": // get a OFFSET NAME: eight bytes
		s.get(a, f[2], f[3])
	case "add": // add a [NAME]: 1 to the word at 0
		r, err := a.ep.PostAtomic(a.peer().key, wire.AtomicOp{Change: wire.ChangeAdd, Size: 8, Value: 1})
		a.keep(f[2], r, err)
	case "fadd": // fadd a NAME: the same, and what it was
		r, err := a.ep.PostAtomic(a.peer().key, wire.AtomicOp{Change: wire.ChangeAdd, Size: 8, Value: 1, Fetch: true})
		a.keep(f[2], r, err)
	case "many": // many a N: so many fetch-adds, each second one behind a fence; without N: how many of them have ended
		s.many(a, f[2])
	case "inside": // inside b LINE: what the next handler there does, in the words of this page
		a.inside = append(a.inside, slices.Clone(f[2:]))
	case "fenced": // fenced a: did anything have to wait for a fence?
		s.logf("%s: waited for a fence: %v", a.name, a.ep.Stats().Fenced > 0)
	case "close": // close a NAME
		r, err := a.ep.PostClose()
		a.keep(f[2], r, err)
	case "cancel": // cancel a NAME
		a.eng.Cancel(a.named[f[2]])
	case "send": // send a: what was posted goes out
		a.eng.Flush()
	case "turn": // turn a
		a.turn()
	case "suspect": // suspect a d1
		a.ep.Suspect(instance(f[2]))
	case "lanes":
		s.lanes()
	default:
		return false
	}
	return true
}

// network does what the world does.
func (s *stage) network(t *testing.T, f []string) bool {
	kind := sim.Reset
	if f[2] == "silence" {
		kind = sim.Silence
	}
	switch f[0] {
	case "time": // time 10us
		d, err := time.ParseDuration(f[1])
		if err != nil {
			t.Fatal(err)
		}
		for end := s.net.Now() + d; s.net.StepTo(end); {
		}
	case "rate": // rate 100: MB/s, both ways
		var mb int64
		fmt.Sscan(f[1], &mb)
		for _, r := range []string{"0", "1", "2"}[:len(s.a.ep.Lanes())] {
			s.net.SetLink("a"+r, "b"+r, sim.Link{BytesPerSecond: mb << 20})
			s.net.SetLink("b"+r, "a"+r, sim.Link{BytesPerSecond: mb << 20})
		}
	case "break": // break d1 reset|silence [both|out|in], as seen from a
		dir := map[string]sim.Dir{"": sim.Both, "both": sim.Both, "out": sim.Out, "in": sim.In}[f[3]]
		s.net.Break(s.a.ep.Connection(instance(f[1])).(transport.Endpoint), kind, dir)
	case "cut": // cut a0 reset|silence: a whole rail, until healed
		s.net.CutRail(f[1], kind, sim.Both)
	case "heal":
		s.net.Heal(f[1])
	case "settle": // until nothing is left to do for a while
		for end := s.net.Now() + 300*time.Millisecond; s.net.Now() < end && s.turn(); {
		}
	default:
		return false
	}
	return true
}

func (a *actor) peer() *actor {
	if a == a.a {
		return a.b
	}
	return a.a
}

func (s *stage) put(a *actor, offset, name string, size int) {
	var at uint64
	fmt.Sscan(offset, &at)
	r, err := a.ep.PostPut(make([]byte, size), a.peer().key, at)
	a.keep(name, r, err)
}

func (s *stage) signal(a *actor, offset, name, size string) {
	var at uint64
	n := 8
	fmt.Sscan(offset, &at)
	fmt.Sscan(size, &n)
	key := a.peer().key
	r, err := a.ep.PostPutSignal(make([]byte, n), key, at, outbox.Signal{Key: key, Value: 1, Add: true})
	a.keep(name, r, err)
}

func (a *actor) flush(name, what string, lanes []string) {
	f := outbox.Flushing{Sent: what == "sent", Cancel: what == "cancel"}
	switch what {
	case "memory":
		f.Key = a.peer().key
	}
	if lanes = slices.DeleteFunc(slices.Clone(lanes), func(s string) bool { return s == "" }); what == "lanes" || len(lanes) > 0 {
		f.Lanes = lanes
	}
	r, err := a.ep.PostFlush(f)
	a.keep(name, r, err)
	if r == nil && err == nil {
		a.logf("%s: %s ended at once", a.name, name)
	}
}

func (s *stage) get(a *actor, offset, name string) {
	var at uint64
	fmt.Sscan(offset, &at)
	r, err := a.ep.PostGet(make([]byte, 8), a.peer().key, at)
	a.keep(name, r, err)
}

func (s *stage) lanes() {
	for _, a := range []*actor{s.a, s.b} {
		s.logf("%s: %v, %d requests", a.name, a.ep.State(), a.eng.Live())
		for _, l := range a.ep.Lanes() {
			s.logf("   %v %v", l.Instance, l.State)
		}
		if d := a.ep.Dump(); d != "" {
			s.logf("   %s", strings.ReplaceAll(strings.TrimSpace(d), "\n", "\n   "))
		}
	}
}
