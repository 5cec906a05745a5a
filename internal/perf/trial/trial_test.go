package trial

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/verdict"
)

// TestLaneGivenUp: what is told of a lane that never stood again is written down in the slot that it had.
func TestLaneGivenUp(t *testing.T) {
	var out bytes.Buffer
	x := New(Options{Events: &out})
	for _, host := range []string{"127.0.0.1", "127.0.0.2"} {
		defer x.Injector().Pipe(host+":50", host+":7").Close()
		x.Event(braid.Event{Kind: braid.LaneUp, Lane: host + ":50->" + host + ":7", Instance: "d" + host})
	}
	x.Begin(2)
	x.Event(braid.Event{Kind: braid.LaneGivenUp, Lane: "127.0.0.2->127.0.0.2:7", Err: errors.New("refused")})
	x.Event(braid.Event{Kind: braid.LaneGivenUp, Lane: "127.0.0.3->127.0.0.3:7", Err: errors.New("refused")})
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	var slots []int
	for dec := json.NewDecoder(&out); dec.More(); {
		var e verdict.Event
		if err := dec.Decode(&e); err != nil {
			t.Fatal(err)
		}
		if e.Event == "LaneGivenUp" {
			slots = append(slots, e.Lane)
		}
		if e.Lane == 1 && e.Event == "LaneGivenUp" && (e.Error != "refused" || e.Name != "127.0.0.2->127.0.0.2:7" || e.Device == "") {
			t.Errorf("%+v", e)
		}
	}
	if len(slots) != 2 || slots[0] != 1 || slots[1] != -1 {
		t.Errorf("slots %v", slots)
	}
}
