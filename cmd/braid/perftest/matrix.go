package perftest

import (
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/trial"
	"github.com/openbraid/braid/internal/verdict"
)

// matrixPlans are what each test has to bear. Where a plan names what a transport has not, it is left out there.
var matrixPlans = []struct {
	name, text string
	on         string // "": every transport
}{
	{"reset", "cut lane=random kind=reset when=whole after=50ms for=5ms every=80ms count=6", ""},
	{"silence", "cut lane=random kind=silence when=whole after=50ms for=60ms every=250ms count=3", ""},
	{"one way", "cut lane=random kind=silence dir=tx when=whole after=50ms for=60ms every=250ms count=3", ""},
	{"mid write", "cut lane=random kind=reset when=write after=50ms for=5ms every=80ms count=6", "tcp"},
	{"pause", "pause lane=random when=whole after=50ms for=20ms every=60ms count=8", ""},
	{"delay", "delay 500µs±200µs dir=tx after=50ms for=300ms", ""},
	{"rate", "rate 100Mbit after=50ms for=300ms", ""},
	{"loss", "drop 1% after=50ms for=400ms; duplicate 1% after=50ms for=400ms; corrupt 1% after=50ms for=400ms", "rc"},
}

// matrixRails are two addresses of one host: with rc a lane is a device, and a device is an address.
const matrixRails = "127.0.0.1,127.0.0.2"

// matrix runs tests × transports × plans, and prints which hold.
func (c *Command) matrix(w shell.World, setup perf.Setup) error {
	if err := setup.Settings.Set("rails", matrixRails, "--fault-matrix"); err != nil {
		return err
	}
	setup.Lanes = max(2, c.Lanes)
	c.Rails = strings.Split(matrixRails, ",")
	t := table.NewWriter()
	t.SetOutputMirror(w.Out)
	t.SetStyle(table.StyleLight)
	head := table.Row{"transport", "test"}
	for _, p := range matrixPlans {
		head = append(head, p.name)
	}
	t.AppendHeader(head)
	var bad []string
	for _, transport := range []string{"tcp", "rc"} {
		for _, test := range perf.Tests() {
			row := table.Row{transport, test[0]}
			for _, p := range matrixPlans {
				cell := "–"
				if p.on == "" || p.on == transport {
					r, err := c.cell(w, setup, transport, test[0], p.text)
					switch {
					case err != nil && w.Ctx.Err() != nil:
						return err
					case err != nil:
						cell = "error"
						bad = append(bad, fmt.Sprintf("%s %s, %s: %v", transport, test[0], p.name, err))
					default:
						cell = summary(r)
						for _, text := range r.Problems {
							bad = append(bad, fmt.Sprintf("%s %s, %s: %s: %s", transport, test[0], p.name, r.Verdict, text))
						}
					}
				}
				row = append(row, cell)
			}
			t.AppendRow(row)
		}
	}
	t.Render()
	fmt.Fprintln(w.Out, "ok N B: N hits, and the longest blackout of a cut in ms; – : there is no such thing on this transport")
	for _, text := range bad {
		fmt.Fprintf(w.Out, "  %s\n", text)
	}
	if len(bad) > 0 {
		return shell.ErrShown
	}
	return nil
}

// cell runs one of them, against a server of its own: what one breaks is none of the next one's business.
func (c *Command) cell(w shell.World, setup perf.Setup, transport, test, text string) (*verdict.Report, error) {
	plan, err := fault.ParsePlan(text)
	if err != nil {
		return nil, err
	}
	d := *c
	d.Transport, d.Spawn, d.Host = transport, true, ""
	addr, child, err := d.server(w)
	if err != nil {
		return nil, err
	}
	defer child.Kill()
	setup.Transport = transport
	setup.Faults = &trial.Options{Plan: plan, Seed: c.Seed, Ready: func(t *trial.Trial) { t.Driver().SetPeer(child.PID()) }}
	p := perf.Params{Test: test, Size: matrixSize, Warmup: 100, Setup: setup}
	if tried := p; tried.Validate() != nil {
		p.Size = wordSize
	}
	r, err := perf.Run(w.Ctx, addr, p, nil)
	if err != nil {
		return nil, err
	}
	return r.Report, nil
}

// Bytes of an operation: of atomic ones, that of a word.
const (
	matrixSize = 4096
	wordSize   = 8
)

func summary(r *verdict.Report) string {
	if r.Verdict != verdict.OK {
		return strings.ToUpper(r.Verdict)
	}
	text := fmt.Sprintf("ok %d", r.Hits)
	if q := r.Blackout; q != nil {
		text += fmt.Sprintf(" %v", time.Duration(q.Max*1e6).Round(100*time.Microsecond))
	}
	return text
}
