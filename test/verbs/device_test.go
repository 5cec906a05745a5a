//go:build linux && verbs

package verbs

import (
	"net/netip"
	"os/exec"
	"testing"

	"github.com/openbraid/braid/rdma/verbs"
)

// TestDeviceGoes: the system takes the device of a rail away under load, while both ends have it open, and gives it back. The kernel waits until both have let go of it, the one that listens
// too; the lane comes back with the device.
func TestDeviceGoes(t *testing.T) {
	w := newWorld(t, nil)
	d, err := verbs.Find(verbs.Config{Address: netip.MustParseAddr(w.rails[1])})
	if err != nil {
		t.Fatal(err)
	}
	add := []string{"link", "add", d.Name, "type", "rxe", "netdev", w.links[1]}
	t.Cleanup(func() { _ = exec.Command("rdma", add...).Run() })
	stop := w.load()
	for range 3 {
		down := w.lost(func() { run(t, "timeout", "60", "rdma", "link", "delete", d.Name) })
		if byWaiting(down.Err) {
			t.Errorf("it was lost by %v, not by what is known at once", down.Err)
		}
		run(t, "rdma", add...)
		w.until("the lane to come back", w.whole)
	}
	stop()
	w.closes()
}
