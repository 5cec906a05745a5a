package perftest

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/openbraid/braid/cmd/braid/plan"
	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/internal/live"
	"github.com/openbraid/braid/internal/perf/child"
	"github.com/openbraid/braid/internal/perf/medium"
	"github.com/openbraid/braid/internal/perf/trial"
	"github.com/openbraid/braid/internal/verdict"
)

// faultFlags say what is to be broken meanwhile.
type faultFlags struct {
	Fault  string   `placeholder:"PLAN" help:"Break things meanwhile, and judge what that did: a file, text as \"cut lane=1 kind=reset after=1s for=500ms\", or outside: what braid fault brings. It goes on until the plan is over, with -n also so long; --verify is on."`
	Events string   `placeholder:"FILE" help:"With --fault: write what happens to lanes, a line of JSON each."`
	Matrix bool     `name:"fault-matrix" help:"Run each test over each transport, and over several at once, with several plans, and print which hold. -t A,B, --transport A,B and --plans A,B run a part of it. --json has a line for each cell, and the matrix on standard error."`
	Plans  []string `placeholder:"PLAN,..." help:"With --fault-matrix: only these of its plans, by their names: reset, silence, one way, mid write, and back, at once, pause, delay, rate, loss."`
}

// outside as a plan is one that braid fault brings.
const outside = "outside"

// faults are what the flags say; nil: nothing is broken.
func (c *Command) faults() (*trial.Options, error) {
	switch {
	case c.Fault == "" && c.Events != "":
		return nil, errors.New("--events has no effect here: it is for --fault")
	case c.Fault == "":
		return nil, nil
	case c.PairModes:
		return nil, errors.New("--fault with --pair-modes: what is compared are lanes that work")
	case c.CSV:
		return nil, errors.New("--fault with -v: a verdict is no row of figures; use --json")
	}
	if c.Fault == outside {
		if !c.Control {
			return nil, errors.New("--fault outside needs --control: the rules come from braid fault, over the control socket")
		}
		return &trial.Options{Outside: true, Seed: c.Seed}, nil
	}
	p, err := plan.Read(c.Fault)
	if err != nil {
		return nil, fmt.Errorf("--fault: %w", err)
	}
	o := &trial.Options{Plan: p, Seed: c.Seed}
	for _, r := range p {
		if err := r.Fits(medium.Medium(c.Transport).Parts()...); err != nil {
			return nil, fmt.Errorf("--fault: %w", err)
		}
		if r.Action == fault.Kill && !c.Spawn {
			return nil, errors.New("--fault: kill peer needs --spawn: else nobody knows which process that is")
		}
	}
	return o, nil
}

// open has the trial know the server's process, and where events go.
func (c *Command) open(o *trial.Options, server *child.Process) (end func() error, err error) {
	end = func() error { return nil }
	if o == nil {
		return end, nil
	}
	if server != nil {
		o.Ready = func(t *trial.Trial) { t.Peer(server.PID()) }
	}
	if c.Events != "" {
		f, err := os.Create(c.Events)
		if err != nil {
			return nil, fmt.Errorf("--events: %w", err)
		}
		o.Events, end = f, f.Close
	}
	return end, nil
}

// verdict prints what a run with faults showed.
func (p *printer) verdict(r *verdict.Report) {
	t := table.NewWriter()
	t.SetOutputMirror(p.out)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"rule", "times", "in force", "hits"})
	for _, x := range r.Rules {
		t.AppendRow(table.Row{x.Rule, x.Times, time.Duration(x.InSecs * 1e9).Round(time.Millisecond), x.Hits})
	}
	t.Render()
	if q := r.Blackout; q != nil {
		fmt.Fprintf(p.out, "blackout  p50 %.1f ms, p99 %.1f ms, max %.1f ms over %d cuts", q.P50, q.P99, q.Max, q.N)
		if w := r.Worst; w != nil {
			fmt.Fprintf(p.out, "; during the longest one the garbage collector stopped for %.1f ms, and this process did not run for %.1f ms", w.GC, w.Host)
		}
		fmt.Fprintln(p.out)
	}
	if q := r.Gap; q != nil {
		fmt.Fprintf(p.out, "gap       p50 %.1f ms, p99 %.1f ms, max %.1f ms without any completion in the second after a cut\n", q.P50, q.P99, q.Max)
	}
	if r.Needed > 0 {
		fmt.Fprintf(p.out, "replayed  %s: %.3f of the %s that the peer lacked\n", live.Size(r.Replayed), float64(r.Replayed)/float64(r.Needed), live.Size(r.Needed))
	}
	if g := r.Gone; g != nil {
		fmt.Fprintf(p.out, "peer      gone: noticed after %.1f ms, given up after %.1f ms (-1: never)\n", g.NoticedMS, g.FailedMS)
	}
	if r.Idle > 0 {
		fmt.Fprintf(p.out, "%d silences of lanes with nothing under way: found by the keepalive, and in no figure\n", r.Idle)
	}
	for i, text := range r.Problems {
		if i == most {
			fmt.Fprintf(p.out, "  and %d more\n", len(r.Problems)-most)
			break
		}
		fmt.Fprintf(p.out, "  %s\n", text)
	}
	fmt.Fprintf(p.out, "verdict: %s\n", r.Verdict)
}

// most problems are printed for people; --json has all.
const most = 10
