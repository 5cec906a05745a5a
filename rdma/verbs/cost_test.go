//go:build linux && verbs

package verbs_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/rdma"
)

// loop is a queue pair that is connected to itself.
type loop struct {
	t   testing.TB
	dev rdma.Device
	pd  rdma.PD
	cq  rdma.CQ
	qp  rdma.QP
	mr  rdma.MR
	wcs [64]rdma.WC
}

func newLoop(t testing.TB) *loop {
	t.Helper()
	l := &loop{t: t, dev: open(t)}
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	l.pd, err = l.dev.AllocPD()
	ok(err)
	l.cq, err = l.dev.CreateCQ(256)
	ok(err)
	l.mr, err = l.pd.RegMR(make([]byte, 1<<16), rdma.AccessLocalWrite|rdma.AccessRemote)
	ok(err)
	l.qp, err = l.pd.CreateQP(rdma.QPInit{Type: rdma.TypeRC, SendCQ: l.cq, RecvCQ: l.cq, Cap: rdma.QPCap{SendBlocks: 64, RecvWR: 64, SendSGE: 2, RecvSGE: 1, Inline: 64}})
	ok(err)
	av := rdma.AHAttr{DGID: rdma.GIDFrom(address(t))}
	for _, g := range l.dev.GIDs() {
		if g.GID == av.DGID {
			av.SGIDIndex = g.Index
		}
	}
	ok(l.qp.Modify(rdma.QPAttr{State: rdma.Init, Access: rdma.AccessRemote}, rdma.MaskAccess))
	ok(l.qp.Modify(rdma.QPAttr{State: rdma.RTR, AV: av, PathMTU: rdma.MTU1024, DestQPN: l.qp.Num(), RQPSN: 7, MaxDestReads: 1, MinRNRTimer: 12},
		rdma.MaskAV|rdma.MaskPathMTU|rdma.MaskDestQPN|rdma.MaskRQPSN|rdma.MaskMaxDestReads|rdma.MaskMinRNRTimer))
	ok(l.qp.Modify(rdma.QPAttr{State: rdma.RTS, SQPSN: 7, Timeout: 16, RetryCount: 7, RNRRetry: 7, MaxReads: 1},
		rdma.MaskSQPSN|rdma.MaskTimeout|rdma.MaskRetryCount|rdma.MaskRNRRetry|rdma.MaskMaxReads))
	return l
}

// list is n writes of which the last one is signaled.
func (l *loop) list(n int) []rdma.SendWR {
	wrs := make([]rdma.SendWR, n)
	for i := range wrs {
		wrs[i] = rdma.SendWR{ID: uint64(i), Op: rdma.OpWrite, RKey: l.mr.RKey(), Addr: l.mr.Addr() + 4096,
			SGL: []rdma.SGE{{Addr: l.mr.Addr(), Length: 8, LKey: l.mr.LKey()}, {Addr: l.mr.Addr() + 100, Length: 8, LKey: l.mr.LKey()}}}
	}
	wrs[n-1].Flags = rdma.FlagSignaled
	return wrs
}

// wait polls until n completions have come, and returns how often it asked.
func (l *loop) wait(n int) (asked uint64) {
	l.t.Helper()
	for end := time.Now().Add(time.Minute); n > 0; asked++ {
		k := l.cq.Poll(l.wcs[:])
		for _, wc := range l.wcs[:k] {
			if wc.Status != rdma.StatusSuccess {
				l.t.Fatalf("%+v", wc)
			}
		}
		if n -= k; time.Now().After(end) {
			l.t.Fatalf("%d completions are missing", n)
		}
	}
	return asked
}

// TestCrossings: a list of posts is one, whatever is in it, and so is a batch of completions; nothing else is.
func TestCrossings(t *testing.T) {
	left(t)
	l := newLoop(t)
	count := l.dev.(interface{ Crossings() uint64 })
	for _, n := range []int{1, 2, 32, 64} {
		before := count.Crossings()
		if k, st := l.qp.PostSend(l.list(n)); k != n {
			t.Fatal(k, st)
		}
		if got := count.Crossings() - before; got != 1 {
			t.Errorf("posting %d sends: %d crossings", n, got)
		}
		before = count.Crossings()
		if asked := l.wait(1); count.Crossings()-before != asked {
			t.Errorf("%d polls: %d crossings", asked, count.Crossings()-before)
		}
	}
	wrs := make([]rdma.RecvWR, 64)
	before := count.Crossings()
	if k, st := l.qp.PostRecv(wrs); k != 64 || count.Crossings()-before != 1 {
		t.Errorf("posting %d receives, %v: %d crossings", k, st, count.Crossings()-before)
	}
	// 64 completions, which wait: one crossing.
	sends := make([]rdma.SendWR, 32)
	for i := range sends {
		sends[i] = rdma.SendWR{Op: rdma.OpSend, Flags: rdma.FlagSignaled}
	}
	if k, st := l.qp.PostSend(sends); k != 32 {
		t.Fatal(k, st)
	}
	time.Sleep(2 * time.Second) // more than they take; if not, the polls below are more and the test says so
	before = count.Crossings()
	if asked := l.wait(64); asked != 1 || count.Crossings()-before != 1 {
		t.Errorf("64 completions that wait: %d polls, %d crossings", asked, count.Crossings()-before)
	}
}

// TestAllocations: none for an operation.
func TestAllocations(t *testing.T) {
	left(t)
	l := newLoop(t)
	wrs, recv := l.list(8), []rdma.RecvWR{{SGL: []rdma.SGE{{Addr: l.mr.Addr(), Length: 64, LKey: l.mr.LKey()}}}}
	inline := []rdma.SendWR{{Op: rdma.OpSend, Flags: rdma.FlagSignaled, Inline: make([]byte, 64)}}
	var events [4]rdma.Event
	n := testing.AllocsPerRun(100, func() {
		l.qp.PostSend(wrs)
		l.wait(1)
		l.qp.PostRecv(recv)
		l.qp.PostSend(inline)
		l.wait(2)
		l.cq.Arm(false)
		l.dev.Progress()
		l.dev.PollEvents(events[:])
	})
	if n != 0 {
		t.Errorf("%v allocations for posts, completions, an arming and a look at events", n)
	}
}

// TestSleep: who armed is woken by a completion, also by one that came before, and by nothing else.
func TestSleep(t *testing.T) {
	left(t)
	l := newLoop(t)
	readable := func(ms int) bool {
		fds := []unix.PollFd{{Fd: int32(l.dev.EventFD()), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, ms)
		return err == nil && n == 1
	}
	for range 5 {
		if !l.cq.Arm(false) {
			t.Fatal("there is a completion, of nothing")
		}
		if readable(0) {
			t.Error("readable, and nothing has come")
		}
		l.qp.PostSend(l.list(1))
		if !readable(10000) {
			t.Error("a completion has come, and nobody is woken")
		}
		l.dev.Progress()
		l.wait(1)
		l.qp.PostSend(l.list(1))
		time.Sleep(300 * time.Millisecond)
		if l.cq.Arm(false) || !readable(0) {
			t.Error("a completion came before: it must be said, and the descriptor be readable")
		}
		l.wait(1)
		l.dev.Progress()
	}
}

// TestLockedMemory: a limit that is met is named, with the number that is needed.
func TestLockedMemory(t *testing.T) {
	if os.Getenv("BRAID_VERBS_LOCKED") == "" {
		// Root may lock what it wants, so a process without that right does it.
		cmd := exec.Command("setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock", "prlimit", "--memlock=65536:65536", os.Args[0], "-test.run=^TestLockedMemory$", "-test.v")
		cmd.Env = append(os.Environ(), "BRAID_VERBS_LOCKED=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestLockedMemory") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	d := open(t)
	pd, err := d.AllocPD()
	if err != nil {
		t.Fatal(err)
	}
	_, err = pd.RegMR(make([]byte, 1<<20), rdma.AccessLocalWrite)
	if !errors.Is(err, rdma.ErrLimit) {
		t.Fatalf("1 MiB where 64 KiB may be locked: %v", err)
	}
	for _, want := range []string{"1048576", "65536", "ulimit -l"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
}
