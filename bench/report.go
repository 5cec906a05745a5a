package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/openbraid/braid/bench/duel"
)

// report is all that was found.
type report struct {
	Machine string     `json:"machine"`
	Load    [2]string  `json:"load"` // of the system, before and after; with both processors ours it is about 2
	Rows    []duel.Row `json:"rows"`
	Skipped []string   `json:"skipped,omitempty"`
	Moved   int        `json:"moved"` // pairs left out because the processors moved meanwhile
}

// load1 is how many threads wanted to run during the last minute.
func load1() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	one, _, _ := strings.Cut(string(b), " ")
	return one
}

// print writes the table.
func (r *report) print(out io.Writer) {
	fmt.Fprintf(out, "%s; load %s before, %s after\n", r.Machine, r.Load[0], r.Load[1])
	t := table.NewWriter()
	t.SetOutputMirror(out)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"name", "cores", "peer", "unit", "pairs", "ours", "theirs", "ratio", "95 %", "best", "goal", ""})
	t.SetColumnConfigs([]table.ColumnConfig{
		{Number: 5, Align: text.AlignRight}, {Number: 6, Align: text.AlignRight}, {Number: 7, Align: text.AlignRight}, {Number: 8, Align: text.AlignRight},
	})
	for _, l := range r.Rows {
		ratio, spread, theirs, pairs, best := "", "", "", "", ""
		if l.Best != 0 {
			best = fmt.Sprintf("%.3f", l.Best)
		}
		if l.Ratio != nil {
			ratio = fmt.Sprintf("%.3f", l.Ratio.Median)
			spread = fmt.Sprintf("%.3f to %.3f", l.Ratio.Low, l.Ratio.High)
			pairs = strconv.Itoa(l.Pairs)
		}
		if l.Theirs != 0 {
			theirs = duel.Number(l.Theirs)
		}
		t.AppendRow(table.Row{l.Name, l.Class, l.Peer, l.Unit, pairs, duel.Number(l.Ours), theirs, ratio, spread, best, l.Goal, l.Verdict})
	}
	t.Render()
	duel.PrintLeft(out, r.Moved, r.Skipped)
}

func (r *report) json(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
