package health

import (
	"testing"
	"time"
)

// TestProbesForOthersDontRenewSilence: beside a lane that is suspected again and again, since it is slow to acknowledge, an idle
// lane that is dead is still found. Each suspicion asks all lanes, the dead one too.
func TestProbesForOthersDontRenewSilence(t *testing.T) {
	e := New(someConfig())
	dead, slow := Lane{Owner: "dead"}, Lane{Owner: "slow"}
	e.Add(0, &dead, 0, 1)
	e.Add(0, &slow, 0, 1)
	trips := uint64(0)
	for now := time.Duration(0); now < 3*time.Second; now += time.Millisecond {
		if now%(18*time.Millisecond) == 0 {
			trips++
		}
		e.Note(now, &slow, trips, true)
		e.Note(now, &dead, 0, false)
		actions, _ := e.Tick(now)
		for _, a := range actions {
			switch {
			case a.Do == Condemn && a.Lane == &dead:
				if limit := someConfig().Keepalive + 150*time.Millisecond; now > limit {
					t.Fatalf("found after %v, want %v at the most", now, limit)
				}
				return
			case a.Do != Probe:
				t.Fatalf("%v: %v", now, a.Do)
			case a.Lane == &slow:
				e.Pong(now, &slow, a.Nonce)
			}
		}
	}
	t.Fatal("the dead lane was never found")
}

// TestHungProxy: somebody on the way takes all that a lane is given, for ever, and nothing of it is answered. It is excused for PeerTimeout, and given up then,
// since the peer answers on another lane.
func TestHungProxy(t *testing.T) {
	e := New(someConfig())
	dead, good := Lane{Owner: "dead"}, Lane{Owner: "good"}
	e.Add(0, &dead, 0, 1)
	e.Add(0, &good, 0, 1)
	limit := someConfig().PeerTimeout
	for now := time.Duration(0); now < 2*limit; now += time.Millisecond {
		e.Note(now, &dead, 0, true)
		e.Reached(now, &dead, uint64(now)+1)
		actions, _ := e.Tick(now)
		for _, a := range actions {
			switch {
			case a.Do == Condemn && a.Lane == &dead:
				if now < limit || now > limit+100*time.Millisecond {
					t.Fatalf("given up after %v, want %v", now, limit)
				}
				return
			case a.Do != Probe:
				t.Fatalf("%v: %v", now, a.Do)
			case a.Lane == &good:
				e.Pong(now, &good, a.Nonce)
			}
		}
	}
	t.Fatal("it was never given up")
}
