package multiproc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long anything may take that should take milliseconds: two processors may be busy with other things,
// and the race detector slows all down.
const patience = 15 * time.Second

// begin guards a test: it must leave no goroutine behind. Its context ends before anybody's patience does.
func begin(t *testing.T) context.Context {
	t.Helper()
	since := time.Now()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		goleak.VerifyNone(t, before)
		t.Logf("took %v", time.Since(since).Round(time.Millisecond))
	})
	return within(t, 2*patience)
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// child is a second process.
type child struct {
	t     testing.TB
	name  string
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
	noise bytes.Buffer // its standard error; read it after done
	done  chan struct{}
}

// start runs the test binary again.
func start(t testing.TB, j job) *child {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	argv := []string{os.Args[0]}
	if j.Netns != "" {
		argv = []string{"ip", "netns", "exec", j.Netns, os.Args[0]}
	}
	c := &child{t: t, name: j.Role, cmd: exec.Command(argv[0], argv[1:]...), lines: make(chan string, 1024), done: make(chan struct{})}
	// The race detector would have a process sleep for a second before it exits.
	c.cmd.Env = append(os.Environ(), jobKey+"="+string(text), strings.TrimSpace("GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0"))
	c.cmd.Env = append(c.cmd.Env, j.Env...)
	c.cmd.Stderr = &c.noise
	c.cmd.WaitDelay = time.Second
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go c.read(out)
	t.Cleanup(func() { c.kill(); c.in.Close() })
	return c
}

func (c *child) read(out io.Reader) {
	defer close(c.done)
	defer c.cmd.Wait()
	defer close(c.lines)
	for s := bufio.NewScanner(out); s.Scan(); {
		select {
		case c.lines <- s.Text():
		default: // nobody reads what it says
		}
	}
}

// expect waits for a line that begins with the word, and returns its rest. Other lines are passed over.
func (c *child) expect(word string) string {
	c.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		select {
		case line, ok := <-c.lines:
			if !ok {
				<-c.done
				c.t.Fatalf("%s ended (%v) and never said %q:\n%s", c.name, c.cmd.ProcessState, word, &c.noise)
			}
			if first, rest, _ := strings.Cut(line, " "); first == word {
				return rest
			}
		case <-late.C:
			c.t.Fatalf("%s did not say %q within %v", c.name, word, patience)
		}
	}
}

// number is expect for a line of one number.
func (c *child) number(word string) (n int) {
	c.t.Helper()
	if text := c.expect(word); text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil {
			c.t.Fatalf("%s said %s %q: %v", c.name, word, text, err)
		}
	}
	return n
}

// tell gives it a command.
func (c *child) tell(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatalf("%s does not listen: %v", c.name, err)
	}
}

func (c *child) signal(s syscall.Signal) {
	c.cmd.Process.Signal(s)
	if s == syscall.SIGSTOP {
		c.stopped()
	}
}

// stopped waits until the process really stands still: a signal only asks for it, and on a loaded machine the process may go
// on for a while.
func (c *child) stopped() {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
		if err != nil || bytes.Contains(stat, []byte(") T ")) {
			return
		}
	}
	c.t.Errorf("%s does not stop", c.name)
}

// kill is kill -9, and waits until the process is gone. Idempotent.
func (c *child) kill() {
	c.signal(syscall.SIGKILL)
	select {
	case <-c.done:
	case <-time.After(patience):
		c.t.Errorf("%s survives SIGKILL", c.name)
	}
}

// exits waits for the process to end by itself, without an error.
func (c *child) exits() {
	c.t.Helper()
	select {
	case <-c.done:
		if !c.cmd.ProcessState.Success() {
			c.t.Fatalf("%s: %v:\n%s", c.name, c.cmd.ProcessState, &c.noise)
		}
	case <-time.After(patience):
		c.t.Fatalf("%s does not end", c.name)
	}
}
