package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// self is the command, built once.
var self string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "braid")
	if err != nil {
		panic(err)
	}
	self = filepath.Join(dir, "braid")
	if out, err := exec.Command("go", "build", "-o", self, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		os.Exit(1)
	}
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// built runs the command and returns what it printed and its exit status.
func built(t *testing.T, args ...string) (out, people string, status int) {
	t.Helper()
	var o, e bytes.Buffer
	cmd := exec.Command(self, args...)
	cmd.Stdout, cmd.Stderr = &o, &e
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// figures are what --json promises.
type figures struct {
	Bytes      uint64  `json:"bytes"`
	Operations uint64  `json:"operations"`
	Lost       *uint64 `json:"lost"`
	Doubled    *uint64 `json:"doubled"`
	Equal      bool    `json:"digest_equal"`
	Seconds    float64 `json:"seconds"`
	Cuts       []struct {
		Lane     string   `json:"lane"`
		Kind     string   `json:"kind"`
		Blackout *float64 `json:"blackout_ms"`
		Gap      *float64 `json:"gap_ms"`
		Replayed *uint64  `json:"replayed_bytes"`
		Needed   *uint64  `json:"needed_bytes"`
	} `json:"cuts"`
	Lanes []struct {
		Name  string `json:"name"`
		Bytes uint64 `json:"bytes"`
	} `json:"lanes"`
}

// check reads the object and looks at what must hold in every run that ends well.
func check(t *testing.T, out, people string, status int) (f figures) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(out))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil || d.More() {
		t.Fatalf("status %d: no JSON object: %v\n%s\n%s", status, err, out, people)
	}
	if status != 0 || f.Lost == nil || *f.Lost != 0 || f.Doubled == nil || *f.Doubled != 0 || !f.Equal {
		t.Fatalf("status %d\n%s\n%s", status, out, people)
	}
	if len(f.Cuts) != 2 || f.Cuts[0].Kind != "reset" || f.Cuts[1].Kind != "silence" || len(f.Lanes) != 2 {
		t.Fatalf("cuts or lanes are missing: %s", out)
	}
	for i, c := range f.Cuts {
		if c.Lane != f.Lanes[i].Name || *c.Blackout < 0 || *c.Gap < 0 {
			t.Errorf("cut %d hit nothing: %s", i, out)
		}
		if *c.Replayed != *c.Needed {
			t.Errorf("cut %d: %d bytes were posted again, the peer lacked %d", i, *c.Replayed, *c.Needed)
		}
		if f.Lanes[i].Bytes == 0 {
			t.Errorf("nothing went over %s", f.Lanes[i].Name)
		}
	}
	return f
}

func TestDemo(t *testing.T) {
	t.Parallel()
	out, people, status := built(t, "demo", "--json", "--seconds", "3", "--size", "600M")
	f := check(t, out, people, status)
	for i, c := range f.Cuts {
		if *c.Needed == 0 {
			t.Errorf("cut %d: nothing was under way: %s", i, out)
		}
	}
	if f.Bytes != 600e6 || f.Operations < 10000 || f.Seconds < 2.9 {
		t.Errorf("%s", out)
	}
	for _, want := range []string{"CUT", "DOWN", "OVER", "is back", "MB/s", "SHA-256", "OK:"} {
		if !strings.Contains(people, want) {
			t.Errorf("%q is not shown:\n%s", want, people)
		}
	}
	if strings.Contains(people, "\x1b") {
		t.Errorf("colours without a terminal:\n%s", people)
	}
}

// TestDemoRC: the same over RDMA devices in software; a device has one address, so both lanes on one is an error.
func TestDemoRC(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("devices in software need Linux")
	}
	t.Parallel()
	out, people, status := built(t, "demo", "--json", "--seconds", "2", "--transport", "rc")
	if f := check(t, out, people, status); f.Operations == 0 || !strings.Contains(people, "over RDMA devices in software") {
		t.Errorf("%s\n%s", out, people)
	}
	for _, args := range [][]string{{"--rails", "127.0.0.1,127.0.0.1"}, {"--transport", "ib"}} {
		if _, people, status = built(t, append([]string{"demo", "--transport", "rc"}, args...)...); status != 2 || !strings.Contains(people, "--transport") {
			t.Errorf("%v: status %d\n%s", args, status, people)
		}
	}
}

// TestDemoFiles: a file of odd length over one address, and one with nothing in it.
func TestDemoFiles(t *testing.T) {
	for _, size := range []int{0, 1_234_567} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), "file")
			data := bytes.Repeat([]byte("braid!"), size/6+1)[:size]
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
			out, people, status := built(t, "demo", "--json", "--seconds", "2", "--rails", "127.0.0.1,192.0.2.1", name)
			f := check(t, out, people, status)
			sum := fmt.Sprintf("%x", sha256.Sum256(data))
			if f.Bytes != uint64(size) || strings.Count(people, sum) < 2 {
				t.Errorf("%d bytes, SHA-256 %s\n%s\n%s", size, sum, out, people)
			}
			if !strings.Contains(people, "both lanes run over 127.0.0.1") {
				t.Errorf("no word about the second address:\n%s", people)
			}
			if empty := strings.Contains(people, "file is empty"); empty != (size == 0) {
				t.Errorf("of %d bytes:\n%s", size, people)
			}
		})
	}
}

func TestWrongCommandLines(t *testing.T) {
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"demo /no/such/file", 1, "/no/such/file"},
		{"demo /", 1, "not a regular file"},
		{"demo --size 1M /", 2, "leave one of them out"},
		{"demo --size lots", 2, "500M"},
		{"demo --seconds 0.1", 2, "Try: braid demo --help"},
		{"demo --seconds 1e9", 2, "--seconds"},
		{"demo --rails 127.0.0.1", 2, "--rails"},
		{"demo --rails 192.0.2.1,127.0.0.1", 1, "192.0.2.1"},
		{"demo --loudly", 2, "--loudly"},
		{"demo --role sender", 1, "--role"},
		{"demo --set keepalive=1", 2, "want a time"},
		{"demo --config /none/such", 2, "no such file"},
		{"dance", 2, "dance"},
		{"", 2, "demo"},
	} {
		out, people, status := built(t, strings.Fields(c.args)...)
		if status != c.status || !strings.Contains(people, c.says) || out != "" {
			t.Errorf("braid %s: status %d, want %d, and %q in %q, not %q", c.args, status, c.status, c.says, people, out)
		}
	}
	for _, args := range []string{"--help", "--version", "demo --help", "help", "help demo"} {
		if out, _, status := built(t, strings.Fields(args)...); status != 0 || !strings.Contains(out, "braid") {
			t.Errorf("braid %s: status %d\n%s", args, status, out)
		}
	}
}

// begin starts a demo that would run long, and waits until it moves data.
func begin(t *testing.T) (cmd *exec.Cmd, people *bytes.Buffer) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	people = &bytes.Buffer{}
	cmd = exec.Command(self, "demo", "--seconds", "60", "--size", "100M")
	cmd.Stdout, cmd.Stderr = w, people
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() { cmd.Process.Kill(); r.Close() })
	seen := ""
	for b := make([]byte, 4096); !strings.Contains(seen, "MB/s"); {
		n, err := r.Read(b)
		if err != nil {
			t.Fatalf("it ended: %v\n%s%s", err, seen, people)
		}
		seen += string(b[:n])
	}
	go func() {
		for b := make([]byte, 4096); ; {
			if _, err := r.Read(b); err != nil {
				return
			}
		}
	}()
	return cmd, people
}

// children of a process, by role.
func children(t *testing.T, parent int) map[string]int {
	t.Helper()
	found := map[string]int{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		stat, _ := os.ReadFile(dir + "/stat")
		line, _ := os.ReadFile(dir + "/cmdline")
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		_, role, ok := strings.Cut(string(line), "--role=")
		if pid, err := strconv.Atoi(filepath.Base(dir)); ok && err == nil && len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			found[strings.TrimRight(role, "\x00")] = pid
		}
	}
	if len(found) != 2 {
		t.Fatalf("children %v", found)
	}
	return found
}

// gone waits until the processes are no more.
func gone(t *testing.T, pids map[string]int) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		left := 0
		for _, pid := range pids {
			if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && !strings.Contains(string(stat), ") Z ") {
				left++
			}
		}
		if left == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %v are still there", left, pids)
		}
	}
}

// TestEndings: however it ends, it ends soon, says why, and leaves nobody behind.
func TestEndings(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("finds child processes in /proc")
	}
	for _, c := range []struct {
		name   string
		do     func(parent int, kids map[string]int) error
		status int
		says   string
	}{
		{"interrupt", func(p int, _ map[string]int) error { return syscall.Kill(p, syscall.SIGINT) }, 130, "interrupted"},
		{"receiver dies", func(_ int, kids map[string]int) error { return syscall.Kill(kids["receiver"], syscall.SIGKILL) }, 1, "receiver process ended"},
		{"sender dies", func(_ int, kids map[string]int) error { return syscall.Kill(kids["sender"], syscall.SIGKILL) }, 1, "sender process ended"},
		{"parent dies", func(p int, _ map[string]int) error { return syscall.Kill(p, syscall.SIGKILL) }, -1, ""},
		{"parent dies while a child is stopped", func(p int, kids map[string]int) error {
			return errors.Join(syscall.Kill(kids["receiver"], syscall.SIGSTOP), syscall.Kill(p, syscall.SIGKILL))
		}, -1, ""},
		{"interrupt while a child is stopped", func(p int, kids map[string]int) error {
			return errors.Join(syscall.Kill(kids["receiver"], syscall.SIGSTOP), syscall.Kill(p, syscall.SIGINT))
		}, 130, "interrupted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd, people := begin(t)
			kids := children(t, cmd.Process.Pid)
			if err := c.do(cmd.Process.Pid, kids); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_ = cmd.Wait()
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
			if s := cmd.ProcessState.ExitCode(); s != c.status || !strings.Contains(people.String(), c.says) {
				t.Errorf("status %d, want %d, and %q in %q", s, c.status, c.says, people)
			}
			gone(t, kids)
		})
	}
}
