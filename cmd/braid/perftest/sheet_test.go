package perftest

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/medium"
	"github.com/openbraid/braid/internal/verdict"
)

// TestSheet: what is not ok is never counted as that, nor what is not there, and why is said.
func TestSheet(t *testing.T) {
	good := &verdict.Report{Verdict: verdict.OK, Hits: 6, Blackout: &verdict.Quantiles{Max: 3.25}, Worst: &verdict.Pauses{Host: 2}}
	slow := &verdict.Report{Verdict: verdict.OK, Hits: 7, Blackout: &verdict.Quantiles{Max: 30}, Worst: &verdict.Pauses{Host: 29}}
	idle := &verdict.Report{Verdict: verdict.NoEffect, Problems: []string{"a rule: it was in force and hit nothing"}}
	var out bytes.Buffer
	s := sheet{out: &out}
	for _, c := range []square{
		{"tcp", "get", "reset", good, nil}, {"tcp", "add", "reset", slow, nil}, {"tcp", "swap", "reset", idle, nil},
		{"tcp", "get", "loss", nil, nil}, {"tcp", "add", "loss", nil, nil}, {"tcp", "swap", "silence", nil, errors.New("no server")},
	} {
		s.add(c)
	}
	s.print([]medium.Medium{"tcp"}, []string{"get", "add", "swap", "never run"})
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
