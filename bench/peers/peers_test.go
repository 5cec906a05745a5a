package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openbraid/braid/bench/duel"
	"github.com/openbraid/braid/bench/rival"
	"github.com/openbraid/braid/internal/perf/median"
)

// TestNames: names are unique, --quick runs some of what all of it runs, and what has a goal has it in both.
func TestNames(t *testing.T) {
	goals := map[string]string{}
	for _, c := range contests(false) {
		if _, twice := goals[c.name()+c.figure]; twice {
			t.Errorf("%s is there twice", c.name())
		}
		goals[c.name()+c.figure] = c.goal.String()
	}
	for _, c := range contests(true) {
		if goal, ok := goals[c.name()+c.figure]; !ok || goal == "" || goal != c.goal.String() {
			t.Errorf("%s with --quick: goal %q, else %q", c.name(), c.goal, goal)
		}
	}
	for name, want := range map[string]string{
		"shm/tag_lat/8" + latency: "<= 0.65", "shm/put_lat/8" + latency: "<= 1.05", "shm/am_bw/8" + rate: ">= 2", "shm/put_bw/8" + rate: ">= 1",
		"shm/am_bw/16MiB" + bandwidth: ">= 1.2", "shm/get/1MiB" + bandwidth: ">= 0.95", "tcp/stream_bw/64KiB" + bandwidth: ">= 1.5", "tcp/am_bw/8" + rate: ">= 10",
		"shm/one_core/am_lat/8" + latency: "<= 10", "self/am_lat/8" + latency: "<= 1", "shm/lent/am_bw/64KiB" + bandwidth: ">= 4", "shm/shared/tag_lat/8" + latency: "<= 1.25",
	} {
		if goals[name] != want {
			t.Errorf("%s: goal %q, want %q", name, goals[name], want)
		}
	}
}

// TestBetter: of several transports of UCX the better one counts: the faster, or the one with more.
func TestBetter(t *testing.T) {
	dir := t.TempDir()
	script := `#!/bin/sh
case "$*" in *127.0.0.1*) ;; *) exec sleep 60;; esac
[ $UCX_TLS = posix ] && echo 1,3,3,3,20,20,20,20 || echo 1,2,2,2,10,10,10,10
`
	if err := os.WriteFile(filepath.Join(dir, "ucx"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for figure, want := range map[string]float64{latency: 2, rate: 20, bandwidth: 20 * (1 << 20) / 1e6} {
		c := contest{figure: figure, ucx: []string{"posix", "cma"}, load: rival.Load{Test: "am_bw", Size: 8, Iters: 1, Pick: pick(figure)}}
		p := &rival.Programs{UCXPath: filepath.Join(dir, "ucx"), A: "0", B: "0", Listens: func(context.Context, string, <-chan struct{}) error { return nil }}
		if v, err := c.theirs(p)(t.Context()); err != nil || v != want {
			t.Errorf("%s: %v, %v, want %v", figure, v, err, want)
		}
	}
}

func found() *report {
	r := &report{Machine: "m", UCX: "1", Skipped: []string{"this"}}
	for i, size := range []int{8, 64 * rival.KiB, rival.MiB} {
		c := contest{transport: "shm", figure: bandwidth, goal: duel.AtLeast(1), load: rival.Load{Test: "am_bw", Size: size}}
		q := median.Interval{Median: 0.5 + float64(i), Low: 0.4, High: 9}
		r.Rows = append(r.Rows, c.row(duel.Row{Class: duel.Near, Pairs: 3, Ours: 100 * float64(i+1), Theirs: 200, Ratio: &q, Best: 0.7}))
	}
	alone := crowded()
	r.Rows = append(r.Rows, alone.row(duel.Row{Class: duel.Far, Ours: 11, Theirs: 4000, Ratio: &median.Interval{Median: 0.002}}))
	return r
}

// TestRows: the keys of a row, and goals that are met and missed; one about braid alone is judged by its figure.
func TestRows(t *testing.T) {
	var out bytes.Buffer
	if err := found().json(&out); err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	if err := json.Unmarshal(out.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"transport", "test", "size", "figure", "class", "braid", "ucx", "ratio", "spread", "goal", "goal_met"} {
		if _, ok := rows[0][key]; !ok {
			t.Errorf("no %q in %v", key, rows[0])
		}
	}
	var met []any
	for _, r := range rows {
		met = append(met, r["goal_met"])
	}
	if want := []any{false, true, true, false}; !slices.Equal(met, want) {
		t.Errorf("goals met %v, want %v", met, want)
	}
	out.Reset()
	if err := (&report{}).json(&out); err != nil || strings.TrimSpace(out.String()) != "[]" {
		t.Errorf("no rows: %q, %v", out.String(), err)
	}
}

// TestOut: the directory has the rows, the table, and plots that are whole.
func TestOut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if err := found().write(dir); err != nil {
		t.Fatal(err)
	}
	var names []string
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	if want := []string{"growth.json", "peers.json", "peers.txt", "shm-bandwidth_MB_s.svg"}; !slices.Equal(names, want) {
		t.Fatalf("%q, want %q", names, want)
	}
	svg, err := os.ReadFile(filepath.Join(dir, names[3]))
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"braid am_bw near", "ucx am_bw near", "64KiB", "1MiB"} {
		if !bytes.Contains(svg, []byte(want)) {
			t.Errorf("no %q in the plot", want)
		}
	}
	if bytes.Contains(svg, []byte("NaN")) || bytes.Contains(svg, []byte("Inf")) {
		t.Error("a point that is nowhere")
	}
}
