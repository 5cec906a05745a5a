package rail

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openbraid/braid/internal/topo"
)

// TestPace: a change is read at once, a burst of them rarely, and what was found is handed on once more later.
func TestPace(t *testing.T) {
	var p pace
	zero := time.Unix(1000, 0)
	at := func(d time.Duration) time.Time { return zero.Add(d) }
	expect := func(d time.Duration, read, always bool) {
		t.Helper()
		if r, a := p.turn(at(d)); r != read || a != always {
			t.Fatalf("at %v: read %v, always %v", d, r, a)
		}
	}
	expect(0, false, false)
	p.changed(at(0))
	expect(0, true, false)
	p.differed(at(0))
	for d := time.Millisecond; d < gap; d += time.Millisecond { // a burst
		p.changed(at(d))
		expect(d, false, false)
	}
	expect(gap, true, false) // same table: nothing more
	if !p.due.IsZero() {
		t.Fatalf("due at %v though nothing differed", p.due)
	}
	p.changed(at(time.Second))
	expect(time.Second, true, false)
	p.differed(at(time.Second))
	expect(time.Second+settle-1, false, false)
	expect(time.Second+settle, true, true)
	if !p.due.IsZero() {
		t.Fatalf("due at %v after the last time", p.due)
	}
}

// TestRead: this host has a loopback address, and each rail has what the others need of it.
func TestRead(t *testing.T) {
	rails, err := Read()
	if err != nil {
		t.Fatal(err)
	}
	loopback := false
	for _, r := range rails {
		if r.Name == "" || r.Index == 0 || !r.Addr.IsValid() || r.Bits <= 0 || r.Bits > r.Addr.BitLen() {
			t.Errorf("%+v", r)
		}
		loopback = loopback || r.Addr.IsLoopback() && r.Traits&topo.Loopback != 0
	}
	if !loopback {
		t.Errorf("no loopback rail among %v", rails)
	}
}

// TestWatcherEnds: it leaves nothing behind, and calls nobody when nothing changes.
func TestWatcherEnds(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for range 3 {
		w, table, err := Watch(func([]topo.Rail) {})
		if err != nil {
			t.Fatal(err)
		}
		if len(table) == 0 {
			t.Error("no rails")
		}
		w.Close()
	}
}
