package perftest

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/matrix"
	"github.com/openbraid/braid/internal/perf/medium"
	"github.com/openbraid/braid/internal/verdict"
)

// TestSheet: what is not ok is never counted as that, nor what is not there, and why is said.
func TestSheet(t *testing.T) {
	good := of(&verdict.Report{Verdict: verdict.OK, Hits: 6, Blackout: &verdict.Quantiles{Max: 3.25}, Worst: &verdict.Pauses{Host: 2}})
	slow := of(&verdict.Report{Verdict: verdict.OK, Hits: 7, Blackout: &verdict.Quantiles{Max: 30}, Worst: &verdict.Pauses{Host: 29}})
	idle := of(&verdict.Report{Verdict: verdict.NoEffect, Problems: []string{"a rule: it was in force and hit nothing"}})
	var out bytes.Buffer
	s := sheet{out: &out, part: part{[]medium.Medium{"tcp"}, []string{"get", "add", "swap", "never run"}, matrix.Plans}}
	for _, c := range []square{
		{"tcp", "get", "reset", good, nil}, {"tcp", "add", "reset", slow, nil}, {"tcp", "swap", "reset", idle, nil},
		{"tcp", "get", "loss", nil, nil}, {"tcp", "add", "loss", nil, nil}, {"tcp", "swap", "silence", nil, errors.New("no server")},
	} {
		if err := s.add(c); err != nil {
			t.Fatal(err)
		}
	}
	s.print()
	for _, want := range []string{
		"│ ok 6 3.3ms ", "│ ok 7 30ms ", "│ INJECTOR HAD NO EFFECT ", "│ ERROR", "│ 2 of 3, 30ms (29ms) ", "│ 0 of 1 ",
		"tcp swap, reset: injector had no effect: a rule: it was in force and hit nothing\n", "tcp swap, silence: no server\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q", want)
		}
	}
	if len(s.bad) != 2 || strings.Contains(out.String(), "never run") || s.sum("tcp", "loss") != "–" {
		t.Errorf("%q\n%s", s.bad, &out)
	}
}

// of is a result with this report.
func of(r *verdict.Report) *perf.Result {
	return &perf.Result{Test: "get", Transport: "rc+tcp", Lanes: 2, Report: r}
}

// TestSheetJSON: a line for each cell that there is, as soon as it is over, with what --fault --json says of such a run, and with the plan's name.
func TestSheetJSON(t *testing.T) {
	var out, lines bytes.Buffer
	s := sheet{out: &out, lines: json.NewEncoder(&lines), part: part{[]medium.Medium{"rc+tcp"}, []string{"get"}, matrix.Plans[:2]}}
	good := of(&verdict.Report{
		Verdict: verdict.OK, Hits: 6, Cuts: []verdict.Cut{{Lane: 1, Kind: "reset"}}, Rules: []verdict.Rule{{Rule: "cut", Hits: 6}},
		Blackout: &verdict.Quantiles{N: 1, P50: 3}, Gap: &verdict.Quantiles{N: 1, P50: 4},
	})
	for i, c := range []square{
		{"rc+tcp", "get", "reset", good, nil}, {"rc+tcp", "get", "silence", nil, errors.New("no server")}, {"rc+tcp", "get", "loss", nil, nil},
	} {
		if err := s.add(c); err != nil || bytes.Count(lines.Bytes(), []byte("\n")) != min(i+1, 2) {
			t.Errorf("cell %d: %v, %q", i, err, &lines)
		}
	}
	type cell struct {
		Plan, Test, Transport, Verdict string
		Lanes                          int
		Problems                       []string
		Cuts                           []verdict.Cut
		Hits                           int                `json:"injector_hits"`
		Blackout                       *verdict.Quantiles `json:"blackout_ms"`
		Gap                            *verdict.Quantiles `json:"gap_ms"`
		Disorders                      *int               `json:"out_of_order"`
	}
	var got []cell
	for dec := json.NewDecoder(&lines); dec.More(); {
		var c cell
		if err := dec.Decode(&c); err != nil {
			t.Fatal(err)
		}
		got = append(got, c)
	}
	zero := 0
	want := []cell{
		{Plan: "reset", Test: "get", Transport: "rc+tcp", Verdict: "ok", Lanes: 2, Cuts: good.Cuts, Hits: 6, Blackout: good.Blackout, Gap: good.Gap, Disorders: &zero},
		{Plan: "silence", Test: "get", Transport: "rc+tcp", Verdict: "error", Problems: []string{"no server"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if s.print(); !strings.Contains(out.String(), "│ ok 6") || !strings.Contains(out.String(), "rc+tcp get, silence: no server") {
		t.Error(&out)
	}
}

// TestServerLine: the server of a cell is what its client is.
func TestServerLine(t *testing.T) {
	c := &Command{}
	c.Matrix, c.Transport = true, "tcp"
	for _, s := range []perf.Setup{{Transport: "rc+tcp", Shared: true}, {Transport: "shm"}} {
		line := strings.Join(c.serverOf(s).serverLine("braid"), " ")
		if !strings.Contains(line, "--transport "+s.Transport+" ") || strings.Contains(line, " --shared") != s.Shared || !strings.Contains(line, "--rails=127.0.0.1,127.0.0.2") {
			t.Errorf("%+v: %s", s, line)
		}
	}
}
