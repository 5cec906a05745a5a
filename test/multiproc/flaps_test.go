package multiproc

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// TestB19_ServerLinkFlaps: a link of the server goes down and up, again and again, while new clients connect. Traffic goes on, the lane returns each
// time, and each new client gets in on the other lane.
func TestB19_ServerLinkFlaps(t *testing.T) {
	begin(t)
	w := newWorld(t, 2)
	p := w.pair(sides{})
	p.dialed(lane1, lane2)
	times := 6
	if testing.Short() {
		times = 2
	}
	for range times {
		w.set(1, 2, "down")
		p.becomes(lane1)
		newcomer := start(t, job{Role: "send", Netns: w.left, Addr: "10.77.1.2" + p.port}) // dials, flushes, closes
		if lane := newcomer.expect("laneup"); !strings.HasPrefix(lane, "10.77.1.1:") {
			t.Errorf("a new client came in on %s", lane)
		}
		newcomer.exits()
		w.set(1, 2, "up")
		p.becomes(lane1, lane2)
	}
	p.ends()
}

// TestA18_KillReceiverWithout is TestA1_KillReceiver with each part that one can do without switched off, or used, in turn: what is left behind in none of these ways
// is the business of only one of them.
func TestA18_KillReceiverWithout(t *testing.T) {
	for _, c := range []struct {
		name string
		set  map[string]string
	}{
		{"with one lane", map[string]string{"lanes": "1"}},
		{"with no striping", map[string]string{"stripe": "64m"}},
		{"with small frames", map[string]string{"frame": "4k"}},
		{"with little credit", map[string]string{"backlog": "64k", "window": "64k"}},
		{"asleep", map[string]string{"wait": "sleep"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			begin(t)
			s := &braid.Settings{}
			for k, v := range c.set {
				if err := s.Set(k, v, "the test"); err != nil {
					t.Fatal(err)
				}
			}
			receiver := start(t, job{Role: "serve", Addr: "127.0.0.1:0", Size: 8 << 20})
			key, err := parseKey(receiver.expect("key"))
			if err != nil {
				t.Fatal(err)
			}
			w := open(t, braid.Options{Settings: s, Times: hasty()})
			ep := dial(t, w, receiver.expect("addr"))
			posted := flood(ep, key)
			receiver.expect("got")
			receiver.signal(syscall.SIGKILL)
			since := time.Now()
			failed := endAll(t, posted, braid.ErrPeerFailed)
			if took := time.Since(since); took > bound || failed == 0 {
				t.Errorf("%d operations failed, the last after %v, bound %v", failed, took, bound)
			}
			if err := ep.Close(within(t, bound)); !errors.Is(err, braid.ErrPeerFailed) {
				t.Errorf("Close: %v", err)
			}
		})
	}
}
