package files

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/internal/files/dialogue"
)

// TestSlowLane: what is said of a piece may take a faster lane than its bytes; it is said when they are there, so both agree.
func TestSlowLane(t *testing.T) {
	tidy(t)
	sizes := map[string]int{}
	for i := range 16 { // the end of each is a small piece: what is lent is there when it is sent, what is copied is not
		sizes[fmt.Sprintf("f%02d", i)] = dialogue.PieceBytes + 100
	}
	dir := plant(t, sizes)
	for _, rail := range rails { // one of them is the lane of messages
		node, inj := faulty(t)
		node.Times.Lost, node.Times.Probe = 20*time.Second, 10*time.Second // slow is not dead
		var worker atomic.Pointer[braid.Worker]
		inj.Wake = func() {
			if w := worker.Load(); w != nil {
				w.Wake()
			}
		}
		stop := drive(inj)
		lanes := 0
		event := func(e braid.Event) {
			worker.Store(e.Endpoint.Worker())
			if e.Kind == braid.LaneUp {
				if lanes++; lanes == len(rails) {
					inj.Apply(fault.Rule{Action: fault.Delay, Rail: rail, Dir: fault.Tx, Delay: 30 * time.Millisecond})
				}
			}
		}
		r := receive(t, ReceiveOptions{})
		_, err := sendAs(t, SendOptions{Addr: r.addr, Paths: []string{dir}, Node: node, Event: event})
		stop()
		if err != nil || lanes < len(rails) {
			t.Errorf("%s is slow: %d lanes, %v", rail, lanes, err)
			continue
		}
		same(t, dir, filepath.Join(r.dir, "tree"))
	}
}

// drive lets what an injector holds back go on in time.
func drive(inj *fault.Injector) (stop func()) {
	tick, quit, done := time.NewTicker(2*time.Millisecond), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-tick.C:
				inj.Advance()
			case <-quit:
				return
			}
		}
	}()
	return func() { tick.Stop(); close(quit); <-done }
}
