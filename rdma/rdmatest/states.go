package rdmatest

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openbraid/braid/rdma"
)

//go:embed testdata
var golden embed.FS

// states drives queue pairs into each state, asks for each event there, and compares what they do with a golden file: the same
// for all devices.
func states(t *testing.T, b *bench) {
	for _, typ := range []rdma.QPType{rdma.TypeRC, rdma.TypeUD} {
		var got strings.Builder
		for s := rdma.Reset; s < rdma.QPStates; s++ {
			if s == rdma.SQE && (!typ.Datagram() || b.k.Truncates) {
				continue
			}
			fmt.Fprintf(&got, "%v\n", s)
			for to := rdma.Reset; to < rdma.QPStates; to++ {
				x := b.reach(typ, s)
				err := x.qp.Modify(x.full(to))
				fmt.Fprintf(&got, "  modify to %-6v %v%s\n", to, x.qp.State(), refused(err))
			}
			x := b.reach(typ, s)
			_, st := x.qp.PostRecv([]rdma.RecvWR{{ID: 1}})
			fmt.Fprintf(&got, "  receive          %v%s\n", st, x.soon(&x.recvs))
			x = b.reach(typ, s)
			_, st = x.qp.PostSend([]rdma.SendWR{x.any(typ)})
			fmt.Fprintf(&got, "  send             %v%s\n", st, x.soon(&x.sends))
		}
		file := "testdata/" + strings.ToLower(typ.String()) + ".txt"
		if os.Getenv("BRAID_UPDATE") != "" {
			if err := os.WriteFile("../rdmatest/"+file, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := golden.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if b.k.Truncates {
			want = without(want, rdma.SQE)
		}
		if d := cmp.Diff(string(want), got.String()); d != "" {
			t.Errorf("%s (-want +got):\n%s", file, d)
		}
	}
}

// without is the table without what it says of a state.
func without(table []byte, s rdma.QPState) []byte {
	out, skip := []byte(nil), false
	for line := range bytes.Lines(table) {
		if line[0] != ' ' {
			skip = string(line) == s.String()+"\n"
		}
		if !skip {
			out = append(out, line...)
		}
	}
	return out
}

func refused(err error) string {
	if err != nil {
		return ", refused"
	}
	return ""
}

// soon is how what was posted completes without anybody's help.
func (x *side) soon(list *[]rdma.WC) string {
	x.b.settle()
	for _, wc := range *list {
		if wc.ID == 1 {
			return ", then " + wc.Status.String()
		}
	}
	return ""
}

// any is a work request that can be done.
func (x *side) any(typ rdma.QPType) rdma.SendWR {
	y := x.b.side[1]
	wr := rdma.SendWR{ID: 1, Op: rdma.OpWrite, Flags: rdma.FlagSignaled, SGL: x.sge(0, 8), RKey: y.mr.RKey(), Addr: y.mr.Addr()}
	if typ.Datagram() {
		ah, err := x.pd.CreateAH(x.route(y))
		x.b.ok(err, "an address handle")
		wr.Op, wr.AH, wr.DestQPN = rdma.OpSend, ah, y.qp.Num()
	}
	return wr
}

// full are the attributes of a step, as far as it needs them.
func (x *side) full(to rdma.QPState) (rdma.QPAttr, rdma.AttrMask) {
	var s shape
	s.fill(x.dev)
	a := x.attr(s, x.b.side[1])
	a.State = to
	for _, m := range []rdma.AttrMask{mask(to, x.qp.Type().Datagram()), 0} {
		if rdma.CheckModify(x.qp.Type(), x.qp.State(), &a, m) == nil {
			return a, m
		}
	}
	return a, mask(to, x.qp.Type().Datagram())
}

// reach brings side a into a state; side b is in RTS.
func (b *bench) reach(typ rdma.QPType, s rdma.QPState) *side {
	b.t.Helper()
	for _, old := range b.side {
		if old != nil {
			b.ok(old.qp.Destroy(), "the queue pair before")
		}
	}
	sh := shape{typ: typ, memory: 8192}
	x, y := b.make(sh)
	sh.fill(x.dev)
	for _, to := range []rdma.QPState{rdma.Init, rdma.RTR, rdma.RTS} {
		y.step(to, y.attr(sh, x))
		if to <= s {
			x.step(to, x.attr(sh, y))
		}
	}
	switch s {
	case rdma.SQD, rdma.Err:
		x.step(s, rdma.QPAttr{})
	case rdma.SQE:
		wr := x.any(typ)
		wr.ID, wr.SGL = 2, x.sge(0, 5000)
		x.send(wr)
		x.one(rdma.StatusLocLen)
	case rdma.Reset, rdma.Init, rdma.RTR, rdma.RTS, rdma.QPStates:
	}
	if x.qp.State() != s {
		b.t.Fatalf("%v queue pair is in %v, want %v", typ, x.qp.State(), s)
	}
	return x
}
