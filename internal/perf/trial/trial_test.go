package trial

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/verdict"
)

// TestKinds: an event is called in the file of --events what braid calls it, and what the judge knows it by.
func TestKinds(t *testing.T) {
	name := func(k braid.EventKind) (s string) {
		defer func() { _ = recover() }() // there are no more
		return k.String()
	}
	var kinds []string
	for k := braid.EventKind(0); name(k) != ""; k++ {
		kinds = append(kinds, name(k))
	}
	if kinds = append(kinds, verdict.FaultOn, verdict.FaultOff); !slices.Equal(kinds, verdict.Kinds[:]) {
		t.Errorf("%q are told, and %q are known", kinds, verdict.Kinds)
	}
}

// TestLaneGivenUp: what is told of a lane that never stood again is written down in the slot that it had.
func TestLaneGivenUp(t *testing.T) {
	var out bytes.Buffer
	x := New(Options{Events: &out})
	for _, host := range []string{"127.0.0.1", "127.0.0.2"} {
		defer x.Injector().Pipe(host+":50", host+":7").Close()
		x.Event(braid.Event{Kind: braid.LaneUp, Lane: host + ":50->" + host + ":7", Instance: "d" + host})
	}
	x.Begin(2, func() {})
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

// TestWatch: nobody is waited for longer than patience lasts, and patience lasts as long as all is well.
func TestWatch(t *testing.T) {
	var w watch
	w.end() // before it began
	asked, away := 0, make(chan int, 1)
	w.begin(looks*time.Millisecond, func() bool { asked++; return asked <= 20 }, func() { away <- asked })
	if n := <-away; n < 20+looks-1 {
		t.Errorf("given up after %d looks", n)
	}
	w.end()
	w.end()
	var well watch
	well.begin(looks*time.Microsecond, func() bool { return true }, func() { t.Error("given up, and all was well") })
	time.Sleep(20 * time.Millisecond)
	well.end()
}
