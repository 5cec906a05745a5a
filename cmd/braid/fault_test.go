package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// trialFigures are what --json promises of a run with faults.
type trialFigures struct {
	Verdict  string   `json:"verdict"`
	Problems []string `json:"problems"`
	Hits     int      `json:"injector_hits"`
	Disorder *int     `json:"out_of_order"`
	Cuts     []struct {
		Lane     *int     `json:"lane"`
		Kind     string   `json:"kind"`
		Blackout *float64 `json:"blackout_ms"`
		Gap      *float64 `json:"gap_ms"`
		Replayed *uint64  `json:"replayed_bytes"`
		Needed   *uint64  `json:"needed_bytes"`
	} `json:"cuts"`
	Replayed *float64           `json:"replayed_bytes"`
	Needed   *float64           `json:"needed_bytes"`
	Blackout map[string]float64 `json:"blackout_ms"`
	Gap      map[string]float64 `json:"gap_ms"`
}

func trial(t *testing.T, args ...string) (f trialFigures, people string, status int) {
	t.Helper()
	out, people, status := built(t, append([]string{"perftest", "--spawn", "--lanes", "2", "-w", "100", "--json", "--set", "redial-max=200ms"}, args...)...)
	if err := json.Unmarshal([]byte(out), &f); err != nil {
		t.Fatalf("%v: %q %s", err, out, people)
	}
	return f, people, status
}

// TestFaultVerdict: the exit status is the verdict, and the figures and events are there that are promised.
func TestFaultVerdict(t *testing.T) {
	dir := t.TempDir()
	file, events := filepath.Join(dir, "plan"), filepath.Join(dir, "events")
	if err := os.WriteFile(file, []byte("# one after the other\ncut lane=random kind=reset when=whole for=2ms every=50ms count=5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, people, status := trial(t, "-t", "am_bw", "-s", "4k", "--fault", file, "--events", events)
	if status != 0 || f.Verdict != "ok" || f.Hits < 5 || f.Disorder == nil || len(f.Cuts) != 5 {
		t.Errorf("exit %d, %+v %s", status, f, people)
	}
	for _, c := range f.Cuts {
		if c.Lane == nil || c.Kind != "reset" || c.Blackout == nil || c.Gap == nil || c.Replayed == nil || c.Needed == nil {
			t.Errorf("%+v", c)
		}
	}
	if f.Replayed == nil || f.Needed == nil || *f.Replayed > 1.05**f.Needed {
		t.Errorf("replayed %v bytes of %v that the peer lacked", f.Replayed, f.Needed)
	}
	for _, name := range []string{"p50", "p99", "max"} {
		if _, ok := f.Blackout[name]; !ok {
			t.Errorf("no blackout_ms.%s", name)
		}
		if _, ok := f.Gap[name]; !ok {
			t.Errorf("no gap_ms.%s", name)
		}
	}
	text, err := os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for line := range bytes.Lines(text) {
		var e struct {
			T     *float64 `json:"t"`
			Event string   `json:"event"`
			Lane  *int     `json:"lane"`
		}
		if err := json.Unmarshal(line, &e); err != nil || e.T == nil || e.Lane == nil {
			t.Fatalf("%s: %v", line, err)
		}
		kinds[e.Event]++
	}
	if kinds["FaultOn"] != 5 || kinds["LaneDown"] != 5 || kinds["HandedOver"] != 5 {
		t.Errorf("events %v", kinds)
	}
	if f, _, status := trial(t, "-t", "am_lat", "--fault", "pause lane=9 for=10ms"); status != 1 || f.Verdict != "injector had no effect" {
		t.Errorf("exit %d, %+v", status, f)
	}
}

// TestA1_A14_Plan: a peer that is stopped for a while costs nothing, and one that is killed is noticed, with one error.
func TestA1_A14_Plan(t *testing.T) {
	if f, people, status := trial(t, "-t", "am_bw", "-s", "64k", "--fault", "kill peer signal=stop after=50ms for=200ms"); status != 0 || f.Verdict != "ok" || f.Hits != 1 {
		t.Errorf("stopped: exit %d, %+v %s", status, f, people)
	}
	if f, people, status := trial(t, "-t", "put_bw", "-s", "64k", "--set", "suspended=500ms", "--fault", "kill peer after=100ms"); status != 0 || f.Verdict != "ok" || f.Hits != 1 {
		t.Errorf("killed: exit %d, %+v %s", status, f, people)
	}
	if f, people, status := trial(t, "-t", "put_bw", "-s", "64k", "--set", "suspended=100ms", "--set", "peer-timeout=500ms", "--set", "keepalive=100ms", "--fault", "kill peer signal=stop after=100ms"); status != 0 || f.Verdict != "ok" || f.Hits != 1 {
		t.Errorf("stopped for good: exit %d, %+v %s", status, f, people)
	}
	out, people, status := built(t, "perftest", "--spawn", "-t", "put_bw", "-w", "100", "-f", "--set", "suspended=100ms", "--fault", "kill peer after=50ms")
	if status != 0 || !strings.Contains(out, "not verified:") || strings.Contains(out, "lost 0") {
		t.Errorf("killed: what nobody could look at is called verified: exit %d, %s %s", status, out, people)
	}
}

// TestInjectorKilled: braid fault carries a plan out in another process. Killed before its end it is what has failed, and neither the lanes nor nothing.
func TestInjectorKilled(t *testing.T) {
	for _, kill := range []bool{false, true} {
		var out bytes.Buffer
		run := exec.Command(self, "perftest", "--spawn", "-t", "am_lat", "--lanes", "2", "-w", "100", "--json", "--control", "--set", "redial-max=30ms", "--fault", "outside")
		run.Stdout, run.Stderr = &out, &out
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		pid := fmt.Sprint(run.Process.Pid)
		var state string
		for end := time.Now().Add(20 * time.Second); !strings.Contains(state, "2 lanes up"); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				run.Process.Kill()
				t.Fatalf("braid inspect %s: %s", pid, state)
			}
			text, people, _ := built(t, "inspect", pid)
			state = text + people
		}
		breaker := exec.Command(self, "fault", pid, "cut lane=random kind=reset when=whole for=1ms every=30ms count=40")
		if err := breaker.Start(); err != nil {
			t.Fatal(err)
		}
		if kill {
			time.Sleep(200 * time.Millisecond)
			breaker.Process.Kill()
		}
		brokeErr := breaker.Wait()
		_ = run.Wait()
		want := map[bool]string{false: `"verdict":"ok"`, true: `"verdict":"injector died"`}[kill]
		if !strings.Contains(out.String(), want) || run.ProcessState.ExitCode() != map[bool]int{false: 0, true: 1}[kill] || !kill && brokeErr != nil {
			t.Errorf("killed %v: exit %v, want %s: %v\n%s", kill, run.ProcessState, want, brokeErr, &out)
		}
	}
}

// TestMatrixJSON: a part of the matrix for programs, and for people beside it.
func TestMatrixJSON(t *testing.T) {
	out, people, status := built(t, "perftest", "--fault-matrix", "--json", "--transport", "tcp", "-t", "am_bw", "--plans", "mid write,loss")
	var f struct {
		trialFigures
		Plan, Test, Transport string
		Lanes                 int
	}
	if err := json.Unmarshal([]byte(out), &f); err != nil { // one line: there is no loss of datagrams over tcp
		t.Fatalf("%v: %q %s", err, out, people)
	}
	if status != 0 || f.Plan != "mid write" || f.Test != "am_bw" || f.Transport != "tcp" || f.Lanes != 2 || f.Verdict != "ok" || f.Hits == 0 || len(f.Cuts) == 0 || f.Blackout["n"] == 0 || f.Gap["n"] == 0 {
		t.Errorf("exit %d, %+v", status, f)
	}
	if !strings.Contains(people, "1 of 1") || !strings.Contains(strings.ToLower(people), "mid write") {
		t.Errorf("for people: %s", people)
	}
}

// TestFaultUsage: what can't be is said with where it is wrong, before anything is started.
func TestFaultUsage(t *testing.T) {
	for line, want := range map[string]string{
		"perftest --spawn -t am_bw --events x":                        "it is for --fault",
		"perftest --spawn -t am_bw --fault nosuchfile":                "neither a file",
		"perftest h -t am_bw --fault kill|peer":                       "needs --spawn",
		"perftest --spawn -t am_bw --fault cut|lane=1|kind=sharp":     "column 12",
		"perftest --spawn -t am_bw --fault outside":                   "needs --control",
		"perftest --spawn -t am_bw -v --fault pause":                  "use --json",
		"perftest --spawn -t am_bw --pair-modes --fault pause":        "lanes that work",
		"perftest --spawn -t am_bw --transport shm --fault delay|5ms": "memory is never late",
		"perftest --fault pause":                                      "--fault has no effect",
		"perftest --fault-matrix -s 64k":                              "-s has no effect",
		"perftest --fault-matrix --transport tcp,udp":                 "there are tcp, shm, rc and verbs",
		"perftest --fault-matrix -t am_bw,nosuch":                     "nosuch",
		"perftest --fault-matrix --plans reset,nosuch":                `no plan "nosuch"; there are reset`,
		"perftest --spawn -t am_bw --plans reset":                     "it is for --fault-matrix",
		"fault 1 nonsense|x":                                          "line 1, column 1",
		"inspect x":                                                   "expected",
	} {
		args := strings.Fields(line)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "|", " ")
		}
		if _, people, status := built(t, args...); status != 2 || !strings.Contains(people, want) {
			t.Errorf("%s: exit %d %q, want %q", line, status, people, want)
		}
	}
	if _, people, status := built(t, "inspect", fmt.Sprint(os.Getpid())); status != 1 || !strings.Contains(people, "--control") {
		t.Errorf("a process without a socket: exit %d %q", status, people)
	}
}
