package main

import (
	"context"
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
