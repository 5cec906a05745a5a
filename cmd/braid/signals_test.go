package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/openbraid/braid/cmd/braid/shell"
)

// TestUnread: a command of whom nobody reads what it prints ends as one that is interrupted: nothing is left, and the other side learns of it at once.
func TestUnread(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"recv", "send"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			receiver := exec.Command(self, "recv", "--listen", "127.0.0.1:0", "--once", dir)
			var takes, sends bytes.Buffer
			receiver.Stdout, receiver.Stderr = w, &takes
			if err := receiver.Start(); err != nil {
				t.Fatal(err)
			}
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
				defer r.Close()
				unread, stderr, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				unread.Close()
				defer stderr.Close()
				sender.Stderr = stderr
			}
			in, err := sender.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := sender.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { sender.Process.Kill() })
			go func() { _, _ = in.Write(make([]byte, 3<<20)) }()
			_ = sender.Wait()
			if want := map[string]int{"recv": shell.Failed, "send": shell.Interrupted}[who]; sender.ProcessState.ExitCode() != want {
				t.Errorf("sender: status %d, want %d: %s", sender.ProcessState.ExitCode(), want, &sends)
			}
			if who == "send" { // it may have ended before it had offered anything
				_ = receiver.Process.Signal(os.Interrupt)
			}
			_ = receiver.Wait()
			if who == "recv" && (receiver.ProcessState.ExitCode() != shell.Interrupted || !strings.Contains(sends.String(), "was stopped")) {
				t.Errorf("receiver: status %d: %s%s", receiver.ProcessState.ExitCode(), &takes, &sends)
			}
			if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
				t.Errorf("%v was left, %v", list, err)
			}
		})
	}
}

// TestUnreadResult: what prints and ends says nothing of a reader that has enough.
func TestUnreadResult(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	var said bytes.Buffer
	cmd := exec.Command(self, "info", "config")
	cmd.Stdout, cmd.Stderr = w, &said
	_ = cmd.Run()
	if s := cmd.ProcessState.ExitCode(); s != shell.Unread || said.Len() > 0 {
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
