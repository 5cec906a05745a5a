package rdma_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/golden"
	"github.com/openbraid/braid/rdma"
)

// TestStateTables: each state with each event, and the attributes of each Modify, are golden files.
func TestStateTables(t *testing.T) {
	for _, typ := range []rdma.QPType{rdma.TypeRC, rdma.TypeUD} {
		golden.Same(t, "testdata/"+strings.ToLower(typ.String())+".txt", rdma.StateTable(typ))
	}
	if rdma.StateTable(rdma.TypeGSI) != rdma.StateTable(rdma.TypeUD) {
		t.Error("the well-known queue pair lives as other datagram ones")
	}
}

// attrs are values that every step may take.
func attrs(to rdma.QPState) *rdma.QPAttr {
	return &rdma.QPAttr{State: to, PathMTU: rdma.MTU1024, DestQPN: 5, RQPSN: rdma.MaxNum, SQPSN: 1, Timeout: 14, RetryCount: 7,
		RNRRetry: 7, MinRNRTimer: 12, MaxReads: 4, MaxDestReads: 4, Access: rdma.AccessRemote}
}

func TestCheckModify(t *testing.T) {
	const toRTR = rdma.MaskAV | rdma.MaskPathMTU | rdma.MaskDestQPN | rdma.MaskRQPSN | rdma.MaskMaxDestReads | rdma.MaskMinRNRTimer
	for _, c := range []struct {
		name   string
		typ    rdma.QPType
		from   rdma.QPState
		to     rdma.QPState
		mask   rdma.AttrMask
		change func(*rdma.QPAttr)
		want   error
		text   string
	}{
		{name: "all there", typ: rdma.TypeRC, from: rdma.Init, to: rdma.RTR, mask: toRTR},
		{name: "one missing", typ: rdma.TypeRC, from: rdma.Init, to: rdma.RTR, mask: toRTR &^ rdma.MaskRQPSN,
			want: rdma.ErrInvalid, text: "INIT to RTR needs rq psn"},
		{name: "one too many", typ: rdma.TypeRC, from: rdma.Init, to: rdma.RTR, mask: toRTR | rdma.MaskQKey,
			want: rdma.ErrInvalid, text: "doesn't take qkey"},
		{name: "no such step", typ: rdma.TypeRC, from: rdma.Reset, to: rdma.RTS, want: rdma.ErrState, text: "from RESET to RTS"},
		{name: "SQE is for datagrams", typ: rdma.TypeRC, from: rdma.SQE, to: rdma.RTS, want: rdma.ErrState},
		{name: "SQE to RTS", typ: rdma.TypeUD, from: rdma.SQE, to: rdma.RTS, mask: rdma.MaskQKey},
		{name: "nobody asks for SQE", typ: rdma.TypeUD, from: rdma.RTS, to: rdma.SQE, want: rdma.ErrState},
		{name: "unknown bit", typ: rdma.TypeRC, from: rdma.RTS, to: rdma.RTS, mask: 1 << 20,
			want: rdma.ErrInvalid, text: "unknown bits 0x100000"},
		{name: "no state", typ: rdma.TypeRC, from: rdma.RTS, to: rdma.QPStates, want: rdma.ErrInvalid},
		{name: "psn", typ: rdma.TypeRC, from: rdma.Init, to: rdma.RTR, mask: toRTR,
			change: func(a *rdma.QPAttr) { a.RQPSN = 1 << 24 }, want: rdma.ErrInvalid, text: "rq psn must be 24 bits"},
		{name: "mtu", typ: rdma.TypeRC, from: rdma.Init, to: rdma.RTR, mask: toRTR,
			change: func(a *rdma.QPAttr) { a.PathMTU = 0 }, want: rdma.ErrInvalid, text: "path mtu"},
		{name: "what isn't meant isn't looked at", typ: rdma.TypeRC, from: rdma.RTS, to: rdma.Err,
			change: func(a *rdma.QPAttr) { a.SQPSN = 1 << 30 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := attrs(c.to)
			if c.change != nil {
				c.change(a)
			}
			err := rdma.CheckModify(c.typ, c.from, a, c.mask)
			if !errors.Is(err, c.want) || (err != nil && !strings.Contains(err.Error(), c.text)) {
				t.Errorf("got %v, want %v with %q", err, c.want, c.text)
			}
		})
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		a, b uint32
		want int
	}{
		{5, 5, 0}, {6, 5, 1}, {5, 6, -1}, {0, rdma.MaxNum, 1}, {rdma.MaxNum, 0, -1}, {1 << 23, 0, -(1 << 23)}, {1<<23 - 1, 0, 1<<23 - 1},
	} {
		if got := rdma.PSNDiff(c.a, c.b); got != c.want {
			t.Errorf("PSNDiff(%#x, %#x) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := rdma.PSNAdd(c.b, c.want); got != c.a {
			t.Errorf("PSNAdd(%#x, %d) = %#x, want %#x", c.b, c.want, got, c.a)
		}
	}
	for _, c := range []struct {
		length uint32
		want   uint32
	}{{0, 1}, {1, 1}, {1024, 1}, {1025, 2}, {1 << 31, 1 << 21}, {1<<32 - 1, 1 << 22}} {
		if got := rdma.Packets(c.length, rdma.MTU1024); got != c.want {
			t.Errorf("Packets(%d) = %d, want %d", c.length, got, c.want)
		}
	}
	if got := rdma.AckTimeout(14); got != 67108864*time.Nanosecond {
		t.Errorf("AckTimeout(14) = %v", got)
	}
	if rdma.AckTimeout(0) != 0 || rdma.RNRDelay(0) != 655360*time.Microsecond || rdma.RNRDelay(1) != 10*time.Microsecond ||
		rdma.RNRDelay(12) != 640*time.Microsecond || rdma.RNRDelay(31) != 491520*time.Microsecond {
		t.Error("a timer's code")
	}
	for link, want := range map[int]rdma.MTU{1500: rdma.MTU1024, 4200: rdma.MTU4096, 9000: rdma.MTU4096, 65536: rdma.MTU4096, 300: 0, 576: rdma.MTU256} {
		if got := rdma.MTUFor(link); got != want {
			t.Errorf("MTUFor(%d) = %v, want %v", link, got, want)
		}
	}
	if p := rdma.UDPSourcePort(0xfffff); p < 0xc000 {
		t.Errorf("source port %#x", p)
	}
}
