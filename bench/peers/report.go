package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/openbraid/braid/bench/duel"
	"github.com/openbraid/braid/bench/rival"
)

// report is all that was found.
type report struct {
	Machine string
	UCX     string
	Quick   bool
	Rows    []row
	Limits  []limit
	Growth  []growth
	Skipped []string
	Moved   int // pairs left out because the processors moved meanwhile
}

// row is one test in one class. Ratio is braid's figure divided by UCX's, median of the quotients of pairs; Spread is where that median is with 95 %; Best is the quotient
// of the best figures of each.
type row struct {
	Transport string     `json:"transport"`
	Test      string     `json:"test"`
	Size      int        `json:"size"`
	Figure    string     `json:"figure"`
	Class     string     `json:"class"`
	Peer      string     `json:"peer"` // whose figure stands as ucx: ucx, or braid's owned mode
	Pairs     int        `json:"pairs"`
	Braid     float64    `json:"braid"`
	UCX       float64    `json:"ucx"`
	Ratio     float64    `json:"ratio"`
	Spread    [2]float64 `json:"spread"`
	Best      float64    `json:"best"`
	Goal      string     `json:"goal"`
	GoalMet   *bool      `json:"goal_met"` // null: there is none
}

// row is what came of a contest.
func (c *contest) row(d duel.Row) row {
	r := row{
		Transport: c.transport, Test: c.test(), Size: c.load.Size, Figure: c.figure, Class: string(d.Class), Peer: c.peer(), Pairs: d.Pairs, Braid: d.Ours, UCX: d.Theirs,
		Ratio: d.Ratio.Median, Spread: [2]float64{d.Ratio.Low, d.Ratio.High}, Best: d.Best, Goal: c.goal.String(),
	}
	if c.goal.Is() {
		judged := r.Ratio
		if c.absolute {
			judged, r.Goal = r.Braid, r.Goal+" us"
		}
		met := c.goal.Met(judged)
		r.GoalMet = &met
	}
	return r
}

// describe says on what was measured, and with what.
func (r *report) describe(ucx string, err error) {
	r.Machine, r.UCX = duel.Machine(), ucx
	if err != nil {
		r.UCX = err.Error()
	}
}

// print writes the table.
func (r *report) print(out io.Writer) {
	fmt.Fprintf(out, "%s; UCX %s. Ratios hold; figures are those of this machine now.\n", r.Machine, r.UCX)
	t := table.NewWriter()
	t.SetOutputMirror(out)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"transport", "test", "size", "figure", "cores", "pairs", "braid", "ucx or owned", "ratio", "95 %", "best", "goal", ""})
	for _, l := range r.Rows {
		verdict := ""
		if l.GoalMet != nil {
			if verdict = "ok"; !*l.GoalMet {
				verdict = "MISSED"
			}
		}
		t.AppendRow(table.Row{l.Transport, l.Test, rival.SizeName(l.Size), l.Figure, l.Class, l.Pairs, duel.Number(l.Braid), duel.Number(l.UCX),
			fmt.Sprintf("%.3g", l.Ratio), fmt.Sprintf("%.3g to %.3g", l.Spread[0], l.Spread[1]), fmt.Sprintf("%.3g", l.Best), l.Goal, verdict})
	}
	t.Render()
	for _, g := range r.Growth {
		fmt.Fprintf(out, "%s, %d endpoints: a message over one of them %s us, over all in turn %s us; %s and %s a second; %s bytes each, UCX %s\n", g.Transport, g.Endpoints,
			duel.Number(g.One), duel.Number(g.All), duel.Number(g.Rate), duel.Number(g.RateAll), duel.Number(g.Bytes), duel.Number(g.UCX))
	}
	for _, l := range r.Limits {
		fmt.Fprintf(out, "limit: %s, %s, %s: %s %s\n", l.Name, rival.SizeName(l.Size), l.Figure, duel.Number(l.Value), l.Class)
	}
	duel.PrintLeft(out, r.Moved, r.Skipped)
}

// json writes the rows alone.
func (r *report) json(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	if r.Rows == nil {
		r.Rows = []row{}
	}
	return e.Encode(r.Rows)
}

// write leaves all of it in a directory.
func (r *report) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	to := func(name string, write func(io.Writer) error) error {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	err := errors.Join(to("peers.json", r.json), to("growth.json", func(w io.Writer) error { return json.NewEncoder(w).Encode(r.Growth) }), to("peers.txt", func(w io.Writer) error { r.print(w); return nil }))
	for _, p := range r.plots() {
		err = errors.Join(err, to(p.file(), p.svg))
	}
	return err
}

// plots are one for each transport and figure of which there are two sizes at least.
func (r *report) plots() (list []*plot) {
	for _, l := range r.Rows {
		if l.Figure == rate || l.Peer != "ucx" {
			continue
		}
		i := slices.IndexFunc(list, func(p *plot) bool { return p.transport == l.Transport && p.figure == l.Figure })
		if i < 0 {
			i = len(list)
			list = append(list, &plot{transport: l.Transport, figure: l.Figure})
		}
		list[i].add("braid "+l.Test+" "+l.Class, l.Size, l.Braid)
		list[i].add("ucx "+l.Test+" "+l.Class, l.Size, l.UCX)
	}
	return slices.DeleteFunc(list, func(p *plot) bool { return len(p.sizes()) < 2 })
}
