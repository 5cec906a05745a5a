package files

import (
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// TestQuiet: how long the other side may say nothing follows from what holds, whoever said it: it may be without a lane for so long.
func TestQuiet(t *testing.T) {
	var s braid.Settings
	if err := s.Set("suspended", "5m", "a test"); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[time.Duration]braid.Options{
		30 * time.Second: {}, 5 * time.Minute: {Settings: &s}, 7 * time.Second: {Settings: &s, Times: braid.Times{Suspended: 7 * time.Second}},
	} {
		n, err := braid.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		if got := newPeer(n).quiet; got != want+moreQuiet {
			t.Errorf("%v, want %v", got, want+moreQuiet)
		}
		n.Close()
	}
}
