//go:build linux && verbs

package verbs_test

import (
	"net/netip"
	"os"
	"testing"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/rdmatest"
	"github.com/openbraid/braid/rdma/verbs"
)

// address is that of the device under test. These tests have a build tag: where none is they are not there, so that none is skipped in silence.
func address(t testing.TB) netip.Addr {
	t.Helper()
	a, err := netip.ParseAddr(os.Getenv("BRAID_VERBS_LOCAL"))
	if err != nil {
		t.Fatal("BRAID_VERBS_LOCAL must be the address of a RoCE device, such as rxe0's; make verbs runs these tests in a virtual machine that has one")
	}
	return a
}

// open opens the device, closed at the end of the test, when nothing of libibverbs may be left.
func open(t testing.TB) rdma.Device {
	t.Helper()
	d, err := verbs.Open(verbs.Config{Address: address(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// left fails the test if it leaves objects of libibverbs behind. It is called before they are made.
func left(t testing.TB) {
	t.Helper()
	before := verbs.Objects()
	t.Cleanup(func() {
		if n := verbs.Objects() - before; n != 0 {
			t.Errorf("%d objects of libibverbs are left", n)
		}
	})
}

// TestConformance: the suite of devices, with two handles of one device, which is a loop.
func TestConformance(t *testing.T) {
	var pair [2]rdma.Device
	rdmatest.Run(t, rdmatest.Kit{
		Open: func(t testing.TB) [2]rdma.Device {
			left(t)
			pair = [2]rdma.Device{open(t), open(t)}
			return pair
		},
		Cut:     func() { _ = pair[1].Close() },
		Timeout: 16, Short: 16, Slow: true, Truncates: true, WideWindows: true,
		// What the kernel's device says.
		Also: map[rdma.WCStatus][]rdma.WCStatus{
			rdma.StatusRemAccess: {rdma.StatusRemInvReq}, // a right that the queue pair lacks
			rdma.StatusLocProt:   {rdma.StatusLocQPOp},
			rdma.StatusRemInvReq: {rdma.StatusRemOp}, // a receive that is too short
			rdma.StatusLocLen:    {rdma.StatusLocQPOp},
		},
	})
}
