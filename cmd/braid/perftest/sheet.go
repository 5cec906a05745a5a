package perftest

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/openbraid/braid/internal/perf/matrix"
	"github.com/openbraid/braid/internal/perf/medium"
	"github.com/openbraid/braid/internal/verdict"
)

// square is what a test over a medium showed under a plan. Neither a report nor an error: there is no such thing.
type square struct {
	medium medium.Medium
	test   string
	plan   string
	report *verdict.Report
	err    error
}

func (c *square) ok() bool    { return c.report != nil && c.report.Verdict == verdict.OK }
func (c *square) empty() bool { return c.report == nil && c.err == nil }

// blackout is the longest of a cut, 0 if no cut had one.
func (c *square) blackout() time.Duration {
	if c.report == nil || c.report.Blackout == nil {
		return 0
	}
	return time.Duration(c.report.Blackout.Max * 1e6).Round(100 * time.Microsecond)
}

// stood is for how long this process did not run during that blackout.
func (c *square) stood() time.Duration {
	if c.report == nil || c.report.Worst == nil {
		return 0
	}
	return time.Duration(c.report.Worst.Host * 1e6).Round(100 * time.Microsecond)
}

func (c *square) String() string {
	switch {
	case c.err != nil:
		return "ERROR"
	case c.empty():
		return "–"
	case !c.ok():
		return strings.ToUpper(c.report.Verdict)
	}
	text := fmt.Sprintf("ok %d", c.report.Hits)
	if d := c.blackout(); d > 0 {
		text += " " + d.String()
	}
	return text
}

// problems is what is wrong with it.
func (c *square) problems() (list []string) {
	switch {
	case c.err != nil:
		list = []string{c.err.Error()}
	case c.empty(), c.ok():
		return nil
	case len(c.report.Problems) == 0:
		list = []string{c.report.Verdict}
	default:
		for _, p := range c.report.Problems {
			list = append(list, c.report.Verdict+": "+p)
		}
	}
	for i := range list {
		list[i] = fmt.Sprintf("%s %s, %s: %s", c.medium, c.test, c.plan, list[i])
	}
	return list
}

// sheet is the matrix as far as it was run.
type sheet struct {
	out   io.Writer
	cells []square
	bad   []string
}

func (s *sheet) add(c square) {
	s.cells = append(s.cells, c)
	s.bad = append(s.bad, c.problems()...)
}

// print prints each cell, then what is wrong, and at last the sums.
func (s *sheet) print(media []medium.Medium, tests []string) {
	all := s.table("transport", "test")
	for _, m := range media {
		for _, test := range tests {
			row := table.Row{m, test}
			for i := range s.cells {
				if c := &s.cells[i]; c.medium == m && c.test == test {
					row = append(row, c)
				}
			}
			if len(row) > 2 {
				all.AppendRow(row)
			}
		}
	}
	all.Render()
	fmt.Fprintln(s.out, "ok N B: N hits, and the longest blackout of a cut; – : there is no such thing on this transport")
	for _, text := range s.bad {
		fmt.Fprintf(s.out, "  %s\n", text)
	}
	sums := s.table("transport")
	for _, m := range media {
		row := table.Row{m}
		for _, p := range matrix.Plans {
			row = append(row, s.sum(m, p.Name))
		}
		sums.AppendRow(row)
	}
	sums.Render()
	fmt.Fprintln(s.out, "N of M: as many tests are ok, of those that were run; the longest blackout of them all, and for how long this process did not run meanwhile")
}

func (s *sheet) table(first ...any) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(s.out)
	t.SetStyle(table.StyleLight)
	head := append(table.Row{}, first...)
	for _, p := range matrix.Plans {
		head = append(head, p.Name)
	}
	t.AppendHeader(head)
	return t
}

// sum is what there is of a plan over a medium, whatever the test.
func (s *sheet) sum(m medium.Medium, plan string) string {
	var ok, run int
	var most, stood time.Duration
	for i := range s.cells {
		if c := &s.cells[i]; c.medium == m && c.plan == plan && !c.empty() {
			if run++; c.ok() {
				ok++
			}
			if d := c.blackout(); d > most {
				most, stood = d, c.stood()
			}
		}
	}
	switch {
	case run == 0:
		return "–"
	case most == 0:
		return fmt.Sprintf("%d of %d", ok, run)
	}
	return fmt.Sprintf("%d of %d, %v (%v)", ok, run, most, stood)
}
