package braid_test

import (
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// TestOpenRefuses: options that can't be are found at once, and named.
func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		o    braid.Options
		want string
	}{
		{braid.Options{Name: "line\nbreak"}, "Options.Name"},
		{braid.Options{ErrorMode: braid.None + 1}, "Options.ErrorMode"},
		{braid.Options{Lanes: -1}, "Options.Lanes"},
		{braid.Options{Lanes: 17}, `Options.Lanes: lanes can't be "17": want a number from 1 to 16`},
		{braid.Options{Rails: []string{"127.0.0.1", "10.0.0"}}, `Options.Rails: rail "10.0.0": it is no address; write`},
		{braid.Options{Rails: []string{""}}, `Options.Rails: rail "": it is empty`},
		{braid.Options{Limits: braid.Limits{Window: -1}}, "Options.Limits.Window"},
		{braid.Options{Limits: braid.Limits{Pending: -1}}, "Options.Limits.Pending"},
		{braid.Options{Limits: braid.Limits{Message: -1}}, "Options.Limits.Message"},
		{braid.Options{Limits: braid.Limits{Backlog: -1}}, "Options.Limits.Backlog"},
		{braid.Options{Times: braid.Times{Suspended: -time.Second}}, "Options.Times.Suspended"},
		{braid.Options{Times: braid.Times{Lost: -1}}, "Options.Times.Lost"},
	} {
		n, err := braid.Open(c.o)
		if err == nil {
			n.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want an error about %s", err, c.want)
		}
	}
	n, err := braid.Open(braid.Options{Lanes: 16, Rails: []string{"127.0.0.1", "::1", "fe80::1%eth0"}})
	if err != nil {
		t.Fatal(err)
	}
	n.Close()
}

// TestEventsOfNoLane: what concerns no lane names none.
func TestEventsOfNoLane(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	events := make(chan braid.Event, 10)
	p := connect(t, braid.Options{Lanes: 1}, braid.Options{OnEvent: func(e braid.Event) { events <- e }})
	if err := p.a.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if e := <-events; e.Kind != braid.LaneUp || e.Instance != "d1" || e.Lane == "" {
		t.Errorf("%+v, want LaneUp of d1", e)
	}
	if e := <-events; e.Kind != braid.Failed || e.Instance != "" || e.Lane != "" {
		t.Errorf("%+v, want Failed, of no lane", e)
	}
}
