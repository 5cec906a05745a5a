package rc_test

import (
	"testing"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport/rc/window"
)

// TestWindowsThatAreBusy: a window that the device does not take back yet is closed to peers at once all the same, holds nothing up, and is given
// back when the device lets go: shut, lost in a repair, and of the probe.
func TestWindowsThatAreBusy(t *testing.T) {
	w := newKeyWorld(t, nil)
	w.dev.busy = true
	w.b.Begin()
	w.ready() // without the window of its probe
	var old []rdma.SGE
	for range 3 {
		b := w.block(4000)
		k := w.open(b)
		if k.Plain() {
			t.Fatal("a plain key")
		}
		old = append(old, rdma.SGE{Addr: k.Addr, LKey: k.RKey})
		k.Shut()
		w.closes(b)
	}
	w.dev.swallow = true
	b := w.block(4000)
	if k := w.open(b); !k.Plain() {
		t.Error("a bind that was swallowed")
	}
	w.closes(b)
	w.dev.swallow = false
	w.until("a repair", func() bool { return w.b.Life() == window.Ready })
	if n := w.dev.windows; n != 1+3+1+1 { // of two probes, of what was shut, and of what was swallowed
		t.Errorf("%d windows are waited for", n)
	}
	for _, k := range old {
		if st := w.read(k.LKey, k.Addr, 500); st == rdma.StatusSuccess {
			t.Error("what was shut opens")
		}
	}
	w.dev.busy = false
	w.until("the windows", func() bool { return w.dev.windows == 0 })
	b = w.block(4000)
	if k := w.open(b); k.Plain() || w.dev.windows != 1 {
		t.Errorf("plain %v, %d windows", k.Plain(), w.dev.windows)
	}
	w.closes(b)
}
