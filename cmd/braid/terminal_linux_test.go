package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a new one: what is written to it can be read from keyboard.
func terminal(t *testing.T) (keyboard, screen *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("needs /dev/ptmx: ", err)
	}
	t.Cleanup(func() { keyboard.Close() })
	fd := int(keyboard.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 100})
	}
	if err == nil {
		screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skip("no terminal can be made: ", err)
	}
	t.Cleanup(func() { screen.Close() })
	return keyboard, screen
}

// shownLane is the name of a lane, as it is shown with its rate.
const shownLane = "127.0.0.1->127.0.0.1"

// TestTerminal: on a terminal there is a picture of the lanes, and with --plain there are lines.
func TestTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, addr := recv(t, dir)
	for i, plain := range []bool{false, true} {
		keyboard, screen := terminal(t)
		cmd := exec.Command(self, "send", "-", "--name", fmt.Sprintf("f%d", i), addr, fmt.Sprintf("--plain=%v", plain))
		cmd.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = screen
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		screen.Close()
		seen, lane := make(chan string, 1), make(chan struct{})
		go func() {
			all := ""
			for b := make([]byte, 4096); ; {
				n, err := keyboard.Read(b)
				before := strings.Contains(all, shownLane)
				if all += string(b[:n]); err != nil { // the last one who has it open has closed it
					seen <- all
					return
				}
				if !before && strings.Contains(all, shownLane) {
					close(lane)
				}
			}
		}()
		_, _ = io.WriteString(in, strings.Repeat("braid", 1<<20))
		select {
		case <-lane:
		case <-time.After(30 * time.Second):
			t.Fatal("no lane is seen")
		}
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		got := <-seen
		if picture := strings.Contains(got, "●") && strings.Contains(got, "\x1b[J"); picture == plain {
			t.Errorf("plain %v: %q", plain, got)
		}
		if info, err := os.Stat(filepath.Join(dir, fmt.Sprintf("f%d", i))); err != nil || info.Size() != 5<<20 {
			t.Error(info, err)
		}
	}
}
