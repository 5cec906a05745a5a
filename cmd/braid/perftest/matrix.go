package perftest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/catalog"
	"github.com/openbraid/braid/internal/perf/matrix"
	"github.com/openbraid/braid/internal/perf/medium"
)

// matrix runs tests × media × plans, and prints which hold. With --json that is for people, and a line for each cell for programs.
func (c *Command) matrix(w shell.World, setup perf.Setup, path []*kong.Path) error {
	which, err := c.matrixOf(path)
	if err != nil {
		return shell.BadLine(err)
	}
	r := matrix.Runner{Setup: setup, Seed: c.Seed, Serve: func(s perf.Setup) (matrix.Server, error) {
		addr, child, err := c.serverOf(s).server(w)
		if err != nil {
			return matrix.Server{}, err
		}
		return matrix.Server{Addr: addr, PID: child.PID(), Stop: child.Kill}, nil
	}}
	m := sheet{part: which, out: w.Out}
	if c.JSON {
		m.out, m.lines = w.ErrOut, json.NewEncoder(w.Out)
	}
	err = m.fill(w, &r)
	m.print()
	if len(m.bad) > 0 && err == nil {
		return shell.ErrShown
	}
	return err
}

// serverOf starts servers for a client that is set up like this.
func (c *Command) serverOf(s perf.Setup) *Command {
	d := *c
	d.Transport, d.Shared, d.Spawn, d.Host, d.Rails = s.Transport, s.Shared, true, "", medium.Medium(s.Transport).Rails()
	return &d
}

// fill runs them. What ended it early is an error; what there is by then is worth as much as before.
func (s *sheet) fill(w shell.World, r *matrix.Runner) error {
	for _, m := range s.media {
		for _, test := range s.tests {
			for _, p := range s.plans {
				if w.ErrOut.IsTerminal() {
					fmt.Fprintf(w.ErrOut, "\r\x1b[K%s %s, %s", m, test, p.Name)
				}
				res, err := r.Run(w.Ctx, m, test, p)
				if err != nil && w.Ctx.Err() != nil {
					return err
				}
				if err := s.add(square{m, test, p.Name, res, err}); err != nil {
					return err
				}
			}
		}
	}
	if w.ErrOut.IsTerminal() {
		fmt.Fprint(w.ErrOut, "\r\x1b[K")
	}
	return nil
}

// matrixOf is what is run: all, or what the command line says.
func (c *Command) matrixOf(path []*kong.Path) (which part, err error) {
	which = part{media: matrix.Media, plans: matrix.Plans}
	for _, p := range path {
		if p.Flag != nil && p.Flag.Name == "transport" {
			which.media = nil
			for _, name := range strings.Split(c.Transport, ",") {
				m := medium.Medium(name)
				if err := m.Check(); err != nil {
					return which, err
				}
				which.media = append(which.media, m)
			}
		}
	}
	if len(c.Plans) > 0 {
		if which.plans, err = matrix.Lookup(c.Plans...); err != nil {
			return which, fmt.Errorf("--plans: %w", err)
		}
	}
	if c.Test != "" {
		which.tests = strings.Split(c.Test, ",")
		for _, name := range which.tests {
			p := perf.Params{Test: name, Size: 8, Setup: perf.Setup{Shared: catalog.Waits(name)}}
			if err := p.Validate(); err != nil {
				return which, err
			}
		}
		return which, nil
	}
	for _, t := range perf.Tests() {
		which.tests = append(which.tests, t[0])
	}
	return which, nil
}
