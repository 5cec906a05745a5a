package perf_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/trial"
	"github.com/openbraid/braid/internal/verdict"
)

// faulty runs one test with a plan against a server in this process.
func faulty(t *testing.T, p perf.Params, plan string) (perf.Result, []verdict.Event) {
	t.Helper()
	rules, err := fault.ParsePlan(plan)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p.Warmup, p.Lanes = 100, 2
	if p.Size = 4096; slices.Contains([]string{"add", "fadd", "cswap"}, p.Test) {
		p.Size = 8
	}
	if p.Faults == nil {
		p.Faults = &trial.Options{Patience: 10 * time.Second} // a hundred of the longest pauses between two dials
	}
	p.Faults.Plan, p.Faults.Seed, p.Faults.Events = rules, 1, &out
	if p.Settings == nil {
		p.Settings = &braid.Settings{}
	}
	for _, rail := range [][2]string{{"redial-max", "100ms"}, {"rails", "127.0.0.1,127.0.0.2"}} {
		if err := p.Settings.Default(rail[0], rail[1]); err != nil {
			t.Fatal(err)
		}
	}
	addr := serve(t, perf.ServerParams{Setup: perf.Setup{Transport: p.Transport, Settings: p.Settings, Shared: p.Shared}})
	r, err := perf.Run(within(t, time.Minute), addr, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	var events []verdict.Event
	for dec := json.NewDecoder(&out); dec.More(); {
		var e verdict.Event
		if err := dec.Decode(&e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return r, events
}

// TestTrial: each test goes on over lanes that are cut, one after the other, and the verdict says so; what happened is written down.
func TestTrial(t *testing.T) {
	for _, test := range []string{"put_bw", "put_lat", "am_bw", "am_offer_bw", "am_offer_lat", "am_lat", "get", "add", "fadd", "cswap", "tag_bw", "tag_lat", "tag_sync_bw", "stream_lat", "stream_bw"} {
		t.Run(test, func(t *testing.T) {
			p := perf.Params{Test: test, Setup: perf.Setup{Shared: strings.HasPrefix(test, "stream_")}}
			if test == "am_offer_bw" || test == "am_offer_lat" {
				p.Size = 300_000 // smaller ones are not offered
			}
			r, events := faulty(t, p,
				"cut lane=0 kind=reset when=whole for=5ms every=60ms count=3; cut lane=1 kind=silence when=whole after=30ms for=5ms every=60ms count=3")
			if r.Report == nil || r.Report.Verdict != verdict.OK || r.Broken() || !r.Verified {
				t.Fatalf("%+v", r.Report)
			}
			if len(r.Cuts) != 6 || r.Hits < 6 || r.Blackout == nil || r.Gap == nil || r.Lanes != 2 {
				t.Errorf("%+v", r.Report)
			}
			seen := map[string]int{}
			for _, e := range events {
				if seen[e.Event]++; e.Event == "LaneDown" && (e.Lane < 0 || e.Device == "" || e.Instance == "" || e.Endpoint == "" || e.Error == "") {
					t.Errorf("%+v", e)
				}
			}
			if seen["FaultOn"] != 6 || seen["FaultOff"] != 6 || seen["LaneDown"] != 6 || seen["HandedOver"] != 6 || seen["LaneUp"] < 8 {
				t.Errorf("events %v", seen)
			}
		})
	}
}

// TestTrialCounts: additions that are posted again are counted one by one: one that is lost is not made good by another that is done twice.
func TestTrialCounts(t *testing.T) {
	r, _ := faulty(t, perf.Params{Test: "add", Outstanding: 64}, "cut lane=random kind=reset when=whole for=2ms every=40ms count=8")
	if r.Report == nil || r.Report.Verdict != verdict.OK {
		t.Errorf("%+v", r.Report)
	}
}

// TestTrialComesBack: one lane is cut, once, and is back when the verdict is spoken.
func TestTrialComesBack(t *testing.T) {
	r, events := faulty(t, perf.Params{Test: "am_bw"}, "cut lane=0 kind=reset for=5ms")
	ups := 0
	for _, e := range events {
		if e.Event == "LaneUp" {
			ups++
		}
	}
	if r.Report == nil || r.Report.Verdict != verdict.OK || ups != 3 {
		t.Errorf("%d lanes came up; %+v", ups, r.Report)
	}
}

// TestTrialStaysAway: a lane that is not dialed again for an hour is missing when the plan waits for all lanes. The run ends all the same, and says so.
func TestTrialStaysAway(t *testing.T) {
	s := new(braid.Settings)
	for _, key := range []string{"redial-max", "redial-min"} {
		if err := s.Set(key, "1h", "test"); err != nil {
			t.Fatal(err)
		}
	}
	r, _ := faulty(t, perf.Params{Test: "put_bw", Setup: perf.Setup{Settings: s, Faults: &trial.Options{Patience: time.Second}}}, "cut lane=0 kind=reset when=whole for=5ms every=50ms count=3")
	if r.Report == nil || r.Report.Verdict != verdict.Broken || r.Interrupted || !strings.Contains(strings.Join(r.Report.Problems, "; "), "1 of 2 lanes are up") {
		t.Errorf("%+v", r.Report)
	}
}

// TestTrialRC: the same over devices in software, whose datagrams are lost, doubled, spoiled and late, too. A busy machine
// sends some hundred of them meanwhile, of which each rule has to hit one.
func TestTrialRC(t *testing.T) {
	r, _ := faulty(t, perf.Params{Test: "am_bw", Setup: perf.Setup{Transport: "rc"}},
		"drop 5% for=300ms; duplicate 5% for=300ms; corrupt 5% for=300ms; delay 100us±50us dir=tx for=300ms; cut lane=1 kind=reset after=400ms for=50ms")
	if r.Report == nil || r.Report.Verdict != verdict.OK {
		t.Errorf("%+v", r.Report)
	}
}

// TestTrialNoEffect: a rule that hits nothing fails the run, and is named.
func TestTrialNoEffect(t *testing.T) {
	r, _ := faulty(t, perf.Params{Test: "am_lat"}, "cut lane=7 kind=reset for=10ms; pause lane=0 for=10ms")
	if r.Report == nil || r.Report.Verdict != verdict.NoEffect || !r.Broken() || !strings.Contains(strings.Join(r.Report.Problems, ""), "lane=7") {
		t.Errorf("%+v", r.Report)
	}
}

// TestTrialInjectorDies: nothing is concluded from a run whose injector did not live to the end.
func TestTrialInjectorDies(t *testing.T) {
	rules, _ := fault.ParsePlan("cut lane=0 kind=reset for=1ms every=10ms count=1000")
	p := perf.Params{Test: "am_lat", Size: 8, Warmup: 10, Setup: perf.Setup{Faults: &trial.Options{Plan: rules}}}
	p.Faults.Ready = func(t *trial.Trial) { t.Driver().Stop() }
	addr := serve(t, perf.ServerParams{})
	r, err := perf.Run(within(t, time.Minute), addr, p, nil)
	if err != nil || r.Report == nil || r.Report.Verdict != verdict.Died {
		t.Errorf("%v, %+v", err, r.Report)
	}
}
