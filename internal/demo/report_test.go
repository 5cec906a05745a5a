package demo

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/demo/tally"
)

var twoRails = rails{Addrs: [lanes]string{"127.0.0.1", "127.0.0.2"}, Names: [lanes]string{"127.0.0.1", "127.0.0.2"}}

const testSecond = time.Second

// goodBook is what a run leaves behind in which all went well.
func goodBook() *book {
	b := newBook(twoRails)
	all := tally.Totals{Blocks: 4, Words: 4, Messages: 2, Bytes: 400}
	b.sent = &sentResult{Totals: all, Digest: "d", Started: testSecond}
	b.checked = &checkResult{
		Counts: tally.Counts{Blocks: 4, Words: 4, Messages: 2, Bytes: 400}, Digest: "d", Ended: 11 * testSecond,
		Gaps: []time.Duration{5e6, 6e6}, Before: []time.Duration{1e6, 2e6}, Lanes: map[string]uint64{"d3": 30, "d4": 40},
	}
	for i, id := range []string{"d1", "d2"} {
		at := time.Duration(i+2) * testSecond
		b.event(laneEvent{Kind: "LaneUp", Rail: i, Instance: id}, true)
		b.cut(cutStamp{Rail: i, Kind: plans[i].kind.String(), At: at, Streams: 1})
		b.event(laneEvent{Kind: "LaneDown", At: at + 1e6, Rail: i, Instance: id, Posted: 100, Accepted: 7}, true)
		b.event(laneEvent{Kind: "LaneDown", At: at + 1e6, Instance: id, Posted: 9, Accepted: 90}, false)
		b.event(laneEvent{Kind: "HandedOver", At: at + 3e6, Rail: i, Instance: id, PeerAccepted: 90, Replayed: 10}, true)
		b.event(laneEvent{Kind: "HandedOver", At: at + 4e6, Instance: id, PeerAccepted: 7}, false)
		b.event(laneEvent{Kind: "LaneUp", At: at + 9e6, Rail: i, Instance: []string{"d3", "d4"}[i]}, true)
	}
	return b
}

func TestReportOfAGoodRun(t *testing.T) {
	r := goodBook().report()
	if !r.OK() {
		t.Fatal(r.Problems)
	}
	if !r.Equal || r.Operations != 10 || r.Bytes != 400 || r.Seconds != 10 {
		t.Errorf("%+v", r)
	}
	want := Cut{Lane: "127.0.0.1", Kind: "reset", BlackoutMS: 4, GapMS: 5, BeforeMS: 1, Replayed: 10, Needed: 10}
	if r.Cuts[0] != want {
		t.Errorf("cut %+v, want %+v", r.Cuts[0], want)
	}
	if want := []Lane{{"127.0.0.1", 120}, {"127.0.0.2", 130}}; !slices.Equal(r.Lanes, want) {
		t.Errorf("lanes %+v, want %+v", r.Lanes, want)
	}
}

// TestReportFails: each thing that can be wrong makes the demo fail, and is named.
func TestReportFails(t *testing.T) {
	change := func(of []laneEvent, kind string, fn func(e *laneEvent)) {
		fn(find(of, kind, func(e laneEvent) bool { return e.Instance == "d1" }))
	}
	drop := func(of []laneEvent, kind string) []laneEvent {
		return slices.DeleteFunc(of, func(e laneEvent) bool { return e.Kind == kind && e.Instance == "d1" })
	}
	for name, c := range map[string]struct {
		spoil func(b *book)
		says  string
	}{
		"lost":               {func(b *book) { b.checked.Lost = 1 }, "lost"},
		"doubled":            {func(b *book) { b.checked.Doubled = 1 }, "twice"},
		"digest":             {func(b *book) { b.checked.Digest = "e" }, "differs"},
		"no digest":          {func(b *book) { b.checked.Digest, b.sent.Digest = "", "" }, "differs"},
		"receiver":           {func(b *book) { b.checked.Problems = []string{"odd"} }, "odd"},
		"sender":             {func(b *book) { b.sent.Problems = []string{"odd"} }, "odd"},
		"cut missing":        {func(b *book) { b.cuts = b.cuts[:1] }, "not carried out"},
		"cut of nothing":     {func(b *book) { b.cuts[0].Streams = 0 }, "no effect"},
		"cut unnoticed":      {func(b *book) { b.sender = drop(b.sender, "LaneDown") }, "no effect"},
		"noticed before":     {func(b *book) { b.cuts[0].At += 2e6 }, "no effect"},
		"not handed over":    {func(b *book) { b.sender = drop(b.sender, "HandedOver") }, "not handed over"},
		"one-sided":          {func(b *book) { b.receiver = drop(b.receiver, "HandedOver") }, "not handed over"},
		"peer knows no loss": {func(b *book) { b.receiver = drop(b.receiver, "LaneDown") }, "never lost at the other side"},
		"position": {func(b *book) {
			change(b.sender, "HandedOver", func(e *laneEvent) { e.PeerAccepted++ })
		}, "had accepted 90"},
		"position back": {func(b *book) {
			change(b.receiver, "HandedOver", func(e *laneEvent) { e.PeerAccepted-- })
		}, "had accepted 7"},
		"more accepted than posted": {func(b *book) {
			change(b.sender, "LaneDown", func(e *laneEvent) { e.Posted = 89 })
		}, "of 89 that were posted"},
	} {
		b := goodBook()
		c.spoil(b)
		r := b.report()
		if r.OK() || !slices.ContainsFunc(r.Problems, func(s string) bool { return strings.Contains(s, c.says) }) {
			t.Errorf("%s: problems %q, want one that says %q", name, r.Problems, c.says)
		}
	}
}

func TestExplain(t *testing.T) {
	b := goodBook()
	if err := b.explain(errStall); err != errStall {
		t.Errorf("nothing to add: %v", err)
	}
	b.cuts[1].At += testSecond
	if err := b.explain(errStall); !strings.Contains(err.Error(), "127.0.0.2 was cut by silence and nobody noticed") {
		t.Error(err)
	}
}

// TestBytesOfALateTick: a tick that was written before a lane was lost must not count its bytes twice.
func TestBytesOfALateTick(t *testing.T) {
	b := goodBook()
	if of := b.bytes(map[string]uint64{"d1": 80, "d3": 5}); of[0] != 95 {
		t.Errorf("%d bytes, want 90 of d1 and 5 of d3", of[0])
	}
}
