package note_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/ledger"
	"github.com/openbraid/braid/internal/perf/note"
)

// TestNote: what is said is what is read, but not who said it.
func TestNote(t *testing.T) {
	n := note.Note{Kind: note.Start, Client: "x", Test: "tag_bw", Size: 24, Pieces: []int{8, 16}, Total: 1 << 40, Verify: true, Tally: ledger.Tally{Lost: 1}, From: new(braid.Endpoint)}
	got, err := note.Parse(n.Bytes())
	n.Version, n.From = note.Version, nil
	if d := cmp.Diff(n, got); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
}

// TestOthers: another version says which, and whatever else has that address is no perftest.
func TestOthers(t *testing.T) {
	for text, want := range map[string]string{
		`{"version":99,"kind":"start"}`:          "speaks version 99",
		`{"version":99,"kind":"start","test":1}`: "no braid perftest",
		"":                                       "no braid perftest",
		"nonsense":                               "no braid perftest",
		`{}`:                                     "speaks version 0",
	} {
		if _, err := note.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
