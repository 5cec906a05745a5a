package transfer

import (
	"errors"
	"fmt"
	"strings"
	"testing"

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
