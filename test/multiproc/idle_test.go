package multiproc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// cpu is the processor time that a process has used: nanoseconds, from /proc where that is, else by its own account.
func (c *child) cpu() time.Duration {
	c.t.Helper()
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", c.cmd.Process.Pid))
	var sum time.Duration
	for _, task := range tasks {
		var ran time.Duration
		if text, err := os.ReadFile(task); err == nil {
			fmt.Sscan(string(text), &ran)
		}
		sum += ran
	}
	if sum == 0 {
		c.tell("cpu")
		sum = time.Duration(c.number("cpu")) * time.Microsecond
	}
	return sum
}

// idlers are those that have nothing to do: progressed by the library, asleep by themselves, and asleep in poll(2) on the descriptor of the worker.
func idlers() []string {
	if runtime.GOOS != "linux" { // the descriptor is Linux's
		return []string{"serve", "serve asleep"}
	}
	return []string{"serve", "serve asleep", "serve armed"}
}

// idleShare is what a process with nothing to do takes of a processor: less than 1 %.
const idleShare = 0.01

// idle watches processes that have nothing to do, all at once: each takes less than a share of a processor. How busy the machine is makes no difference, since what others
// use is not counted.
func idle(t testing.TB, watched time.Duration, share float64, children map[string]*child) {
	t.Helper()
	time.Sleep(100 * time.Millisecond) // what has just begun, or ended, is seen to
	before := map[string]time.Duration{}
	for what, c := range children {
		before[what] = c.cpu()
	}
	time.Sleep(watched)
	for what, c := range children {
		used := c.cpu() - before[what]
		t.Logf("%s: %v in %v", what, used, watched)
		if used.Seconds() > share*watched.Seconds() {
			t.Errorf("%s: takes %v in %v", what, used, watched)
		}
	}
}

// idles is idle for one of them, that has just done something: three seconds, in which what it takes to let go of that is little.
func (c *child) idles(what string, share float64) {
	c.t.Helper()
	idle(c.t, 3*time.Second, share, map[string]*child{what: c})
}

// TestF8_IdleServer: a server with nothing to do takes less than 1 % of a processor, while nobody is connected, and while two peers are that have
// nothing to say.
func TestF8_IdleServer(t *testing.T) {
	t.Parallel()
	const watched = 3 * time.Second
	servers := map[string]*child{}
	for _, role := range idlers() {
		servers[role] = start(t, job{Role: role, Addr: "127.0.0.1:0", Alive: time.Second})
	}
	addrs := map[string]string{}
	for role, c := range servers {
		addrs[role] = c.expect("addr")
	}
	idle(t, watched, idleShare, servers)
	w := open(t, braid.Options{Times: braid.Times{Keepalive: time.Second}})
	for _, addr := range addrs {
		ep := dial(t, w, addr)
		dial(t, w, addr)
		for range 1000 {
			ep.PostAM(amEcho, nil, nil).Release()
		}
		if err := ep.Flush(within(t, patience)); err != nil {
			t.Fatal(err)
		}
	}
	idle(t, watched, idleShare, servers)
}

// TestF1_IdleAfterPeerLeft: a server whose peer has left, whichever way, takes less than 1 % of a processor in the ten seconds after.
func TestF1_IdleAfterPeerLeft(t *testing.T) {
	t.Parallel()
	watched := 10 * time.Second
	if testing.Short() {
		watched = 3 * time.Second
	}
	w := open(t, braid.Options{Times: braid.Times{Keepalive: time.Second}})
	servers := map[string]*child{}
	for _, role := range idlers() {
		for _, how := range []string{"closed", "aborted", "was killed"} {
			server := start(t, job{Role: role, Addr: "127.0.0.1:0", Alive: time.Second})
			addr := server.expect("addr")
			servers[role+", its peer "+how] = server
			if how == "was killed" {
				client := start(t, job{Role: "put", Addr: addr, Key: braid.RKey{}.Bytes()})
				client.expect("lanes")
				client.kill()
				continue
			}
			ep := dial(t, w, addr)
			if err := ep.SendAM(within(t, patience), amEcho, nil, nil); err != nil {
				t.Fatal(err)
			}
			if how == "aborted" {
				ep.Abort()
			} else if err := ep.Close(within(t, patience)); err != nil {
				t.Fatal(err)
			}
		}
	}
	idle(t, watched, idleShare, servers)
}

// TestF7_WaitLearnsOfDeath: who is blocked in a call, asleep, is told when the peer is killed.
func TestF7_WaitLearnsOfDeath(t *testing.T) {
	for _, c := range []struct {
		name string
		opts braid.Options
		want error
	}{
		{"shared failover", braid.Options{}, braid.ErrPeerFailed},
		{"shared none sleep", braid.Options{ErrorMode: braid.None, Wait: braid.WaitSleep}, braid.ErrLaneFailed},
		{"owned failover", braid.Options{Owned: true}, braid.ErrPeerFailed},
		{"owned none sleep", braid.Options{Owned: true, ErrorMode: braid.None, Wait: braid.WaitSleep}, braid.ErrLaneFailed},
		{"owned peer poll", braid.Options{Owned: true, ErrorMode: braid.Peer, Wait: braid.WaitPoll}, braid.ErrLaneFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			begin(t)
			server := start(t, job{Role: "serve", Addr: "127.0.0.1:0"})
			c.opts.Times = hasty()
			c.opts.Times.Keepalive, c.opts.Times.Peer, c.opts.Times.Probe, c.opts.Times.Lost = time.Hour, time.Hour, time.Hour, time.Hour
			ep := dial(t, open(t, c.opts), server.expect("addr"))
			server.expect("accepted")
			for range 1000 { // a worker that is polled has nobody wait for its sockets, until somebody means to sleep
				ep.Worker().Progress()
			}
			server.signal(syscall.SIGSTOP) // it answers nothing, and no time above ends the wait
			const after = 200 * time.Millisecond
			killer := time.AfterFunc(after, func() { server.signal(syscall.SIGKILL) })
			defer killer.Stop()
			since := time.Now()
			ep.PostAM(amCount, nil, nil).Release()
			err := ep.Flush(within(t, 2*patience))
			took := time.Since(since)
			if !errors.Is(err, c.want) {
				t.Errorf("Flush: %v, want %v", err, c.want)
			}
			if took < after || took > bound {
				t.Errorf("Flush ended after %v, the peer was killed after %v", took, after)
			}
		})
	}
}

// TestA13_LoadedHost: idle endpoints of a process that computes on its one processor, on a machine that computes on all of them, are not
// taken for dead: not within five times the bound after which silence ends them.
func TestA13_LoadedHost(t *testing.T) {
	begin(t)
	const limit = time.Second
	for range runtime.NumCPU() {
		start(t, job{Role: "burn", Burn: 1})
	}
	server := start(t, job{Role: "serve", Addr: "127.0.0.1:0", Peer: limit, Alive: limit / 10, Burn: 2, Env: []string{"GOMAXPROCS=1"}})
	addr := server.expect("addr")
	var events tally
	times := braid.Times{Peer: limit, Keepalive: limit / 10}
	shared := open(t, braid.Options{Times: times, OnEvent: events.note})
	var eps []*braid.Endpoint
	for range 8 {
		eps = append(eps, dial(t, shared, addr))
	}
	time.Sleep(5 * limit)
	if n := events.of(braid.Failed); n != 0 {
		t.Errorf("%d of %d endpoints failed", n, len(eps))
	}
	t.Logf("%d lanes were lost meanwhile", events.of(braid.LaneDown))
	for i, ep := range eps {
		payload := []byte("still there")
		if err := ep.SendAM(within(t, patience), amCheck, checkedHeader(uint64(i), payload), payload); err != nil {
			t.Error(err)
		}
		if err := ep.Flush(within(t, patience)); err != nil {
			t.Error(err)
		}
		if n := server.number("checked"); n != i {
			t.Errorf("message %d came, want %d", n, i)
		}
	}
}
