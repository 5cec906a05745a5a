package fault_test

import (
	"slices"
	"testing"

	"github.com/openbraid/braid/fault"
)

// TestWhere: each word that says to what a rule is done, against connections of each kind.
func TestWhere(t *testing.T) {
	for text, want := range map[string][]string{
		"":                         {"rc", "shm", "tcp", "tcp far"},
		"lane=1":                   {"tcp far"},
		"lane=lo":                  {"rc", "tcp"},
		"lane=nosuch":              nil,
		"rail=127.0.0.1":           {"rc", "tcp"},
		"rail=2.2.2.2":             nil,
		"rail=2.2.2.2 side=local":  nil,
		"rail=2.2.2.2 side=remote": {"tcp", "tcp far"},
		"rail=1.1.1.1 side=either": {"tcp far"},
		"rail=2.2.2.2 side=either": {"tcp", "tcp far"},
		"on=tcp":                   {"tcp", "tcp far"},
		"on=rc":                    {"rc"},
		"on=shm":                   {"shm"},
		"on=tcp rail=127.0.0.1":    {"tcp"},
		"on=shm lane=0":            nil,
		"lane=3 on=shm":            {"shm"},
		"lane=1 rail=9.9.9.9":      nil,
		"on=tcp lane=lo dir=tx":    {"tcp"},
	} {
		inj := fault.New((&clock{t: 1}).now)
		near, far := dial(t, inj, "127.0.0.1:1", "2.2.2.2:2"), dial(t, inj, "1.1.1.1:1", "2.2.2.2:2")
		link, pipe := inj.Link("127.0.0.1:3"), inj.Pipe("shm:1", "shm:2")
		pipe.Stands()
		kind := "cut kind=silence "
		inj.Apply(rules(t, kind+text)...)
		var got []string
		for _, h := range inj.Report()[0].Strokes[0].Hit {
			name := h.On
			if h.Local == "1.1.1.1:1" {
				name += " far"
			}
			got = append(got, name)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%q is about %q, want %q", text, got, want)
		}
		if hits := inj.Report()[0].Hits; int(hits) != len(want) {
			t.Errorf("%q: %d hits, want %d", text, hits, len(want))
		}
		inj.Close()
		link.Close()
		pipe.Close()
		near.Close(false)
		far.Close(false)
	}
}
