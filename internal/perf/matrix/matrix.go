package matrix

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/catalog"
	"github.com/openbraid/braid/internal/perf/medium"
	"github.com/openbraid/braid/internal/perf/trial"
	"github.com/openbraid/braid/internal/verdict"
)

// Plan is what is broken. {first} and {second} in its text are two lanes of the medium: one of each of its transports, if there are two.
type Plan struct{ Name, Text string }

// Plans are what each test has to bear.
var Plans = []Plan{
	{"reset", "cut lane=random kind=reset when=whole after=50ms for=5ms every=80ms count=6"},
	{"silence", "cut lane=random kind=silence when=whole after=50ms for=60ms every=250ms count=3"},
	{"one way", "cut lane=random kind=silence dir=tx when=whole after=50ms for=60ms every=250ms count=3"},
	{"mid write", "cut lane=random kind=reset when=write after=50ms for=5ms every=80ms count=6"},
	{"and back", "cut {first} kind=reset when=whole after=50ms for=500ms; cut {second} kind=reset when=whole after=600ms for=500ms"},
	{"at once", "cut kind=reset when=whole after=50ms for=5ms every=150ms count=4"},
	{"pause", "pause lane=random when=whole after=50ms for=20ms every=60ms count=8"},
	{"delay", "delay 500µs±200µs dir=tx after=50ms for=300ms"},
	{"rate", "rate 2Mbit after=50ms for=300ms"},
	{"loss", "drop 1% after=50ms for=800ms; duplicate 2% after=50ms for=800ms; corrupt 3% after=50ms for=800ms"},
}

// Lookup finds plans by their names. The error names all that there are.
func Lookup(names ...string) (list []Plan, err error) {
	for _, name := range names {
		i := slices.IndexFunc(Plans, func(p Plan) bool { return p.Name == name })
		if i < 0 {
			var have []string
			for _, p := range Plans {
				have = append(have, p.Name)
			}
			return nil, fmt.Errorf("no plan %q; there are %s", name, strings.Join(have, ", "))
		}
		list = append(list, Plans[i])
	}
	return list, nil
}

// Media are what they are over.
var Media = []medium.Medium{"tcp", "rc", "shm", "shm+tcp", "rc+tcp", "rc+shm"}

// text is the plan's for a medium.
func (p Plan) text(m medium.Medium) string {
	first, second := "lane=0", "lane=1"
	if m.Mixed() {
		first, second = "on="+m.Parts()[0], "on="+m.Parts()[1]
	}
	return strings.NewReplacer("{first}", first, "{second}", second).Replace(p.Text)
}

// Rules are a plan's for a medium; false: one of its parts has nothing of the kind, where a rule is for all of them. That may be the part that
// carries the test, and the others then nothing that a rule could hit.
func (p Plan) Rules(m medium.Medium) (fault.Plan, bool, error) {
	plan, err := fault.ParsePlan(p.text(m))
	if err != nil {
		return nil, false, fmt.Errorf("the plan %q: %w", p.Name, err)
	}
	for _, r := range plan {
		for _, part := range m.Parts() {
			if !r.Takes(part) && (r.On == "" || !m.Has(r.On)) {
				return nil, false, nil
			}
		}
	}
	return plan, true, nil
}

// Server is who answers a test: of its own, since what one breaks is none of the next one's business.
type Server struct {
	Addr string
	PID  int
	Stop func()
}

// Runner runs them.
type Runner struct {
	Setup perf.Setup
	Seed  uint64
	// Serve starts a server that is set up as its client is.
	Serve func(s perf.Setup) (Server, error)
}

// Bytes of an operation: of atomic ones, that of a word.
const (
	size     = 4096
	wordSize = 8
	warmup   = 100
	eager    = "1KiB" // up to here what is offered goes at once: the operations of a cell must not
)

// redialMax: the damper of flaps would space cuts that are so many in so short a time.
const redialMax = "50ms"

// tries is how often a cell is run that proves nothing: on a machine that is busy with other things a rule may be over before there was something to hit.
const tries = 3

// Run runs one of them, and again if that proved nothing, neither good nor bad. Its result has a report. Nil without an error: there is no such thing on this medium.
func (r *Runner) Run(ctx context.Context, m medium.Medium, test string, plan Plan) (res *perf.Result, err error) {
	rules, some, err := plan.Rules(m)
	if err != nil || !some {
		return nil, err
	}
	for range tries {
		res, err = r.run(ctx, m, test, rules)
		if ctx.Err() != nil || err == nil && (res.Verdict == verdict.OK || res.Verdict == verdict.Broken) {
			break
		}
	}
	return res, err
}

func (r *Runner) run(ctx context.Context, m medium.Medium, test string, rules fault.Plan) (*perf.Result, error) {
	s := r.Setup
	if s.Settings == nil {
		s.Settings = &braid.Settings{}
	}
	s.Settings = s.Settings.Clone()
	if err := s.Settings.Default("redial-max", redialMax); err != nil {
		return nil, err
	}
	if err := s.Settings.Set("rails", strings.Join(m.Rails(), ","), "the matrix"); err != nil {
		return nil, err
	}
	s.Transport, s.Lanes = string(m), max(s.Lanes, len(m.Rails()))
	if catalog.Waits(test) {
		s.Shared, s.Sleep, s.Spin = true, false, true
	}
	offers := false
	if t, err := catalog.Lookup(test); err == nil && t.Offer {
		offers = true
		if err := s.Settings.Set("eager", eager, "the matrix"); err != nil {
			return nil, err
		}
	}
	server, err := r.Serve(s)
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	s.Faults = &trial.Options{Plan: rules, Seed: r.Seed}
	if server.PID != 0 {
		s.Faults.Ready = func(t *trial.Trial) { t.Peer(server.PID) }
	}
	p := perf.Params{Test: test, Size: size, Warmup: warmup, Setup: s}
	if tried := p; tried.Validate() != nil {
		p.Size = wordSize
	}
	result, err := perf.Run(ctx, server.Addr, p, nil)
	if err == nil && offers && result.Offered == 0 {
		err = fmt.Errorf("none of %d messages of %d bytes was offered: all went at once", result.Iterations, p.Size)
	}
	if err != nil {
		return nil, err
	}
	return &result, nil
}
