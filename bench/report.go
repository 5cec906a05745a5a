package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// report is all that was found.
type report struct {
	Machine string    `json:"machine"`
	Load    [2]string `json:"load"` // of the system, before and after; with both processors ours it is about 2
	Rows    []row     `json:"rows"`
	Skipped []string  `json:"skipped,omitempty"`
	Moved   int       `json:"moved"` // pairs left out because the processors moved meanwhile
}

// machine says on what was measured.
func machine() string {
	name := "unknown processor"
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if k, v, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(k) == "model name" {
				name = strings.TrimSpace(v)
				break
			}
		}
	}
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		kernel = []byte("unknown release")
	}
	return fmt.Sprintf("%s, %d processors, %s %s, %s", name, runtime.NumCPU(), runtime.GOOS, strings.TrimSpace(string(kernel)), runtime.Version())
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
			theirs = number(l.Theirs)
		}
		t.AppendRow(table.Row{l.Name, l.Class, l.Peer, l.Unit, pairs, number(l.Ours), theirs, ratio, spread, best, l.Goal, l.Verdict})
	}
	t.Render()
	if r.Moved > 0 {
		fmt.Fprintf(out, "%d pairs left out: the processors moved, or something else ran on them.\n", r.Moved)
	}
	for _, s := range r.Skipped {
		fmt.Fprintln(out, "skipped:", s)
	}
}

// number prints three or more digits.
func number(v float64) string {
	switch a := math.Abs(v); {
	case a >= 1000:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func (r *report) json(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
