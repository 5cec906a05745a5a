package rdma_test

import (
	"fmt"
	"testing"

	"github.com/openbraid/braid/rdma"
)

// TestPrint: what logs show of sets, sizes and events are names, as for all other values.
func TestPrint(t *testing.T) {
	for _, c := range []struct {
		what any
		want string
	}{
		{rdma.AccessLocalWrite | rdma.AccessRemoteRead, "LOCAL_WRITE|REMOTE_READ"},
		{rdma.Access(0), "none"},
		{rdma.FlagSignaled | rdma.FlagFence, "SIGNALED|FENCE"},
		{rdma.WCHasImm | rdma.WCHasGRH | 1<<7, "IMM|GRH|0x80"},
		{rdma.MTU4096, "4096"},
		{rdma.QPType(0), "type(0)"},
		{rdma.Event{Type: rdma.EventPortDown}, "port down"},
		{rdma.Event{Type: rdma.EventNeighbour, GID: rdma.GID{10: 0xff, 11: 0xff, 12: 10, 15: 1}}, "neighbour change: 10.0.0.1"},
	} {
		if got := fmt.Sprint(c.what); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
