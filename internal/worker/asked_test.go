package worker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/wire"
)

// Who waits for the peer's word asks for it. Nothing else would be wrong without that: the peer tells by itself within AckDelay, a millisecond of this network,
// whose round trip is a hundredth of that. So the time until the end is what shows it.
func TestAcknowledgementsAreAskedFor(t *testing.T) {
	const (
		trips = 500 * time.Microsecond
		two   = "prefer a d2; am a; put a 0; send a; " // short ones, on a lane each
	)
	for _, c := range []struct {
		name, do string // which posts what is waited for, as f
	}{
		{"a flush", "put a 0; send a; flush a f"},
		{"a flush of two lanes", two + "flush a f"},
		{"a flush of all lanes by name", two + "flush a f lanes d1 d2"},
		{"a flush of one lane", two + "flush a f lanes d1"},
		{"a flush of another", two + "flush a f lanes d2"},
		{"a flush of memory", two + "flush a f memory"},
		{"a flush of the worker", two + "wflush a f"},
		{"a flush that cancels", two + "flush a f cancel"},
		{"a flush of what waits for a fence", two + "fence a; put a 0; flush a f"},
		{"a flush of what waits for a fence, by region", two + "fence a; put a 0; flush a f memory"},
		{"a flush of what is posted again", "put a 0; break d1 reset; flush a f"},
		{"a flush of what is posted again, with others", "put a 0; am a; break d1 reset; flush a f"},
		{"a flush of a put with a signal", "signal a 1000 x 100000; flush a f"},
		{"a flush of a message in parts", "amp a; flush a f"},
		{"close", two + "close a f"},
		{"what waits for a fence", two + "fence a; get a 0 f"},
		{"what waits for the worker's fence", two + "wfence a; get a 0 f"},
		{"what waits for another fence", two + "fence a; get a 0 x; settle; am a; put a 0; send a; fence a; get a 0 f"},
		{"messages that move to another lane", "am a; send a; prefer a d2; am a f"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, 2, wire.ModeFailover)
			for _, line := range strings.Split(c.do, ";") {
				s.do(t, strings.Fields(line))
			}
			began, ended := s.net.Now(), func() bool { return strings.Contains(s.log.String(), "a: f ended") }
			if ended() {
				t.Fatal("there was nothing to wait for")
			}
			if !s.until(time.Second, ended) || s.net.Now()-began > trips {
				t.Errorf("after %v: ended %v, want within %v\n%s", s.net.Now()-began, ended(), trips, s.log.String())
			}
		})
	}
}
