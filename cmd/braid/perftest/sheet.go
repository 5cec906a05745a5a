package perftest

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/matrix"
	"github.com/openbraid/braid/internal/perf/medium"
	"github.com/openbraid/braid/internal/verdict"
)

// square is what a test over a medium showed under a plan. Neither a result nor an error: there is no such thing.
type square struct {
	medium medium.Medium
	test   string
	plan   string
	result *perf.Result
	err    error
}

func (c *square) ok() bool    { return c.result != nil && c.result.Verdict == verdict.OK }
func (c *square) empty() bool { return c.result == nil && c.err == nil }

// verdictError is the verdict of what could not be run, for programs.
const verdictError = "error"

// MarshalJSON has what --fault --json says of such a run, and which of the plans it was. What could not be run has the names, a verdict and why.
func (c *square) MarshalJSON() ([]byte, error) {
	if c.err == nil {
		return json.Marshal(struct {
			Plan string `json:"plan"`
			*perf.Result
		}{c.plan, c.result})
	}
	return json.Marshal(struct {
		Plan      string        `json:"plan"`
		Test      string        `json:"test"`
		Transport medium.Medium `json:"transport"`
		Verdict   string        `json:"verdict"`
		Problems  []string      `json:"problems"`
	}{c.plan, c.test, c.medium, verdictError, []string{c.err.Error()}})
}

// blackout is the longest of a cut, 0 if no cut had one.
func (c *square) blackout() time.Duration {
	if c.result == nil || c.result.Blackout == nil {
		return 0
	}
	return time.Duration(c.result.Blackout.Max * 1e6).Round(100 * time.Microsecond)
}

// stood is for how long this process did not run during that blackout.
func (c *square) stood() time.Duration {
	if c.result == nil || c.result.Worst == nil {
		return 0
	}
	return time.Duration(c.result.Worst.Host * 1e6).Round(100 * time.Microsecond)
}

func (c *square) String() string {
	switch {
	case c.err != nil:
		return "ERROR"
	case c.empty():
		return "–"
	case !c.ok():
		return strings.ToUpper(c.result.Verdict)
	}
	text := fmt.Sprintf("ok %d", c.result.Hits)
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
	case len(c.result.Problems) == 0:
		list = []string{c.result.Verdict}
	default:
		for _, p := range c.result.Problems {
			list = append(list, c.result.Verdict+": "+p)
		}
	}
	for i := range list {
		list[i] = fmt.Sprintf("%s %s, %s: %s", c.medium, c.test, c.plan, list[i])
	}
	return list
}

// part is which of them are run.
type part struct {
	media []medium.Medium
	tests []string
	plans []matrix.Plan
}

// sheet is the matrix as far as it was run.
type sheet struct {
	part
	out   io.Writer
	lines *json.Encoder // an object for each cell that there is, at once; nil: none
	cells []square
	bad   []string
}

func (s *sheet) add(c square) error {
	s.cells = append(s.cells, c)
	s.bad = append(s.bad, c.problems()...)
	if s.lines == nil || c.empty() {
		return nil
	}
	return s.lines.Encode(&c)
}

// print prints each cell, then what is wrong, and at last the sums.
func (s *sheet) print() {
	all := s.table("transport", "test")
	for _, m := range s.media {
		for _, test := range s.tests {
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
	for _, m := range s.media {
		row := table.Row{m}
		for _, p := range s.plans {
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
	for _, p := range s.plans {
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
