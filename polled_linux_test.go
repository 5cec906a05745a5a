package braid_test

import (
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// TestArmAfterPolling: Arm is false, or the descriptor tells, of what arrived while nobody watched or comes after.
func TestArmAfterPolling(t *testing.T) {
	for _, before := range []bool{true, false} {
		o := connectPolled(t, braid.Options{Owned: true, Times: braid.Times{Keepalive: time.Hour}})
		got := false
		o.aw.HandleAM(1, func(*braid.Message) { got = true })
		l := newEventLoop(t, o.aw, 0)
		for range polling {
			o.turn()
		}
		send := func() {
			o.b.PostAM(1, nil, nil).Release()
			o.bw.Progress()
		}
		if before {
			send()
		}
		armed := o.aw.Arm()
		if !before {
			send()
		}
		if armed && !l.sleep(patience) {
			t.Errorf("sent before Arm: %v: the descriptor does not tell", before)
		}
		for end := time.Now().Add(patience); !got && time.Now().Before(end); {
			o.aw.Progress()
		}
		if !got {
			t.Errorf("sent before Arm: %v: no message", before)
		}
	}
}
