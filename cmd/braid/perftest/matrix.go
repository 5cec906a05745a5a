package perftest

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/catalog"
	"github.com/openbraid/braid/internal/perf/matrix"
	"github.com/openbraid/braid/internal/perf/medium"
)

// matrix runs tests × media × plans, and prints which hold.
func (c *Command) matrix(w shell.World, setup perf.Setup, path []*kong.Path) error {
	media, tests, err := c.matrixOf(path)
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
	m := sheet{out: w.Out}
	err = c.fill(w, &r, &m, media, tests)
	m.print(media, tests)
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
func (c *Command) fill(w shell.World, r *matrix.Runner, s *sheet, media []medium.Medium, tests []string) error {
	for _, m := range media {
		for _, test := range tests {
			for _, p := range matrix.Plans {
				if w.ErrOut.IsTerminal() {
					fmt.Fprintf(w.ErrOut, "\r\x1b[K%s %s, %s", m, test, p.Name)
				}
				rep, err := r.Run(w.Ctx, m, test, p)
				if err != nil && w.Ctx.Err() != nil {
					return err
				}
				s.add(square{m, test, p.Name, rep, err})
			}
		}
	}
	if w.ErrOut.IsTerminal() {
		fmt.Fprint(w.ErrOut, "\r\x1b[K")
	}
	return nil
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
			p := perf.Params{Test: name, Size: 8, Setup: perf.Setup{Shared: catalog.Waits(name)}}
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
