package control_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/internal/control"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func private(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func listen(t *testing.T, dir string, h control.Handler) *control.Server {
	t.Helper()
	if h.Inspect == nil {
		h.Inspect = func() any { return "fine" }
	}
	s, err := control.Listen(dir, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

type state struct {
	State string `json:"state"`
}

func inspect(t *testing.T, dir string) (string, error) { return inspectNode(t, dir, 0) }

func inspectNode(t *testing.T, dir string, node int) (got string, err error) {
	err = control.Ask(within(t), control.Target{Dir: dir, PID: os.Getpid(), Node: node}, control.Request{Do: "inspect"}, func(r state) error { got = r.State; return nil })
	return got, err
}

func TestInspect(t *testing.T) {
	dir := private(t)
	s := listen(t, dir, control.Handler{})
	if st, err := os.Stat(s.Path()); err != nil || st.Mode()&os.ModeSocket == 0 {
		t.Errorf("%v, %v", st, err)
	}
	for range 20 { // one connection each, and their places come back
		if got, err := inspect(t, dir); got != "fine" || err != nil {
			t.Fatalf("%q, %v", got, err)
		}
	}
	second := listen(t, dir, control.Handler{Inspect: func() any { return "the second" }}) // of another node of this process
	if second.Path() == s.Path() {
		t.Error("a socket on which somebody answers was replaced")
	}
	for node, want := range []string{"fine", "the second"} {
		if got, err := inspectNode(t, dir, node); got != want || err != nil {
			t.Errorf("node %d: %q, %v", node, got, err)
		}
	}
	if _, err := inspectNode(t, dir, 2); err == nil || !strings.Contains(err.Error(), "no node 2") || !strings.Contains(err.Error(), "it has [0 1]") {
		t.Errorf("of a node that is not there: %v", err)
	}
	if err := errors.Join(s.Close(), second.Close()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(s.Path()); !os.IsNotExist(err) {
		t.Errorf("the socket stands there after Close: %v", err)
	}
	if _, err := inspect(t, dir); err == nil || !strings.Contains(err.Error(), "--control") {
		t.Errorf("nobody listens, and the error is %v", err)
	}
}

// TestStale: a socket that a process left which is gone is replaced.
func TestStale(t *testing.T) {
	dir := private(t)
	path := control.Path(dir, os.Getpid(), 0)
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false)
	ln.Close()
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	left := control.Path(dir, dead.Process.Pid, 1)
	if err := os.Rename(path, left); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(left, path); err != nil {
		t.Fatal(err)
	}
	if s := listen(t, dir, control.Handler{}); s.Path() != path {
		t.Errorf("it listens at %s", s.Path())
	}
	if _, err := os.Lstat(left); !os.IsNotExist(err) {
		t.Errorf("what a dead process left is still there: %v", err)
	}
	if got, err := inspect(t, dir); got != "fine" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// TestDirectory: one that others can enter, or that is a link, is refused.
func TestDirectory(t *testing.T) {
	open := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(private(t), link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{open, link} {
		if s, err := control.Listen(dir, control.Handler{}); err == nil || !strings.Contains(err.Error(), "0700") {
			t.Errorf("%s: %v, %v", dir, s, err)
		}
	}
}

// TestBadRequests: what can't be is answered with what is wanted; who says too much, or nothing, hurts nobody.
func TestBadRequests(t *testing.T) {
	dir := private(t)
	s := listen(t, dir, control.Handler{})
	ask := func(text string) string {
		t.Helper()
		c, err := net.Dial("unix", s.Path())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = io.WriteString(c, text)
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		var r control.Reply
		_ = json.NewDecoder(c).Decode(&r)
		return r.Error
	}
	for text, want := range map[string]string{
		"nonsense\n":                                    "want JSON",
		`{"do":"dance"}` + "\n":                         "inspect and fault",
		`{"do":"fault","plan":"x"}` + "\n":              "line 1, column 1",
		`{"do":"fault","plan":"cut kind=reset"}` + "\n": "Options.Faults",
		strings.Repeat("x", 65<<10):                     "65536 bytes",
	} {
		if got := ask(text); !strings.Contains(got, want) {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
	var idle []net.Conn
	for range 20 { // more than are served at a time
		c, err := net.Dial("unix", s.Path())
		if err != nil {
			t.Fatal(err)
		}
		idle = append(idle, c)
	}
	for _, c := range idle {
		c.Close()
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if got, err := inspect(t, dir); got == "fine" && err == nil {
			break
		} else if time.Now().After(end) {
			t.Fatalf("%q, %v", got, err)
		}
	}
}

func injector() *fault.Injector {
	begun := time.Now()
	return fault.New(func() time.Duration { return time.Since(begun) + 1 })
}

// TestFault: rules are carried out, and what they did is told.
func TestFault(t *testing.T) {
	dir, inj := private(t), injector()
	l := inj.Link("127.0.0.1:1")
	defer l.Close()
	listen(t, dir, control.Handler{Faults: inj})
	var last control.Reply
	err := control.Ask(within(t), control.Target{Dir: dir, PID: os.Getpid()}, control.Request{Do: "fault", Plan: "cut lane=0 kind=silence for=1ms every=5ms count=5; pause lane=7 for=1ms"},
		func(r control.Reply) error { last = r; return nil })
	if err != nil || !last.Over || len(last.Rules) != 2 || last.Rules[0].Times != 5 || last.Rules[0].Hits != 5 || last.Rules[1].Hits != 0 {
		t.Errorf("%v, %+v", err, last)
	}
	if err := inj.Abandoned(); err != nil {
		t.Error(err)
	}
}

// TestFaultUnfit: a rule that can't be done to anything here is refused at once.
func TestFaultUnfit(t *testing.T) {
	dir, inj := private(t), injector()
	p := inj.Pipe("shm:1", "shm:2")
	defer p.Close()
	listen(t, dir, control.Handler{Faults: inj})
	err := control.Ask(within(t), control.Target{Dir: dir, PID: os.Getpid()}, control.Request{Do: "fault", Plan: "cut kind=reset for=1ms; delay 5ms for=1ms"}, func(control.Reply) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "memory is never late") || inj.Any() {
		t.Errorf("%v; rules were applied: %v", err, inj.Any())
	}
}

// TestFaultAbandoned: rules end with the connection that gave them, and that they did not come to their end is known.
func TestFaultAbandoned(t *testing.T) {
	dir, inj := private(t), injector()
	l := inj.Link("127.0.0.1:1")
	defer l.Close()
	listen(t, dir, control.Handler{Faults: inj})
	gone := errors.New("enough")
	err := control.Ask(within(t), control.Target{Dir: dir, PID: os.Getpid()}, control.Request{Do: "fault", Plan: "cut kind=silence; pause after=1h"},
		func(r control.Reply) error {
			if !r.Rules[0].InForce || r.Rules[0].Hits != 1 {
				t.Errorf("%+v", r)
			}
			return gone
		})
	if err != gone {
		t.Error(err)
	}
	for end := time.Now().Add(10 * time.Second); inj.Abandoned() == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("who gave the rules is gone, and nobody says so")
		}
	}
	if r := inj.Report(); r[0].InForce || !r[0].Over || !r[1].Over || l.Judge(true, 1).Lost {
		t.Errorf("rules are in force whose giver is gone: %+v", r)
	}
}

// TestFaultMissed: a rule that found no lane is told which there are.
func TestFaultMissed(t *testing.T) {
	dir, inj := private(t), injector()
	l := inj.Link("127.0.0.1:1")
	defer l.Close()
	listen(t, dir, control.Handler{Faults: inj})
	var last control.Reply
	err := control.Ask(within(t), control.Target{Dir: dir, PID: os.Getpid()}, control.Request{Do: "fault", Plan: "pause lane=7 for=1ms; pause for=1ms; pause after=1ms for=1ms when=whole"},
		func(r control.Reply) error { last = r; return nil })
	if err != nil || len(last.Rules) != 3 || !strings.Contains(last.Rules[0].Error, "lane 0 (rc 127.0.0.1:1)") || !strings.Contains(last.Rules[1].Error, "nothing went over") {
		t.Errorf("%v, %+v", err, last)
	}
}

// TestFaultInterrupted: who ends a plan before it is over hears what its rules did.
func TestFaultInterrupted(t *testing.T) {
	dir, inj := private(t), injector()
	l := inj.Link("127.0.0.1:1")
	defer l.Close()
	listen(t, dir, control.Handler{Faults: inj})
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	var last control.Reply
	err := control.Ask(ctx, control.Target{Dir: dir, PID: os.Getpid()}, control.Request{Do: "fault", Plan: "cut kind=silence"}, func(r control.Reply) error {
		last = r
		cancel(enough)
		return nil
	})
	if err != enough || !last.Over || last.Rules[0].Hits != 1 || last.Rules[0].InForce || last.Rules[0].InForceS <= 0 || l.Judge(true, 1).Lost {
		t.Errorf("%v, %+v", err, last)
	}
}
