package multiproc

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// stormStep so many dials are to work within anybody's patience.
const stormStep = 25

// stormTries are how often somebody dials who is not let in.
const stormTries = 8

// storm dials Count times at once, uses each endpoint, and says how many worked. A dial may time out, for a system that drops connections leaves the rest to
// the peer's, which waits longer each time; then it is made again.
func storm(s *self, j job) {
	n, err := braid.Open(braid.Options{Times: braid.Times{Handshake: 3 * time.Second, Keepalive: time.Minute, Peer: time.Minute}})
	s.must(err)
	defer n.Close()
	w, err := n.NewWorker()
	s.must(err)
	ctx, cancel := context.WithTimeout(context.Background(), lifetime)
	defer cancel()
	s.say("ready")
	<-s.heard // all begin together
	var good, again atomic.Int64
	var all sync.WaitGroup
	for range j.Count {
		all.Go(func() {
			ep, err := w.Dial(ctx, j.Addr)
			for try := 1; errors.Is(err, braid.ErrDial) && try < stormTries; try++ {
				again.Add(1)
				ep, err = w.Dial(ctx, j.Addr)
			}
			if err == nil {
				err = ep.SendAM(ctx, amCount, nil, nil)
			}
			if err == nil {
				err = ep.Flush(ctx)
			}
			if err != nil {
				s.die("%v", strings.ReplaceAll(err.Error(), "\n", "; "))
			}
			if n := good.Add(1); n%stormStep == 0 {
				s.say("good %d", n)
			}
		})
	}
	all.Wait()
	s.say("again %d", again.Load())
	<-s.heard
}

// TestC8_Storm: two thousand dials at once, from four processes on another host, to a listener whose system keeps sixteen connections waiting. Each gets
// in, few need a second dial, and who was there before goes on.
func TestC8_Storm(t *testing.T) {
	begin(t)
	w := newWorld(t, 1)
	processes, each := 4, 500
	if testing.Short() {
		each = 50
	}
	p := w.pair(sides{listenEnv: []string{"BRAID_TCP_BACKLOG=16"}})
	p.dialed(lane1)
	var dialers []*child
	for range processes {
		c := start(t, job{Role: "storm", Netns: w.left, Addr: "10.77.1.2" + p.port, Count: each})
		c.expect("ready")
		dialers = append(dialers, c)
	}
	for _, c := range dialers {
		c.tell("go")
	}
	for _, c := range dialers {
		for n := 0; n < each; n += stormStep {
			c.expect("good")
		}
		t.Logf("%d of %d dials were made again", c.number("again"), each)
	}
	p.becomes(lane1)
	for _, c := range dialers {
		c.tell("end")
		c.exits()
	}
	p.ends()
}
