package soft_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/packet"
)

// vault is a protection domain of side b with a region, a window of each type, and queue pairs to make more of.
type vault struct {
	*lab
	t   *testing.T
	pd  rdma.PD
	cq  rdma.CQ
	mr  rdma.MR
	mws [3]rdma.MW // by type
}

func (l *lab) vault(t *testing.T, access rdma.Access) *vault {
	t.Helper()
	v := &vault{lab: l, t: t}
	var err [5]error
	v.pd, err[0] = l.l.dev[1].AllocPD()
	v.cq, err[1] = l.l.dev[1].CreateCQ(64)
	v.mr, err[2] = v.pd.RegMR(make([]byte, 4096), access)
	v.mws[1], err[3] = v.pd.AllocMW(rdma.Window1)
	v.mws[2], err[4] = v.pd.AllocMW(rdma.Window2)
	if e := errors.Join(err[:]...); e != nil {
		t.Fatal(e)
	}
	return v
}

// qp is a connection of side b's to who is told by inject.
func (v *vault) qp() rdma.QP {
	v.t.Helper()
	q, err := v.pd.CreateQP(rdma.QPInit{Type: rdma.TypeRC, SendCQ: v.cq, RecvCQ: v.cq, SigAll: true, Cap: rdma.QPCap{SendBlocks: 16, SendSGE: 1, RecvWR: 4, RecvSGE: 1}})
	if err != nil {
		v.t.Fatal(err)
	}
	for _, s := range []struct {
		a rdma.QPAttr
		m rdma.AttrMask
	}{
		{rdma.QPAttr{State: rdma.Init, Access: rdma.AccessRemote}, rdma.MaskAccess},
		{rdma.QPAttr{State: rdma.RTR, AV: rdma.AHAttr{DGID: rdma.GIDFrom(v.peer.Addr()), Port: v.peer.Port()}, PathMTU: rdma.MTU4096, DestQPN: 7, MaxDestReads: 4},
			rdma.MaskAV | rdma.MaskPathMTU | rdma.MaskDestQPN | rdma.MaskRQPSN | rdma.MaskMaxDestReads | rdma.MaskMinRNRTimer},
		{rdma.QPAttr{State: rdma.RTS, Timeout: 14, RetryCount: 7, MaxReads: 4}, rdma.MaskSQPSN | rdma.MaskTimeout | rdma.MaskRetryCount | rdma.MaskRNRRetry | rdma.MaskMaxReads},
	} {
		if err := q.Modify(s.a, s.m); err != nil {
			v.t.Fatal(err)
		}
	}
	return q
}

// does posts a work request that no packet leaves for, and says how it ended.
func (v *vault) does(q rdma.QP, wr rdma.SendWR) rdma.WCStatus {
	v.t.Helper()
	if _, st := q.PostSend([]rdma.SendWR{wr}); st != rdma.Posted {
		v.t.Fatal(st)
	}
	var wc [1]rdma.WC
	if v.cq.Poll(wc[:]) != 1 {
		v.t.Fatal("no completion")
	}
	return wc[0].Status
}

// bind opens the first n bytes of a region.
func (v *vault) bind(q rdma.QP, mw rdma.MW, mr rdma.MR, n uint64, a rdma.Access) rdma.WCStatus {
	v.t.Helper()
	return v.does(q, rdma.SendWR{Op: rdma.OpBindMW, Bind: rdma.Bind{MW: mw, MR: mr, Addr: mr.Addr(), Length: n, Access: a}})
}

// reads says whether the peer of a queue pair may read with a key; if not, the queue pair has ended.
func (v *vault) reads(q rdma.QP, key uint32, mr rdma.MR) bool {
	v.inject(v.peer, &packet.Packet{Opcode: packet.ReadRequest, DestQP: q.Num(), PSN: q.Query().RQPSN, RKey: key, VA: mr.Addr(), Len: 8})
	return q.State() == rdma.RTS
}

const openly = rdma.AccessLocalWrite | rdma.AccessRemote | rdma.AccessMWBind

// TestKeysOfOthers: a key opens nothing to queue pairs of another domain, a window of type 2 nothing to any but the one that bound it, and neither after its end.
func TestKeysOfOthers(t *testing.T) {
	l := newLab(t)
	v, other := l.vault(t, openly), l.vault(t, openly)
	may := func(what string, q rdma.QP, key uint32, want bool) {
		t.Helper()
		if got := v.reads(q, key, v.mr); got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	may("the region", v.qp(), v.mr.RKey(), true)
	may("the region, from another domain", other.qp(), v.mr.RKey(), false)
	for typ := rdma.Window1; typ <= rdma.Window2; typ++ {
		q, mw := v.qp(), v.mws[typ]
		if st := v.bind(q, mw, v.mr, 100, rdma.AccessRemoteRead); st != rdma.StatusSuccess {
			t.Fatal(st)
		}
		key := mw.RKey()
		may("a window, by who bound it", q, key, true)
		may("a window, by another", v.qp(), key, typ == rdma.Window1)
		may("a window, from another domain", other.qp(), key, false)
		if typ == rdma.Window2 {
			if st := v.does(v.qp(), rdma.SendWR{Op: rdma.OpLocalInv, RKey: key}); st != rdma.StatusLocQPOp {
				t.Errorf("invalidated by another: %v", st)
			}
			if st := v.bind(v.qp(), mw, v.mr, 100, rdma.AccessRemoteRead); st != rdma.StatusMWBind {
				t.Errorf("bound again while it is open: %v", st)
			}
			may("a window, after others tried", q, key, true)
			if err := q.Destroy(); err != nil {
				t.Fatal(err)
			}
			if err := v.mr.Deregister(); err != nil {
				t.Errorf("the queue pair of its window is destroyed: %v", err)
			}
		} else if st := v.bind(q, mw, v.mr, 0, 0); st != rdma.StatusSuccess {
			t.Errorf("closing it: %v", st)
		}
		may("a window that was closed", v.qp(), key, false)
	}
}

// TestBindsThatCantBe: what a window may not open, it doesn't.
func TestBindsThatCantBe(t *testing.T) {
	l := newLab(t)
	v, other := l.vault(t, openly), l.vault(t, openly)
	readOnly := l.vault(t, rdma.AccessRemoteRead|rdma.AccessMWBind)
	closed := l.vault(t, rdma.AccessLocalWrite|rdma.AccessRemote)
	for _, c := range []struct {
		name string
		v    *vault
		mr   rdma.MR
		n    uint64
		a    rdma.Access
		want rdma.WCStatus
	}{
		{"all of it", v, v.mr, 4096, rdma.AccessRemote, rdma.StatusSuccess},
		{"more than there is", v, v.mr, 4097, rdma.AccessRemoteRead, rdma.StatusMWBind},
		{"much more", v, v.mr, 1<<64 - 1, rdma.AccessRemoteRead, rdma.StatusMWBind},
		{"of another domain", v, other.mr, 100, rdma.AccessRemoteRead, rdma.StatusMWBind},
		{"rights that are none of the peer's", v, v.mr, 100, rdma.AccessRemoteRead | rdma.AccessMWBind, rdma.StatusMWBind},
		{"writing what is read only", readOnly, readOnly.mr, 100, rdma.AccessRemoteWrite, rdma.StatusMWBind},
		{"reading it", readOnly, readOnly.mr, 100, rdma.AccessRemoteRead, rdma.StatusSuccess},
		{"a region that takes no windows", closed, closed.mr, 100, rdma.AccessRemoteRead, rdma.StatusMWBind},
	} {
		if st := c.v.bind(c.v.qp(), c.v.mws[1], c.mr, c.n, c.a); st != c.want {
			t.Errorf("%s: %v, want %v", c.name, st, c.want)
		}
	}
	q := v.qp()
	if err := v.mws[2].Dealloc(); err != nil {
		t.Fatal(err)
	}
	if n, st := q.PostSend([]rdma.SendWR{{Op: rdma.OpBindMW, Bind: rdma.Bind{MW: v.mws[2], MR: v.mr}}}); n != 0 || st != rdma.BadWR {
		t.Errorf("a window that is gone: %d, %v", n, st)
	}
	sge := []rdma.SGE{{Addr: other.mr.Addr(), Length: 8, LKey: other.mr.LKey()}}
	if st := v.does(q, rdma.SendWR{Op: rdma.OpWrite, SGL: sge}); st != rdma.StatusLocProt {
		t.Errorf("sending memory of another domain: %v", st)
	}
}

// TestWindowGoesWhileItsBindWaits: the bind fails, and opens nothing.
func TestWindowGoesWhileItsBindWaits(t *testing.T) {
	l := newLab(t)
	v := l.vault(t, openly)
	q := v.qp()
	step := func(s rdma.QPState) {
		if err := q.Modify(rdma.QPAttr{State: s}, 0); err != nil {
			t.Fatal(err)
		}
	}
	step(rdma.SQD)
	if _, st := q.PostSend([]rdma.SendWR{{Op: rdma.OpBindMW, Bind: rdma.Bind{MW: v.mws[1], MR: v.mr, Addr: v.mr.Addr(), Length: 8, Access: rdma.AccessRemoteRead}}}); st != rdma.Posted {
		t.Fatal(st)
	}
	key := v.mws[1].RKey()
	if err := v.mws[1].Dealloc(); !errors.Is(err, rdma.ErrBusy) {
		t.Errorf("a bind waits: %v", err)
	}
	step(rdma.RTS)
	var wc [1]rdma.WC
	if v.cq.Poll(wc[:]) != 1 || wc[0].Status != rdma.StatusMWBind {
		t.Errorf("%+v", wc[0])
	}
	if v.reads(v.qp(), key, v.mr) {
		t.Error("its key opens the region")
	}
	if err := v.mws[1].Dealloc(); err != nil {
		t.Error(err)
	}
}

// TestWhatIsRefused: mistakes of the program's own that a device must not take.
func TestWhatIsRefused(t *testing.T) {
	l := newLab(t)
	v, other := l.vault(t, openly), l.vault(t, openly)
	q := v.qp()
	l.asks(t, rdma.OpWrite, 8) // of the lab's own queue pair, never answered
	sqd := rdma.QPAttr{State: rdma.SQD, AV: rdma.AHAttr{DGID: rdma.GIDFrom(l.peer.Addr()), Port: l.peer.Port()}, MaxReads: 129, MaxDestReads: 129}
	for _, x := range []rdma.QP{q, l.l.qp[1]} {
		if err := x.Modify(sqd, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.l.qp[1].Modify(sqd, rdma.MaskAV); !errors.Is(err, rdma.ErrBusy) {
		t.Errorf("another address while it drains: %v", err)
	}
	if err := q.Modify(sqd, rdma.MaskAV); err != nil {
		t.Errorf("another address when it is drained: %v", err)
	}
	for _, m := range []rdma.AttrMask{rdma.MaskMaxReads, rdma.MaskMaxDestReads} {
		if err := q.Modify(sqd, m); !errors.Is(err, rdma.ErrInvalid) {
			t.Errorf("%v of 129: %v", m, err)
		}
	}
	events(l.l.dev[1])
	if err := q.Modify(rdma.QPAttr{State: rdma.Err}, 0); err != nil {
		t.Fatal(err)
	}
	if err := q.Destroy(); err != nil {
		t.Fatal(err)
	}
	if got := events(l.l.dev[1]); slices.Contains(got, rdma.EventLastWQE) {
		t.Errorf("events of a queue pair that is destroyed: %v", got)
	}
	if err := v.cq.Destroy(); err != nil {
		t.Fatal(err)
	}
	if _, err := v.pd.CreateQP(rdma.QPInit{Type: rdma.TypeRC, SendCQ: v.cq, RecvCQ: other.cq}); !errors.Is(err, rdma.ErrInvalid) {
		t.Errorf("a completion queue that is destroyed: %v", err)
	}
}

// TestDatagramsThatCantBe: a handle that is gone or of another domain, or none, and a number that is none.
func TestDatagramsThatCantBe(t *testing.T) {
	l := newLab(t)
	v, other := l.vault(t, openly), l.vault(t, openly)
	ud, err := other.pd.CreateQP(rdma.QPInit{Type: rdma.TypeUD, SendCQ: other.cq, RecvCQ: other.cq, Cap: rdma.QPCap{SendBlocks: 8}})
	if err != nil {
		t.Fatal(err)
	}
	for s, m := range []rdma.AttrMask{rdma.Init: rdma.MaskQKey, rdma.RTR: 0, rdma.RTS: rdma.MaskSQPSN} {
		if s > 0 {
			if err := ud.Modify(rdma.QPAttr{State: rdma.QPState(s)}, m); err != nil {
				t.Fatal(err)
			}
		}
	}
	handle := func(pd rdma.PD) rdma.AH {
		h, err := pd.CreateAH(rdma.AHAttr{DGID: rdma.GIDFrom(l.peer.Addr()), Port: l.peer.Port()})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	own, gone := handle(other.pd), handle(other.pd)
	if err := gone.Destroy(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		h    rdma.AH
		qpn  uint32
		want rdma.Status
	}{
		"well": {own, rdma.MaxNum, rdma.Posted}, "gone": {gone, 1, rdma.BadWR}, "another domain": {handle(v.pd), 1, rdma.BadWR}, "25 bits": {own, rdma.MaxNum + 1, rdma.BadWR}, "none": {nil, 1, rdma.BadWR},
	} {
		if _, st := ud.PostSend([]rdma.SendWR{{Op: rdma.OpSend, AH: c.h, DestQPN: c.qpn}}); st != c.want {
			t.Errorf("a datagram, %s: %v, want %v", name, st, c.want)
		}
	}
}
