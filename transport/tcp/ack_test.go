package tcp

import (
	"testing"

	"github.com/openbraid/braid/transport"
)

// TestAsksForWhatItKeeps: small frames are kept in memory of the transport until they are acknowledged, so it asks in time; frames that
// nobody keeps are acknowledged seldom, each of which costs both sides a system call.
func TestAsksForWhatItKeeps(t *testing.T) {
	for _, c := range []struct {
		retain bool
		most   uint64 // bytes that the receiver owes an acknowledgement for
	}{{true, askEvery}, {false, ackBytes}} {
		f, ends := crowd(t, 1)
		from, to := f.eps[0], ends.b.eps[0]
		from.Admit(maxFrame, c.retain)
		to.Admit(maxFrame, c.retain)
		p := from.sink.(*party)
		frame := &transport.Frame{ID: 1, Payload: make([]byte, 4<<10), Done: p}
		owed := uint64(0)
		for p.ended < 1000 {
			for range 8 {
				from.Post(frame) // or there is no room now
			}
			f.Flush()
			f.Progress()
			ends.b.Progress()
			ends.b.Flush()
			owed = max(owed, to.in.acceptedBytes-to.acks.outBytes)
		}
		if low := c.most / 2; owed > c.most || owed < low {
			t.Errorf("kept: %v: up to %d bytes are owed an acknowledgement, want %d to %d", c.retain, owed, low, c.most)
		}
	}
}
