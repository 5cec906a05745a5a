package rc_test

import (
	"strings"
	"testing"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
)

// TestOptions: an option that can't be is named, alone, with what it may be.
func TestOptions(t *testing.T) {
	for want, o := range map[string]rc.Options{
		"Options.Receives is 1: want 8 to 4096":           {Receives: 1},
		"Options.SegmentBytes is 100: want 8192 to 65536": {SegmentBytes: 100},
		"Options.ReadFrom is -1: want 0 to ":              {ReadFrom: -1},
		"Options.ReadBytes is 1: want ":                   {ReadBytes: 1},
		"Options.SendCQ is 1: want 8 to ":                 {SendCQ: 1},
		"Options.Timeout is 99: want 0 to 31":             {Timeout: 99},
		"Options.RetryCount is 9: want 0 to 7":            {RetryCount: 9},
		"Options.Open is nil":                             {},
	} {
		if want != "Options.Open is nil" {
			o.Open = func(rc.Place) (rdma.Device, error) { return nil, nil }
		}
		if _, err := rc.New(o).Open(transport.Env{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
