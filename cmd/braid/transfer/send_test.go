package transfer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/internal/files"
)

// TestNotSent: "nothing was kept" is said only when that is known.
func TestNotSent(t *testing.T) {
	interrupted := fmt.Errorf("%w: by hand", files.ErrInterrupted)
	for want, err := range map[string]error{
		"interrupted: nothing was kept there": interrupted,
		"not known: look there":               &files.UnsureError{Err: interrupted},
	} {
		if got := notSent(err); !strings.Contains(got.Error(), want) || !errors.Is(got, shell.ErrInterrupted) {
			t.Errorf("%v, not %q", got, want)
		}
	}
	lost := &files.LostError{Err: errors.New("no lane is left")}
	if got := notSent(lost); !errors.Is(got, lost) || !strings.Contains(got.Error(), "no lane is left; nothing was kept there: send it again") {
		t.Error(got)
	}
	if got := notSent(&files.UnsureError{Err: lost}); strings.Contains(got.Error(), "nothing was kept") || !strings.Contains(got.Error(), "look there") {
		t.Error(got)
	}
	if got := notSent(&files.UnsureError{Err: errors.New("the connection was lost")}); errors.Is(got, shell.ErrInterrupted) || !strings.Contains(got.Error(), "not known") {
		t.Error(got)
	}
}

// TestFailed: programs are told what people are.
func TestFailed(t *testing.T) {
	interrupted := fmt.Errorf("%w: %w", files.ErrInterrupted, shell.ErrInterrupted)
	if r := failed(interrupted); r.OK || r.Unknown || r.Error != "interrupted: nothing was kept there" {
		t.Errorf("%+v", r)
	}
	if r := failed(&files.LostError{Err: errors.New("no lane is left")}); !strings.HasSuffix(r.Error, "waits longer for that") {
		t.Errorf("%+v", r)
	}
	if r := failed(&files.UnsureError{Err: interrupted}); !r.Unknown || !strings.Contains(r.Error, "look there") {
		t.Errorf("%+v", r)
	}
}

// TestLooks: who waits for a large tree to be listed is told so, once; who asked for quiet, and whose tree is small, is not.
func TestLooks(t *testing.T) {
	for _, c := range []struct {
		quiet bool
		long  time.Duration
		says  int
	}{{false, 0, 1}, {true, 0, 0}, {false, time.Hour, 0}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		done := newShow(shell.World{ErrOut: shell.Output{File: w}}, &Send{Plain: true, Quiet: c.quiet}).looks(c.long)
		var line string
		if c.says > 0 {
			line, _ = bufio.NewReader(r).ReadString('\n')
		}
		done()
		w.Close()
		rest, err := io.ReadAll(r)
		r.Close()
		if err != nil || strings.Count(line+string(rest), "looking at what is to be sent") != c.says {
			t.Errorf("%+v: %q, %v", c, line+string(rest), err)
		}
	}
}

// TestRecvCheck: each flag that can't be is named, with its value.
func TestRecvCheck(t *testing.T) {
	good := Recv{Dir: "in", MaxFiles: 1, Clients: 1}
	if err := good.check(); err != nil {
		t.Error(err)
	}
	for says, spoil := range map[string]func(c *Recv){
		"--max-files 0": func(c *Recv) { c.MaxFiles = 0 }, "--clients 0": func(c *Recv) { c.Clients = 0 }, "--clients 1001": func(c *Recv) { c.Clients = 1001 },
		"--stall -1s": func(c *Recv) { c.Stall = -time.Second }, "DIR is empty": func(c *Recv) { c.Dir = "" },
	} {
		c := good
		if spoil(&c); c.check() == nil || !strings.Contains(c.check().Error(), says) {
			t.Errorf("%v, not %q", c.check(), says)
		}
	}
}

// TestCheckLine: an empty variable is not this host, and what scp takes is no port.
func TestCheckLine(t *testing.T) {
	for _, ok := range [][]string{{"a", "h"}, {"a", "h:1"}, {"-", "::1"}, {"a", "fe80::1%eth0"}, {"a", "[fe80::1%eth0]:9"}} {
		if err := checkLine(ok); err != nil {
			t.Error(ok, err)
		}
	}
	for says, wrong := range map[string][]string{
		"ADDR is empty": {"a", ""}, "PATH is empty": {"", "h"}, "braid recv DIR": {"a", "root@h:/tmp"}, "HOST:PORT": {"a", "http://h"}, "and is none": {"a", "./b"},
	} {
		if err := checkLine(wrong); err == nil || !strings.Contains(err.Error(), says) {
			t.Error(wrong, err)
		}
	}
}
