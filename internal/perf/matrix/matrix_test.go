package matrix_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/matrix"
	"github.com/openbraid/braid/internal/perf/medium"
	"github.com/openbraid/braid/internal/verdict"
	"github.com/openbraid/braid/transport/shm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve is a server in this process.
func serve(s perf.Setup) (matrix.Server, error) {
	ctx, cancel := context.WithCancel(context.Background())
	addr, done := make(chan string, 1), make(chan error, 1)
	p := perf.ServerParams{Listen: "127.0.0.1:0", Listening: func(a string) { addr <- a }, Setup: perf.Setup{Transport: s.Transport, Settings: s.Settings, Shared: s.Shared}}
	go func() { done <- perf.Serve(ctx, p) }()
	select {
	case a := <-addr:
		return matrix.Server{Addr: a, Stop: func() { cancel(); <-done }}, nil
	case err := <-done:
		cancel()
		return matrix.Server{}, errors.Join(errors.New("the server did not listen"), err)
	}
}

// cells are the part of the matrix that is run here: each medium, most plans and tests once. Not the loss of datagrams: on a busy machine there may be too few for one in a
// hundred to be hit.
var cells = []struct {
	medium medium.Medium
	test   string
	plan   string
}{
	{"tcp", "put_bw", "mid write"},
	{"tcp", "stream_bw", "reset"},
	{"rc", "am_bw", "rate"},
	{"rc", "put_bw", "one way"},
	{"shm", "am_bw", "reset"},
	{"shm", "get", "rate"},
	{"shm", "put_lat", "silence"},
	{"shm+tcp", "put_bw", "at once"},
	{"rc+tcp", "put_signal_bw", "and back"},
	{"shm+tcp", "fadd", "silence"},
	{"rc+tcp", "am_bw", "and back"},
	{"rc+tcp", "am_lat", "delay"},
	{"rc+shm", "cswap", "pause"},
	{"tcp", "am_offer_bw", "reset"},
}

// TestMatrix: a part of what braid perftest --fault-matrix runs.
func TestMatrix(t *testing.T) {
	had := map[medium.Medium]bool{}
	for i, c := range cells {
		if had[c.medium] && testing.Short() {
			continue
		}
		had[c.medium] = true
		if medium.Medium(c.medium).Has("shm") && shm.Prefix() == "" {
			t.Logf("%s is left out: no shared memory here", c.medium)
			continue
		}
		set := &braid.Settings{}
		if err := set.Set("redial-max", "50ms", "test"); err != nil {
			t.Fatal(err)
		}
		r := matrix.Runner{Setup: perf.Setup{Settings: set}, Seed: uint64(i), Serve: serve}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		rep, err := r.Run(ctx, c.medium, c.test, named(t, c.plan))
		cancel()
		switch {
		case err != nil:
			t.Errorf("%s %s, %s: %v", c.medium, c.test, c.plan, err)
		case rep == nil:
			t.Errorf("%s %s, %s: there is said to be no such thing", c.medium, c.test, c.plan)
		case rep.Verdict != verdict.OK || rep.Hits == 0:
			t.Errorf("%s %s, %s: %s, %d hits: %q", c.medium, c.test, c.plan, rep.Verdict, rep.Hits, rep.Problems)
		}
	}
}

func named(t *testing.T, name string) matrix.Plan {
	t.Helper()
	list, err := matrix.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return list[0]
}

// TestLookup: what is no plan is said with those that there are.
func TestLookup(t *testing.T) {
	if list, err := matrix.Lookup("pause", "one way"); err != nil || len(list) != 2 || list[1].Name != "one way" {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := matrix.Lookup("pause", "way"); err == nil || !strings.Contains(err.Error(), `no plan "way"; there are reset, silence, one way`) {
		t.Error(err)
	}
}

// TestNothing: cells that there are not.
func TestNothing(t *testing.T) {
	for _, c := range []struct {
		medium medium.Medium
		plan   string
		some   bool
	}{
		{"tcp", "loss", false}, {"shm", "loss", false}, {"rc+tcp", "loss", false}, {"shm", "delay", false}, {"shm+tcp", "delay", false}, {"rc+tcp", "delay", true},
		{"rc", "mid write", false}, {"rc+shm", "mid write", false}, {"tcp", "mid write", true}, {"shm", "rate", true},
		{"rc+tcp", "and back", true}, {"shm", "and back", true}, {"rc+shm", "at once", true}, {"shm+tcp", "mid write", true}, {"rc+tcp", "mid write", false},
	} {
		if _, some, err := named(t, c.plan).Rules(c.medium); err != nil || some != c.some {
			t.Errorf("%s over %s: %v, %v", c.plan, c.medium, some, err)
		}
	}
}

// TestTwoLanes: where there are two transports, what is said of two lanes is said of one of each; else of the first two slots.
func TestTwoLanes(t *testing.T) {
	p := named(t, "and back")
	for m, want := range map[medium.Medium][2]string{"rc": {"lane=0", "lane=1"}, "rc+tcp": {"on=rc", "on=tcp"}} {
		rules, some, err := p.Rules(m)
		if err != nil || !some || len(rules) != 2 || !strings.Contains(rules[0].String(), want[0]) || !strings.Contains(rules[1].String(), want[1]) {
			t.Errorf("%s: %v, %v, %v", m, rules, some, err)
		}
	}
}

// TestAgain: what proves nothing is run again, but not for ever.
func TestAgain(t *testing.T) {
	n := 0
	no := errors.New("none today")
	r := matrix.Runner{Serve: func(perf.Setup) (matrix.Server, error) { n++; return matrix.Server{}, no }}
	if _, err := r.Run(context.Background(), "tcp", "get", named(t, "reset")); !errors.Is(err, no) || n != 3 {
		t.Errorf("%v after %d servers", err, n)
	}
}
