package main

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/perf/duo"
)

// The loop in C over UCX is built and runs over each transport, and so does ours: how fast is nobody's concern here.
func TestFencesBesideUCX(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	ucx, err := duo.Build(ctx)
	if err != nil {
		if os.Getenv("BRAID_NO_SKIP") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	ucx.Close()
	b := &bench{only: regexp.MustCompile("^fence/ucx/"), Rounds: 1, cpuA: "0", cpuB: "0"}
	var r report
	for len(r.Rows) == 0 && ctx.Err() == nil { // until no processor has moved
		r = report{}
		if err := b.fencesUCX(ctx, &r); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.Skipped) != 0 || len(r.Rows)+r.Moved != 4 {
		t.Errorf("%d rows, %d moved, skipped %q", len(r.Rows), r.Moved, r.Skipped)
	}
	for _, row := range r.Rows {
		if row.Ours <= 0 || row.Theirs <= 0 {
			t.Errorf("%+v", row)
		}
	}
}

// Each row of fences can be measured, over each transport.
func TestFenceRows(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for _, c := range fenceRows() {
		if (&report{}).lacks(c.transport, c.name) {
			continue
		}
		c.n = 2 * fenceBlocks
		r, err := c.measure(ctx)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if r.Ours <= 0 && !strings.HasSuffix(c.name, "/behind") || r.Verdict == "" || c.than != "" && (r.Ratio == nil || r.Theirs <= 0) {
			t.Errorf("%+v", r)
		}
	}
}

// Rows over a transport that the system has not are left out, and named.
func TestFenceRowsWithoutShm(t *testing.T) {
	was := usable
	t.Cleanup(func() { usable = was })
	usable = map[string]func() error{"shm": func() error { return errors.New("no such memory") }}
	b, r := &bench{only: regexp.MustCompile("^fence/shm/")}, report{}
	if err := b.fences(t.Context(), &r); err != nil || len(r.Rows) != 0 || len(r.Skipped) != 3 || !strings.HasSuffix(r.Skipped[0], ": no such memory") {
		t.Errorf("%d rows, skipped %q, %v", len(r.Rows), r.Skipped, err)
	}
}
