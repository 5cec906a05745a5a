package files

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openbraid/braid"
)

// TestMeter: bytes of all lives of a way, whatever its ports and path numbers become.
func TestMeter(t *testing.T) {
	var m Meter
	up := func(id, local, remote string, n uint64) braid.Lane {
		return braid.Lane{Instance: id, Local: local, Remote: remote, State: "up", PostedBytes: n}
	}
	m.look([]braid.Lane{up("d1", "10.0.0.1:5", "10.0.0.2:7", 10), up("d2", "[fd00::1]:5", "[fd00::2]:7", 20), up("d3", "10.0.0.1:6", "10.0.0.2:7", 1)})
	m.Note(braid.Event{Kind: braid.LaneDown, Instance: "d1", Posted: 100})
	m.Note(braid.Event{Kind: braid.LaneDown, Instance: "d2", Posted: 200})
	m.look([]braid.Lane{up("d3", "10.0.0.1:6", "10.0.0.2:7", 2), {Instance: "d1", Local: "10.0.0.1:5", Remote: "10.0.0.2:7", State: "lost", PostedBytes: 100}})
	m.look([]braid.Lane{up("d3", "10.0.0.1:6", "10.0.0.2:7", 2), up("d1", "10.0.0.1:5", "10.0.0.2:7", 90)}) // seen before, told late
	m.look([]braid.Lane{up("d3", "10.0.0.1:6", "10.0.0.2:7", 2)})
	got, lost := m.Totals()
	want := []LaneTotal{{"10.0.0.1->10.0.0.2", "up", 102}, {"fd00::1->fd00::2", "down", 200}}
	if d := cmp.Diff(want, got); d != "" || lost != 2 {
		t.Errorf("lost %d: %s", lost, d)
	}
}
