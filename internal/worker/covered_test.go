package worker_test

import (
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/wire"
)

// What a failed endpoint says may be lost is what no flush of everything has covered since, and nothing else.
func TestWhatNoFlushHasCovered(t *testing.T) {
	for _, c := range []struct{ name, do, want string }{
		{"no flush", "put a 0; am a", "2 operations since the last flush"},
		{"a flush", "put a 0; flush a f; settle; put a 0; am a", "2 operations since the last flush"},
		{"a flush of all", "put a 0; flush a f; settle", ""},
		{"one with nothing to wait for", "put a 0; settle; flush a f; put a 0", "1 operations since the last flush"},
		{"one of the worker", "put a 0; wflush a f; settle; put a 0", "1 operations since the last flush"},
		{"one of memory", "put a 0; flush a f memory; settle; put a 0", "2 operations since the last flush"},
		{"one of lanes", "put a 0; flush a f lanes d1; settle; put a 0", "2 operations since the last flush"},
		{"one of buffers", "put a 0; flush a f sent; settle; put a 0", "2 operations since the last flush"},
		{"one that was canceled", "put a 0; put a 0; flush a f; cancel a f; settle; put a 0", "3 operations since the last flush"},
		{"what came behind it", "put a 0; flush a f; put a 0; settle", "1 operations since the last flush"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, 1, wire.ModePeer)
			for _, line := range strings.Split(c.do+"; break d1 reset; settle; flush a last", ";") {
				s.do(t, strings.Fields(line))
			}
			_, said, _ := strings.Cut(s.log.String(), "a: last: ")
			if said == "" || !strings.Contains(said, c.want) || c.want == "" && strings.Contains(said, "since the last flush") {
				t.Errorf("want %q:\n%s", c.want, s.log.String())
			}
		})
	}
}
