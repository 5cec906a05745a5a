package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
)

// TestCutter: it goes on only when what must happen has happened, and says what did not.
func TestCutter(t *testing.T) {
	const (
		nothingUp  = iota // not even the lanes are up
		noWrite           // they are, but nothing is written
		noNotice          // the cut is not noticed
		noHandOver        // the lane is lost and not handed over
		noReturn          // it does not come back
		allWell
	)
	for ends, says := range []string{"not all lanes are up", "no effect", "not given up", "not handed over", "did not come back", ""} {
		f := newFence(twoRails, fault.New(now))
		w := &laneWatch{}
		stop := make(chan struct{})
		told := atomic.Int32{}
		c := &cutter{
			inj: f.inj, fence: f, time: 10 * time.Millisecond, watch: w, progress: func() float64 { return 1 },
			tell:  func(line) { told.Add(1) },
			waits: patience,
		}
		const soon = 50 * time.Millisecond // for what does not happen; what does has all the time that it takes on a busy machine
		switch ends {
		case noWrite:
			c.waits.worth, c.waits.write = time.Millisecond, soon
		case noNotice:
			c.waits.notice = soon
		case nothingUp, noHandOver, noReturn:
			c.waits.back = soon
		}
		if ends > nothingUp {
			w.note(braid.LaneUp, 0)
			w.note(braid.LaneUp, 1)
		}
		done := make(chan struct{})
		go func() { // the rest of the world
			defer close(done)
			for seen := int32(0); ends > noWrite; time.Sleep(100 * time.Microsecond) {
				select {
				case <-stop:
					return
				default:
				}
				for rail, addr := range twoRails.Addrs {
					s := f.Wrap(&nothing{}, addr+":1", "127.0.0.1:9")
					s.Writev([][]byte{make([]byte, 100<<10)})
					s.Close(false)
					if n := told.Load(); n > seen && int(seen) == rail {
						seen = n
						for i, kind := range []braid.EventKind{braid.LaneDown, braid.HandedOver, braid.LaneUp} {
							if ends > noNotice+i {
								w.note(kind, rail)
							}
						}
					}
				}
			}
		}()
		err := c.run(context.Background())
		close(stop)
		<-done
		if says == "" && (err != nil || len(c.stamps) != len(plans)) || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("case %d: %v, want %q; %d cuts", ends, err, says, len(c.stamps))
		}
	}
}

// TestChildEndsWithItsInput: a child whose parent is gone ends, whatever it is doing.
func TestChildEndsWithItsInput(t *testing.T) {
	in, task := io.Pipe()
	said, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Child("receiver", nil, in, out) }()
	one := rails{Addrs: [lanes]string{"127.0.0.1", "127.0.0.1"}}
	if err := json.NewEncoder(task).Encode(spec{Rails: one, Secret: braid.NewSecret().Text()}); err != nil {
		t.Fatal(err)
	}
	if text, err := bufio.NewReader(said).ReadString('\n'); err != nil || !strings.Contains(text, "Listening") {
		t.Fatalf("%q, %v", text, err)
	}
	task.Close()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("it was told to end: %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("it goes on")
	}
}

// TestMissing: rails without a lane are named, and no others.
func TestMissing(t *testing.T) {
	w := &laneWatch{}
	w.note(braid.LaneUp, 0)
	if err := w.missing([lanes]string{"10.0.0.5", "127.0.0.1"}); !strings.Contains(err.Error(), "from 127.0.0.1 to itself") {
		t.Error(err)
	}
}
