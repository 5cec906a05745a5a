//go:build linux && verbs

package verbs

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/fault/drive"
	"github.com/openbraid/braid/rdma"
)

// TestCuts: faults in front of adapters, both kinds in turns, under load with fences.
func TestCuts(t *testing.T) {
	begun := time.Now()
	now := func() time.Duration { return time.Since(begun) + 1 }
	inj := fault.New(now)
	d := drive.Start(inj, now)
	t.Cleanup(d.Stop)
	w := newWorld(t, inj)
	stop := w.load()
	for i := range 6 {
		n := len(w.seen(0))
		kind := fault.Kind(i % 2)
		cut := inj.Apply(fault.Rule{Rail: w.rails[i/2%2], Kind: kind, For: patience}) // until it is noticed, however slow the machine is
		w.until("the loss by "+kind.String(), func() bool { _, ok := w.find(n, braid.LaneDown); return ok })
		inj.Withdraw(cut, nil)
		w.until("the lane to come back", w.whole)
	}
	stop()
	w.closes()
}

// TestLockedMemory: a limit that is met when a connection is made is named, with the number that is needed.
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
	left(t)
	ln, err := node(t, braid.Options{Settings: settings(t, "verbs,self")}).Listen(rails(t)[0] + ":0")
	if err == nil { // a listener takes little; connections take more
		_, err = node(t, braid.Options{Settings: settings(t, "verbs,self")}).Dial(t.Context(), ln.Addr())
	}
	if err == nil {
		t.Fatal("64 KiB were enough")
	}
	if !errors.Is(err, rdma.ErrLimit) {
		t.Errorf("%v is no rdma.ErrLimit", err)
	}
	for _, want := range []string{"65536", "are needed", "ulimit -l"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
	t.Log(err)
}
