package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/openbraid/braid/cmd/braid/shell"
)

// unread is a place to print to that nobody reads.
func unread(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	t.Cleanup(func() { w.Close() })
	return w
}

// TestUnread: a command of whom nobody reads what it prints ends as one that is interrupted: nothing is left, and the other side learns of it at once.
func TestUnread(t *testing.T) {
	t.Parallel()
	for who, want := range map[string]struct {
		sends int
		takes []int
		says  string
	}{
		"recv": {shell.Failed, []int{shell.Interrupted}, "the receiver was stopped"},
		"send": {shell.Interrupted, []int{shell.Failed, shell.Interrupted}, ""}, // its first line may come before it has offered anything: then the receiver is stopped by us
	} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			receiver := exec.Command(self, "recv", "--listen", "127.0.0.1:0", "--once", dir)
			var takes, sends bytes.Buffer
			receiver.Stdout, receiver.Stderr = w, &takes
			if err := receiver.Start(); err != nil {
				t.Fatal(err)
			}
			w.Close()
			t.Cleanup(func() { receiver.Process.Kill() })
			line, err := bufio.NewReader(r).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			_, addrs, _ := strings.Cut(strings.TrimSpace(line), "listening on ")
			addr, _, _ := strings.Cut(addrs, ",")

			sender := exec.Command(self, "send", "-", addr)
			sender.Stderr = &sends
			if who == "recv" {
				r.Close() // as head -1 does; it will have more to say
			} else {
				sender.Stderr = unread(t)
			}
			in, err := sender.StdinPipe() // it does not end: who ends does so for what is tested here
			if err != nil {
				t.Fatal(err)
			}
			if err := sender.Start(); err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = in.Write(make([]byte, 3<<20)) }()
			if s := ends(t, sender); s != want.sends || !strings.Contains(sends.String(), want.says) {
				t.Errorf("sender: status %d, want %d and %q: %s", s, want.sends, want.says, &sends)
			}
			if who == "send" {
				_ = receiver.Process.Signal(os.Interrupt)
			}
			if s := ends(t, receiver); !slices.Contains(want.takes, s) {
				t.Errorf("receiver: status %d, want one of %d: %s", s, want.takes, &takes)
			}
			if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
				t.Errorf("%v was left, %v", list, err)
			}
		})
	}
}

// TestNohup: who is told to go on when the terminal is closed does.
func TestNohup(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sh", "-c", `trap "" HUP; exec "$0" recv --listen 127.0.0.1:0 "$1"`, self, t.TempDir())
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err == nil {
		err = cmd.Process.Signal(syscall.SIGHUP)
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = lines.WriteTo(io.Discard) }()
	_, addrs, _ := strings.Cut(strings.TrimSpace(line), "listening on ")
	addr, _, _ := strings.Cut(addrs, ",")
	if _, people, status := built(t, "send", "-q", self, addr); status != 0 {
		t.Errorf("status %d: %s", status, people)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if s := ends(t, cmd); s != shell.Done {
		t.Errorf("status %d", s)
	}
}

// TestUnreadResult: what prints and ends says nothing of a reader that has enough.
func TestUnreadResult(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	cmd := exec.Command(self, "info", "config")
	cmd.Stdout, cmd.Stderr = unread(t), &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if s := ends(t, cmd); s != shell.Unread || said.Len() > 0 {
		t.Errorf("status %d: %s", s, &said)
	}
}

// TestVersionWord: the word does what the flag does.
func TestVersionWord(t *testing.T) {
	t.Parallel()
	out, people, status := built(t, "version")
	if want, _, _ := built(t, "--version"); status != 0 || people != "" || out != want {
		t.Errorf("status %d: %s%s", status, out, people)
	}
}

// TestInterruptedTogether: a terminal sends Ctrl-C to both processes of a test. The one that was started by the other leaves it to that one to end, and to say so.
func TestInterruptedTogether(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	cmd := exec.Command(self, "perftest", "-p", "0", "--no-once", "--guard") // as --spawn does it
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		err = cmd.Process.Signal(os.Interrupt)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, addr, _ := strings.Cut(strings.TrimSpace(line), "listening on ")
	if _, people, status := built(t, "perftest", addr, "-t", "am_lat", "-n", "100", "-w", "0"); status != 0 {
		t.Errorf("status %d: %s", status, people)
	}
	in.Close()
	if s := ends(t, cmd); s != shell.Done || said.Len() > 0 {
		t.Errorf("status %d: %s", s, &said)
	}
}
