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
}
