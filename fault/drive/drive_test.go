package drive_test

import (
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/fault/drive"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func clock() func() time.Duration {
	begun := time.Now()
	return func() time.Duration { return time.Since(begun) + 1 }
}

func plan(t *testing.T, text string) fault.Plan {
	t.Helper()
	p, err := fault.ParsePlan(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// TestDriven: a plan is carried out though nobody calls the injector.
func TestDriven(t *testing.T) {
	now := clock()
	inj := fault.New(now)
	d := drive.Start(inj, now)
	l := inj.Link("127.0.0.1:1")
	defer l.Close()
	d.Apply(plan(t, "cut lane=0 kind=silence after=2ms for=2ms every=5ms count=20")...)
	eventually(t, "the plan does not end", inj.Over)
	if r := inj.Report()[0]; len(r.Strokes) != 20 || r.Streams != 20 || r.Strokes[19].End <= r.Strokes[19].At {
		t.Errorf("%+v", r)
	}
	if err := d.Dead(); err != nil {
		t.Error(err)
	}
	d.Stop()
	if d.Dead() == nil {
		t.Error("it is stopped and lives")
	}
}

// TestDead: a driver that ends on its own says so.
func TestDead(t *testing.T) {
	var broken atomic.Bool
	now := clock()
	inj := fault.New(func() time.Duration {
		if broken.Load() {
			panic("the clock stands")
		}
		return now()
	})
	d := drive.Start(inj, now)
	d.Apply(plan(t, "pause after=5ms for=5ms every=20ms")...)
	broken.Store(true)
	eventually(t, "nobody says that the driver is dead", func() bool { return d.Dead() != nil })
	if !strings.Contains(d.Dead().Error(), "the clock stands") {
		t.Error(d.Dead())
	}
	broken.Store(false)
}

// TestKill: a process is stopped, goes on, and is killed. Which it is has to be known.
func TestKill(t *testing.T) {
	now := clock()
	inj := fault.New(now)
	d := drive.Start(inj, now)
	defer d.Stop()
	d.Apply(plan(t, "kill peer")...)
	if r := inj.Report()[0]; r.Err == nil || r.Hits != 0 {
		t.Errorf("killed nobody knows whom: %+v", r)
	}
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d.SetPeer(cmd.Process.Pid)
	d.Apply(plan(t, "kill peer signal=stop for=30ms; kill peer after=60ms")...)
	err := cmd.Wait()
	if st, ok := err.(*exec.ExitError); !ok || st.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("it ended: %v", err)
	}
	eventually(t, "the plan does not end", inj.Over)
	for _, r := range inj.Report()[1:] {
		if r.Hits != 1 || r.Err != nil {
			t.Errorf("%v: %d hits, %v", r.Rule, r.Hits, r.Err)
		}
	}
}

// TestNoInterface: what can't be done is said.
func TestNoInterface(t *testing.T) {
	now := clock()
	inj := fault.New(now)
	d := drive.Start(inj, now)
	defer d.Stop()
	d.Apply(plan(t, "iface nosuchlink down for=1ms")...)
	eventually(t, "the plan does not end", inj.Over)
	if r := inj.Report()[0]; r.Err == nil || r.Hits != 0 || !strings.Contains(r.Err.Error(), "nosuchlink") {
		t.Errorf("%+v", r)
	}
}
