package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/cmd/braid/transfer"
)

// running is a command that goes on.
type running struct {
	t     *testing.T
	cmd   *exec.Cmd
	out   bytes.Buffer
	lines chan string // of standard error, or of standard output
	ended chan struct{}
}

// launch starts the command; its lines on standard output come one by one.
func launch(t *testing.T, args ...string) *running {
	t.Helper()
	p := &running{t: t, cmd: exec.Command(self, args...), lines: make(chan string, 1000), ended: make(chan struct{})}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout, p.cmd.Stderr = w, &p.out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	go func() {
		defer close(p.lines)
		defer r.Close()
		rest := ""
		for b := make([]byte, 4096); ; {
			n, err := r.Read(b)
			for rest += string(b[:n]); strings.Contains(rest, "\n"); {
				line, after, _ := strings.Cut(rest, "\n")
				p.lines <- line
				rest = after
			}
			if err != nil {
				return
			}
		}
	}()
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() { p.cmd.Process.Kill(); <-p.ended })
	return p
}

// line waits for a line with a text in it.
func (p *running) line(text string) string {
	p.t.Helper()
	late := time.After(30 * time.Second)
	for {
		select {
		case l, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("it ended without %q: %s", text, &p.out)
			}
			if strings.Contains(l, text) {
				return l
			}
		case <-late:
			p.t.Fatalf("no line with %q", text)
		}
	}
}

// status waits for the end.
func (p *running) status() int {
	p.t.Helper()
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(30 * time.Second):
		p.t.Fatal("it does not end")
		return 0
	}
}

// ends waits for the end of a command that was started, and returns its status.
func ends(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	late := time.AfterFunc(30*time.Second, func() {
		t.Errorf("%q does not end", cmd.Args[1:])
		_ = cmd.Process.Kill()
	})
	defer late.Stop()
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode()
}

// receiver starts braid recv and returns its address.
func recv(t *testing.T, args ...string) (*running, string) {
	t.Helper()
	p := launch(t, append([]string{"recv", "--listen", "127.0.0.1:0"}, args...)...)
	_, addrs, _ := strings.Cut(p.line("listening on"), "listening on ")
	addr, _, _ := strings.Cut(addrs, ",")
	return p, addr
}

func TestSendAndRecv(t *testing.T) {
	t.Parallel()
	dir, from := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"one": "first", "d/two": strings.Repeat("second", 1e6), "d/link": ""} {
		path := filepath.Join(from, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if text == "" {
			err = errors.Join(err, os.Symlink("two", path))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte(text), 0o640))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	p, addr := recv(t, dir)
	out, people, status := built(t, "send", filepath.Join(from, "one"), filepath.Join(from, "d"), addr)
	if status != 0 || !regexp.MustCompile(`^sent 2 files in 1 directory, 6\.0 MB in .*, each piece compared by SHA-256(; .*lost.*)?\n$`).MatchString(out) || !strings.Contains(people, "d/link is a link, and not sent") {
		t.Fatalf("status %d: %s%s", status, out, people)
	}
	if l := p.line("arrived"); !strings.Contains(l, "d, one have arrived: 2 files in 1 directory, 6.0 MB") {
		t.Error(l)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "d/two")); err != nil || len(b) != 6e6 {
		t.Error(len(b), err)
	}
	if strings.Contains(people, "\x1b") {
		t.Errorf("control characters without a terminal: %q", people)
	}
	_, people, status = built(t, "send", filepath.Join(from, "one"), addr)
	if status != 1 || !strings.Contains(people, `braid: the receiver refuses: "one" exists there already; the receiver replaces files only with --overwrite`) {
		t.Errorf("status %d: %s", status, people)
	}
	p.cmd.Process.Signal(syscall.SIGTERM)
	if s := p.status(); s != 0 {
		t.Errorf("an idle receiver was stopped: status %d, %s", s, &p.out)
	}
}

func TestSendStdinAndJSON(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, addr := recv(t, "--once", "--json=false", "--max-bytes", "1M", dir)
	cmd := exec.Command(self, "send", "--json", "--set", "transports=tcp", "-", "--name", "sum.txt", addr)
	cmd.Stdin = strings.NewReader("hello")
	out, err := cmd.Output()
	var got transfer.Result
	if err := errors.Join(err, json.Unmarshal(out, &got)); err != nil || !got.OK || got.Files != 1 || got.Bytes != 5 || len(got.Lanes) != 1 || got.Lanes[0].Bytes < 5 || !got.Verified {
		t.Errorf("%v: %s", err, out)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "sum.txt")); string(b) != "hello" {
		t.Errorf("%q", b)
	}
	if s := p.status(); s != 0 {
		t.Errorf("status %d: %s", s, &p.out)
	}
	text, _, status := built(t, "send", "--json", dir, addr) // nobody listens there any more
	got = transfer.Result{}
	if err := json.Unmarshal([]byte(text), &got); err != nil || status != 1 || got.OK || !strings.Contains(got.Error, addr) {
		t.Errorf("status %d, %v: %s", status, err, text)
	}
}

// TestNewDirectory: the first command of the README, in an empty directory.
func TestNewDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "incoming")
	p, addr := recv(t, "--once", dir)
	if _, people, status := built(t, "send", self, addr); status != 0 {
		t.Fatalf("status %d: %s", status, people)
	}
	p.status()
	if _, err := os.Stat(filepath.Join(dir, filepath.Base(self))); err != nil {
		t.Error(err)
	}
	if _, people, status := built(t, "recv", ""); status != shell.BadUsage || !strings.Contains(people, "DIR is empty") {
		t.Errorf("status %d: %s", status, people)
	}
}

// TestJSONOfFailures: one object, whatever it is and however early.
func TestJSONOfFailures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for args, says := range map[string]string{
		"send --json " + dir + "/nothing 127.0.0.1:1": "no such file",
		"send --json / 127.0.0.1:1":                   "has no name",
		"send --json " + dir + " " + dir + " h":       "would both be called",
		"send --json - --name a/b h":                  "--name",
		"send --json " + dir + " 127.0.0.1:1":         "nobody listens",
	} {
		out, people, status := built(t, strings.Fields(args)...)
		var got transfer.Result
		if err := json.Unmarshal([]byte(out), &got); err != nil || status == 0 || got.OK || !strings.Contains(got.Error, says) || !strings.Contains(people, says) {
			t.Errorf("braid %s: status %d, %v: %s%s", args, status, err, out, people)
		}
	}
}

// TestTransferEnds: exit statuses of both sides, whoever ends it in the middle.
func TestTransferEnds(t *testing.T) {
	t.Parallel()
	hup := make(chan os.Signal, 1) // under nohup it is ignored, and programs inherit that: not what is heard here
	signal.Notify(hup, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hup) })
	for _, c := range []struct {
		name         string
		stop         string // whom
		with         syscall.Signal
		sends, takes int // statuses
		says         string
	}{
		{"sender is stopped", "send", syscall.SIGINT, shell.Interrupted, 1, "the sender was stopped"},
		{"receiver is stopped", "recv", syscall.SIGINT, 1, shell.Interrupted, "the receiver was stopped"},
		{"sender's terminal is closed", "send", syscall.SIGHUP, shell.Interrupted, 1, "the sender was stopped"},
		{"receiver's terminal is closed", "recv", syscall.SIGHUP, 1, shell.Interrupted, "the receiver was stopped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p, addr := recv(t, "--once", dir)
			cmd := exec.Command(self, "send", "-q", "-", addr)
			var said bytes.Buffer
			cmd.Stderr = &said
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = in.Write(make([]byte, 3<<20)) }()
			p.line("of 1 file ...")
			who := cmd.Process
			if c.stop == "recv" {
				who = p.cmd.Process
			}
			if err := who.Signal(c.with); err != nil {
				t.Fatal(err)
			}
			if c.with == syscall.SIGHUP { // the shell sends one, the terminal another
				go func() {
					for who.Signal(c.with) == nil { // until it has gone
						time.Sleep(time.Millisecond)
					}
				}()
			}
			sends := ends(t, cmd)
			takes := p.status()
			if sends != c.sends || takes != c.takes {
				t.Errorf("statuses %d and %d, want %d and %d: %s%s", sends, takes, c.sends, c.takes, &said, &p.out)
			}
			if all := said.String() + p.out.String(); !strings.Contains(all, c.says) {
				t.Errorf("%q is not said: %s", c.says, all)
			}
			if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
				t.Errorf("%v was left, %v", list, err)
			}
		})
	}
}

// TestReceiverIsKilled: what it leaves is gone after the next start, and the sender learns of it.
func TestReceiverIsKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, addr := recv(t, dir)
	cmd := exec.Command(self, "send", "-q", "-", addr)
	var said bytes.Buffer
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	go func() { _, _ = in.Write(make([]byte, 3<<20)) }()
	p.line("of 1 file ...")
	p.cmd.Process.Kill()
	p.status()
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 || !strings.HasPrefix(list[0].Name(), ".braid-") {
		t.Errorf("%v, %v", list, err)
	}
	cmd.Process.Signal(os.Interrupt) // it would wait for the receiver to come back
	if s := ends(t, cmd); s != shell.Interrupted {
		t.Errorf("status %d: %s", s, &said)
	}
	recv(t, dir)
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("%v was left, %v", list, err)
	}
}

func TestWrongTransfers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"send", 2, "<path> ... <addr>"},
		{"send x", 2, "where to"},
		{"send - x 127.0.0.1", 2, "alone"},
		{"send --name a x 127.0.0.1", 2, "--name"},
		{"send " + dir + "/nothing 127.0.0.1:1", 1, "no such file"},
		{"send " + dir + " 127.0.0.1:1", 1, "nobody listens there"},
		{"send / 127.0.0.1:1", 1, "has no name"},
		{"recv", 2, "<dir>"},
		{"recv " + dir + "/nothing/deeper", 1, "mkdir -p"},
		{"recv " + dir + "/nothing/deeper", 1, dir + "/nothing/deeper"},
		{"recv --max-bytes -1 " + dir, 2, "64MiB"},
		{"send - --name sub/x 127.0.0.1", 2, "--name"},
		{"send - --name .. 127.0.0.1", 2, "--name"},
		{"send - --name .braid-x 127.0.0.1", 2, "--name"},
		{"recv --max-bytes x " + dir, 2, "500M"},
		{"recv --max-files 0 " + dir, 2, "--max-files"},
		{"recv --listen 192.0.2.1:0 " + dir, 1, "192.0.2.1"},
	} {
		out, people, status := built(t, strings.Fields(c.args)...)
		if status != c.status || !strings.Contains(people, c.says) || out != "" {
			t.Errorf("braid %s: status %d, want %d, and %q in %q, not %q", c.args, status, c.status, c.says, people, out)
		}
	}
}
