package verdict_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/internal/verdict"
)

const ms = time.Millisecond

// good is a run of two lanes of which one is cut at a second, for 300 ms, and all is as it should be.
func good() *verdict.Run {
	hit := fault.Hit{Slot: 1, On: "tcp", Local: "a:2", Remote: "b:1"}
	rule := fault.Status{Rule: fault.Rule{Lane: "1", For: 300 * ms}, At: time.Second, Over: true, Hits: 1, Streams: 1,
		Strokes: []fault.Stroke{{At: time.Second, End: 1300 * ms, Hit: []fault.Hit{hit}}}}
	e := func(at time.Duration, kind, local, instance string, lane int) verdict.Event {
		return verdict.Event{At: at, T: at.Seconds(), Event: kind, Local: local, Remote: "b:1", Name: local + "->b:1", Instance: instance, Lane: lane}
	}
	over := e(1004*ms, "HandedOver", "a:2", "d2", 1)
	over.Posted, over.PeerAccepted, over.Replayed = 1000, 900, 100
	return &verdict.Run{
		Rules: []fault.Status{rule}, Lanes: 2, Up: 2, End: 2 * time.Second, Counts: verdict.Counts{Verified: true},
		Gaps: []verdict.Span{{From: 1001 * ms, To: 1003 * ms}},
		Events: []verdict.Event{
			e(1, "LaneUp", "a:1", "d1", 0), e(2, "LaneUp", "a:2", "d2", 1), e(1001*ms, "LaneDown", "a:2", "d2", 1), over,
			e(1400*ms, "LaneUp", "a:3", "d3", 1),
		},
	}
}

// TestSum: of a run that was stopped it is told what the rules did and what the cuts cost, and nothing is held against it.
func TestSum(t *testing.T) {
	r := good()
	r.Up, r.Counts, r.Err = 1, verdict.Counts{}, errors.New("interrupted")
	got := verdict.Sum(r)
	if got.Verdict != verdict.Interrupted || len(got.Problems) > 0 || got.Hits != 1 || len(got.Rules) != 1 || len(got.Cuts) != 1 || got.Blackout.Max != 4 {
		t.Errorf("%+v", got)
	}
}

// drop has an event not happen.
func drop(r *verdict.Run, kind, instance string) {
	for i := range r.Events {
		if r.Events[i].Event == kind && r.Events[i].Instance == instance {
			r.Events = append(r.Events[:i], r.Events[i+1:]...)
			return
		}
	}
}

// judged is what somebody does to a good run, and what comes of it.
type judged struct {
	do   func(r *verdict.Run)
	want string
	text string
}

func judge(t *testing.T, cases map[string]judged) {
	t.Helper()
	for name, x := range cases {
		r := good()
		x.do(r)
		got := verdict.Judge(r)
		if got.Verdict != x.want || !strings.Contains(strings.Join(got.Problems, "\n"), x.text) || (x.text == "") != (len(got.Problems) == 0) {
			t.Errorf("%s: %s %q, want %s %q", name, got.Verdict, got.Problems, x.want, x.text)
		}
	}
}

// TestJudge: what a good run shows is ok, and each thing that is not as it should be changes the verdict.
func TestJudge(t *testing.T) {
	judge(t, map[string]judged{
		"good":                             {func(*verdict.Run) {}, verdict.OK, ""},
		"doubled":                          {func(r *verdict.Run) { r.Counts.Doubled = 1 }, verdict.Broken, "executed twice"},
		"lost":                             {func(r *verdict.Run) { r.Counts.Lost = 1 }, verdict.Broken, "were lost"},
		"corrupt":                          {func(r *verdict.Run) { r.Counts.Corrupt = 1 }, verdict.Broken, "other bytes"},
		"disorder":                         {func(r *verdict.Run) { r.Counts.OutOfOrder = 1 }, verdict.Broken, "out of order"},
		"nobody looked":                    {func(r *verdict.Run) { r.Counts.Verified = false }, verdict.Broken, "nobody looked"},
		"never came back":                  {func(r *verdict.Run) { r.Up = 1 }, verdict.Broken, "1 of 2 lanes are up"},
		"not given up":                     {func(r *verdict.Run) { drop(r, "LaneDown", "d2") }, verdict.Broken, "not given up"},
		"not handed over":                  {func(r *verdict.Run) { drop(r, "HandedOver", "d2") }, verdict.Broken, "not handed over"},
		"the other one is down":            {func(r *verdict.Run) { r.Events[2].Local = "a:1" }, verdict.Broken, "no rule was about it"},
		"more than was posted":             {func(r *verdict.Run) { r.Events[3].PeerAccepted = 1001 }, verdict.Broken, "of 1000 that were posted"},
		"posted again though it was there": {func(r *verdict.Run) { r.Events[3].Replayed = 200 }, verdict.Broken, "200 bytes were posted again, and the peer lacked 100"},
		"not posted again":                 {func(r *verdict.Run) { r.Events[3].Replayed = 0 }, verdict.Broken, "0 bytes were posted again, and the peer lacked 100"},
		"it stood still":                   {func(r *verdict.Run) { r.Gaps[0] = verdict.Span{From: 999 * ms, To: 1301 * ms} }, verdict.Broken, "did not move"},
		"this process stood still": {func(r *verdict.Run) {
			r.Gaps[0] = verdict.Span{From: 999 * ms, To: 1301 * ms}
			r.Pauses.At = func(from, to time.Duration) (gc, host time.Duration) { return 0, 200 * ms }
		}, verdict.OK, ""},
		"it stood still, and this process hardly": {func(r *verdict.Run) {
			r.Gaps[0] = verdict.Span{From: 999 * ms, To: 1301 * ms}
			r.Pauses.At = func(from, to time.Duration) (gc, host time.Duration) { return 0, 20 * ms }
		}, verdict.Broken, "did not move"},
		"it broke off":   {func(r *verdict.Run) { r.Err = errors.New("gone") }, verdict.Broken, "broke off: gone"},
		"no hit":         {func(r *verdict.Run) { r.Rules[0].Hits = 0 }, verdict.NoEffect, "hit nothing"},
		"never in force": {func(r *verdict.Run) { r.Rules[0] = fault.Status{} }, verdict.NoEffect, "never came into force"},
		"no rule":        {func(r *verdict.Run) { r.Rules, r.Events = nil, r.Events[:2] }, verdict.NoEffect, "no rule"},
		"no right":       {func(r *verdict.Run) { r.Rules[0].Err = errors.New("no right") }, verdict.Failed, "no right"},
		"the injector died": {func(r *verdict.Run) {
			r.Dead, r.Up, r.Counts.Lost = errors.New("killed"), 1, 3
		}, verdict.Died, "the injector died: killed"},
		"the injector died, and all is well": {func(r *verdict.Run) { r.Dead = errors.New("killed") }, verdict.Died, "killed"},
	})
}

// TestJudgeStarved: what a process without a processor explains proves nothing, but for what is wrong with data.
func TestJudgeStarved(t *testing.T) {
	judge(t, map[string]judged{
		"the other one is down, and the peer had no processor": {func(r *verdict.Run) {
			r.Events[2].Local = "a:1"
			drop(r, "HandedOver", "d2") // of this one nobody says anything
			r.Rules[0].Strokes[0].Hit, r.Rules[0].Streams = nil, 0
			r.Pauses.Peer = func(from, to time.Duration) time.Duration { return 30 * ms }
		}, verdict.Inconclusive, "no processor for 30ms"},
		"the other one is down, and the peer ran": {func(r *verdict.Run) {
			r.Events[2].Local = "a:1"
			drop(r, "HandedOver", "d2")
			r.Rules[0].Strokes[0].Hit, r.Rules[0].Streams = nil, 0
			r.Pauses.Peer = func(from, to time.Duration) time.Duration { return 3 * ms }
		}, verdict.Broken, "no rule was about it"},
		"it broke off, and the peer had no processor": {func(r *verdict.Run) {
			r.Err, r.Lost, r.Up = errors.New("peer failed"), true, 0
			r.Pauses.Peer = func(from, to time.Duration) time.Duration { return 2 * time.Second }
		}, verdict.Inconclusive, "broke off: peer failed; but"},
		"lost, and the peer had no processor": {func(r *verdict.Run) {
			r.Counts.Lost, r.Up = 1, 1
			r.Pauses.Peer = func(from, to time.Duration) time.Duration { return 2 * time.Second }
		}, verdict.Broken, "were lost"},
		"the peer stood still": {func(r *verdict.Run) {
			r.Gaps[0] = verdict.Span{From: 999 * ms, To: 1301 * ms}
			r.Pauses.Peer = func(from, to time.Duration) time.Duration { return 200 * ms }
		}, verdict.OK, ""},
	})
}

// TestJudgeKilled: a peer that was killed, or stopped without an end, is what the run ends with.
func TestJudgeKilled(t *testing.T) {
	judge(t, map[string]judged{
		"killed, and nobody noticed": {func(r *verdict.Run) { r.Rules[0].Action = fault.Kill }, verdict.Broken, "nobody noticed"},
		"killed": {func(r *verdict.Run) {
			r.Rules[0].Action, r.Err, r.Lost, r.Up, r.Counts = fault.Kill, errors.New("peer failed"), true, 0, verdict.Counts{}
		}, verdict.OK, ""},
		"stopped until the end": {func(r *verdict.Run) {
			r.Rules[0].Rule = fault.Rule{Action: fault.Kill, Stop: true}
			r.Rules[0].InForce, r.Err, r.Lost, r.Up, r.Counts = true, errors.New("peer failed"), true, 0, verdict.Counts{}
		}, verdict.OK, ""},
		"stopped until the end, and nobody noticed": {func(r *verdict.Run) {
			r.Rules[0].Rule, r.Rules[0].InForce = fault.Rule{Action: fault.Kill, Stop: true}, true
		}, verdict.Broken, "nobody noticed"},
		"stopped, until it went on, and gone": {func(r *verdict.Run) {
			r.Rules[0].Rule = fault.Rule{Action: fault.Kill, Stop: true}
			r.Err, r.Lost, r.Up, r.Counts = errors.New("peer failed"), true, 0, verdict.Counts{}
		}, verdict.Broken, "broke off"},
		"killed, and something else": {func(r *verdict.Run) {
			r.Rules[0].Action, r.Err, r.Counts = fault.Kill, errors.New("a panic"), verdict.Counts{}
		}, verdict.Broken, "something else"},
	})
}

// TestOutlived: a device goes on when a cut is over, and its lane may outlive that. What a later cut does to the lane is no figure of the first.
func TestOutlived(t *testing.T) {
	r := good()
	hit := fault.Hit{Slot: 1, On: "rc", Local: "a:2"}
	r.Rules[0].Strokes = []fault.Stroke{{At: 100 * ms, End: 101 * ms, Hit: []fault.Hit{hit}}, {At: time.Second, End: 1300 * ms, Hit: []fault.Hit{hit}}}
	for i := range r.Events {
		if r.Events[i].Lane == 0 {
			r.Events[i].Local = "c:1" // another device
		}
	}
	got := verdict.Judge(r)
	if got.Verdict != verdict.OK || len(got.Cuts) != 1 || got.Blackout == nil || got.Blackout.Max != 4 {
		t.Errorf("%s %q, cuts %+v", got.Verdict, got.Problems, got.Cuts)
	}
}

// TestFigures: blackout and gap are those of the cut, and an idle lane's silence is no blackout.
func TestFigures(t *testing.T) {
	r := good()
	r.Pauses.At = func(from, to time.Duration) (gc, host time.Duration) { return to - from, ms }
	got := verdict.Judge(r)
	if q := got.Blackout; q == nil || q.N != 1 || q.P50 != 4 || q.P99 != 4 || q.Max != 4 || got.Gap.Max != 2 {
		t.Errorf("blackout %+v, gap %+v", got.Blackout, got.Gap)
	}
	if got.Replayed != 100 || got.Needed != 100 {
		t.Errorf("replayed %d bytes of %d", got.Replayed, got.Needed)
	}
	if c := got.Cuts[0]; c.Lane != 1 || c.Kind != "reset" || c.At != 1 || c.Replayed != 100 || c.Needed != 100 || got.Worst.GC != 4 || got.Worst.Host != 1 {
		t.Errorf("%+v, %+v", c, got.Worst)
	}
	r.Rules[0].Kind = fault.Silence
	r.Events[3].PeerAccepted, r.Events[3].Replayed = 1000, 0
	if got := verdict.Judge(r); got.Blackout != nil || got.Idle != 1 || got.Verdict != verdict.OK {
		t.Errorf("%+v", got)
	}
	// The peer had everything, and nobody here knew: of a lane that nothing comes back on.
	if r.Events[2].Event != "LaneDown" {
		t.Fatal(r.Events[2])
	}
	r.Events[2].Posted, r.Events[2].Acked = 1000, 990
	if got := verdict.Judge(r); got.Blackout == nil || got.Blackout.Max != 4 || got.Idle != 0 {
		t.Errorf("unacknowledged, and all of it had arrived: %+v", got)
	}
}

// TestGaps: of many gaps that one counts which is longest in the second after the cut, from the cut on.
func TestGaps(t *testing.T) {
	r := good()
	r.Gaps = nil
	for at := time.Duration(0); at < 4*time.Second; at += 10 * ms {
		r.Gaps = append(r.Gaps, verdict.Span{From: at, To: at + ms})
	}
	for _, long := range []verdict.Span{{From: 500 * ms, To: 900 * ms}, {From: 995 * ms, To: 1005 * ms}, {From: 1500 * ms, To: 1507 * ms}, {From: 1995 * ms, To: 2020 * ms}, {From: 2500 * ms, To: 2900 * ms}} {
		r.Gaps = slices.DeleteFunc(r.Gaps, func(g verdict.Span) bool { return g.From < long.To && g.To > long.From })
		r.Gaps = append(r.Gaps, long)
	}
	slices.SortFunc(r.Gaps, func(a, b verdict.Span) int { return int(a.From - b.From) })
	if got := verdict.Judge(r); got.Gap.Max != 25 || got.Cuts[0].GapMS != 25 {
		t.Errorf("gap %+v, of the cut %v ms, want 25", got.Gap, got.Cuts[0].GapMS)
	}
	r.Gaps = slices.DeleteFunc(r.Gaps, func(g verdict.Span) bool { return g.From == 1995*ms })
	if got := verdict.Judge(r); got.Cuts[0].GapMS != 7 {
		t.Errorf("gap of the cut %v ms, want 7", got.Cuts[0].GapMS)
	}
}

// TestGone: how long it took to notice that the peer was killed.
func TestGone(t *testing.T) {
	r := good()
	r.Rules[0].Rule, r.Err, r.Lost, r.Up, r.Counts = fault.Rule{Action: fault.Kill}, errors.New("peer failed"), true, 0, verdict.Counts{}
	r.Events[2].At = 1007 * ms
	if got := verdict.Judge(r); got.Gone == nil || *got.Gone != (verdict.Gone{NoticedMS: 7, FailedMS: -1}) {
		t.Errorf("%+v", got.Gone)
	}
	r.Events = append(r.Events, verdict.Event{At: 3 * time.Second, T: 3, Event: "Failed", Lane: -1})
	if got := verdict.Judge(r); got.Verdict != verdict.OK || *got.Gone != (verdict.Gone{NoticedMS: 7, FailedMS: 2000}) {
		t.Errorf("%s, %+v", got.Verdict, got.Gone)
	}
	if got := verdict.Judge(good()); got.Gone != nil {
		t.Errorf("nobody was killed: %+v", got.Gone)
	}
}

// TestUnplugged: a lane whose interface was taken down has a blackout, as one that was cut; one that outlived that has none.
func TestUnplugged(t *testing.T) {
	r := good()
	r.Rules[0].Rule, r.Rules[0].Strokes[0].Hit = fault.Rule{Action: fault.Iface, Device: "veth1", For: 300 * ms}, nil
	r.Events[1].Device, r.Events[2].Device, r.Events[3].Device, r.Events[4].Device = "veth1", "veth1", "veth1", "veth1"
	got := verdict.Judge(r)
	if got.Verdict != verdict.OK || len(got.Cuts) != 1 || got.Cuts[0].Kind != "iface" || got.Cuts[0].BlackoutMS != 4 || got.Blackout == nil || got.Needed != 100 {
		t.Errorf("%s %q, cuts %+v", got.Verdict, got.Problems, got.Cuts)
	}
	r.Events = append(r.Events[:2], r.Events[4:]...) // it did not go down
	if got := verdict.Judge(r); got.Verdict != verdict.OK || len(got.Cuts) != 0 || got.Blackout != nil {
		t.Errorf("outlived: %s %q, cuts %+v", got.Verdict, got.Problems, got.Cuts)
	}
}
