package pace_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/pace"
)

// TestFlow: whatever happens, there is a window, and it is no larger than it may be; progress without loss opens it whole.
func TestFlow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 300).Draw(t, "most")
		f := pace.NewFlow(most)
		for range rapid.IntRange(0, 50).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				f.Lost(false)
			case 1:
				f.Lost(true)
			case 2:
				f.Probe()
			case 3:
				f.Acked(rapid.IntRange(1, 100).Draw(t, "n"))
			}
			if f.Window < 1 || f.Window > max(most, 2) {
				t.Fatalf("window %d of %d", f.Window, most)
			}
		}
		for range most * most * 2 {
			f.Acked(1)
		}
		if f.Window < most {
			t.Fatalf("window %d of %d after much progress", f.Window, most)
		}
	})
}

func TestLossHalves(t *testing.T) {
	f := pace.NewFlow(256)
	f.Acked(1000)
	f.Lost(false)
	if f.Window != 128 {
		t.Errorf("after a gap: %d", f.Window)
	}
	if f.Lost(true); f.Window != 16 {
		t.Errorf("after a time-out: %d", f.Window)
	}
	if f.Acked(8); f.Window != 24 {
		t.Errorf("after some progress: %d", f.Window)
	}
}

func TestCredit(t *testing.T) {
	c := pace.Credit{Sent: rdma.MaxNum}
	if !c.Allows(false) {
		t.Error("a responder that says nothing does not count")
	}
	c.Granted(rdma.MaxNum, 2) // up to number 1, over the wrap
	for _, want := range []bool{true, true, false} {
		if c.Allows(false) != want {
			t.Errorf("message %d: want %v", c.Sent+1, want)
		}
		c.Sent = rdma.PSNAdd(c.Sent, 1)
	}
	if !c.Allows(true) {
		t.Error("with nothing under way one may be tried")
	}
	c.Granted(0, 0) // an old one: nothing is taken back
	c.Sent = 0
	if !c.Allows(false) {
		t.Error("a credit was taken back")
	}
	if c.Granted(0, -1); !c.Allows(false) {
		t.Error("a responder that stopped counting")
	}
}

func TestSegments(t *testing.T) {
	var s pace.Segments
	for i := range uint32(1000) {
		s.Push(rdma.PSNAdd(rdma.MaxNum-500, int(2*i+1)))
		if s.Count > 10 {
			s.Done(rdma.PSNAdd(rdma.MaxNum-500, int(2*i-8))) // all but the last five
			if s.Count != 5 {
				t.Fatalf("%d are left", s.Count)
			}
		}
	}
}

// TestRTT: probes come a few round trips after the last progress, then ever later, and never after the time-out.
func TestRTT(t *testing.T) {
	const timeout = 100 * time.Millisecond
	var r pace.RTT
	if got := r.Probe(0, timeout); got != 5*time.Millisecond {
		t.Errorf("nothing measured: %v", got)
	}
	if got := r.Probe(0, 8*time.Millisecond); got != 2*time.Millisecond {
		t.Errorf("a short time-out: %v", got)
	}
	now := time.Duration(0)
	measure := func(took time.Duration, n int) {
		for range n {
			r.Sent(1, now)
			r.Sent(2, now+took/2) // one at a time is measured
			now += took
			r.Answered(0, now)
			r.Answered(1, now)
		}
	}
	measure(10*time.Microsecond, 100)
	if got := r.Probe(0, timeout); got != time.Millisecond {
		t.Errorf("a fast peer: %v", got)
	}
	measure(3*time.Millisecond, 100)
	if got := r.Probe(0, timeout); got < 3*time.Millisecond || got > 4*time.Millisecond {
		t.Errorf("a slow and steady one: %v", got)
	}
	r.Sent(1, now)
	r.Repeated()
	r.Answered(1, now+time.Hour)
	if got := r.Probe(0, timeout); got > 4*time.Millisecond {
		t.Errorf("what was sent twice was measured: %v", got)
	}
	last := time.Duration(0)
	for n := range 40 {
		at := r.Probe(n, timeout)
		if at <= last && at != timeout || at > timeout {
			t.Errorf("probe %d after %v, the one before after %v", n, at, last)
		}
		last = at
	}
}
