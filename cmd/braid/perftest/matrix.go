package perftest

import (
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/matrix"
	"github.com/openbraid/braid/internal/perf/medium"
	"github.com/openbraid/braid/internal/verdict"
)

// matrix runs tests × media × plans, and prints which hold.
func (c *Command) matrix(w shell.World, setup perf.Setup, path []*kong.Path) error {
	media, tests, err := c.matrixOf(path)
	if err != nil {
		return shell.BadLine(err)
	}
	r := matrix.Runner{Setup: setup, Seed: c.Seed, Serve: func(m medium.Medium, _ *braid.Settings) (matrix.Server, error) {
		d := *c
		d.Transport, d.Spawn, d.Host, d.Rails = string(m), true, "", m.Rails()
		addr, child, err := d.server(w)
		if err != nil {
			return matrix.Server{}, err
		}
		return matrix.Server{Addr: addr, PID: child.PID(), Stop: child.Kill}, nil
	}}
	t := table.NewWriter()
	t.SetOutputMirror(w.Out)
	t.SetStyle(table.StyleLight)
	head := table.Row{"transport", "test"}
	for _, p := range matrix.Plans {
		head = append(head, p.Name)
	}
	t.AppendHeader(head)
	var bad []string
	var stopped error
cells:
	for _, m := range media {
		for _, test := range tests {
			row := table.Row{m, test}
			for _, p := range matrix.Plans {
				rep, err := r.Run(w.Ctx, m, test, p)
				if err != nil && w.Ctx.Err() != nil { // what there is by now is worth as much as before
					stopped = err
					break
				}
				cell, problems := summary(rep, err)
				row = append(row, cell)
				for _, text := range problems {
					bad = append(bad, fmt.Sprintf("%s %s, %s: %s", m, test, p.Name, text))
				}
			}
			if t.AppendRow(row); stopped != nil {
				break cells
			}
		}
	}
	t.Render()
	fmt.Fprintln(w.Out, "ok N B: N hits, and the longest blackout of a cut; – : there is no such thing on this transport")
	for _, text := range bad {
		fmt.Fprintf(w.Out, "  %s\n", text)
	}
	if len(bad) > 0 && stopped == nil {
		return shell.ErrShown
	}
	return stopped
}

// matrixOf is what is run: all, or what the command line says.
func (c *Command) matrixOf(path []*kong.Path) (media []medium.Medium, tests []string, err error) {
	media = matrix.Media
	for _, p := range path {
		if p.Flag != nil && p.Flag.Name == "transport" {
			media = nil
			for _, name := range strings.Split(c.Transport, ",") {
				m := medium.Medium(name)
				if err := m.Check(); err != nil {
					return nil, nil, err
				}
				media = append(media, m)
			}
		}
	}
	if c.Test != "" {
		tests = strings.Split(c.Test, ",")
		for _, name := range tests {
			p := perf.Params{Test: name, Size: 8}
			if err := p.Validate(); err != nil {
				return nil, nil, err
			}
		}
		return media, tests, nil
	}
	for _, t := range perf.Tests() {
		tests = append(tests, t[0])
	}
	return media, tests, nil
}

// summary is a cell, and what is wrong with it.
func summary(r *verdict.Report, err error) (cell string, problems []string) {
	switch {
	case err != nil:
		return "error", []string{err.Error()}
	case r == nil:
		return "–", nil
	case r.Verdict != verdict.OK:
		for _, p := range r.Problems {
			problems = append(problems, r.Verdict+": "+p)
		}
		if len(problems) == 0 {
			problems = []string{r.Verdict}
		}
		return strings.ToUpper(r.Verdict), problems
	}
	text := fmt.Sprintf("ok %d", r.Hits)
	if q := r.Blackout; q != nil {
		text += fmt.Sprintf(" %v", time.Duration(q.Max*1e6).Round(100*time.Microsecond))
	}
	return text, nil
}
