package multiproc

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// world is two network namespaces, joined by pairs of virtual links: link i has the addresses 10.77.i.1 and 10.77.i.2.
type world struct {
	t     testing.TB
	left  string
	right string
	links int
	batch [2]io.WriteCloser // ip commands inside of left and right, without starting a process for each
}

// skip skips a test with the reason, or fails it where it must run: a check that was left out must not look green.
func skip(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("BRAID_NO_SKIP") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// newWorld makes the namespaces, or skips the test with the reason why that can't be.
func newWorld(t testing.TB, links int) *world {
	t.Helper()
	if os.Geteuid() != 0 {
		skip(t, "needs root, to make network namespaces")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		skip(t, "needs the ip command (package iproute2): %v", err)
	}
	w := &world{t: t, links: links, left: fmt.Sprintf("braid-%d-l", os.Getpid()), right: fmt.Sprintf("braid-%d-r", os.Getpid())}
	for _, ns := range []string{w.left, w.right} {
		if out, err := exec.Command("ip", "netns", "add", ns).CombinedOutput(); err != nil {
			skip(t, "this system does not let network namespaces be made: %v: %s", err, out)
		}
		t.Cleanup(func() { exec.Command("ip", "netns", "del", ns).Run() })
		w.ip("-n", ns, "link", "set", "lo", "up")
	}
	for i := 1; i <= links; i++ {
		w.ip("link", "add", w.link(i), "netns", w.left, "type", "veth", "peer", "name", w.link(i), "netns", w.right)
		for side, ns := range []string{w.left, w.right} {
			w.ip("-n", ns, "addr", "add", fmt.Sprintf("10.77.%d.%d/24", i, side+1), "dev", w.link(i))
			w.ip("-n", ns, "link", "set", w.link(i), "up")
		}
	}
	for i, ns := range []string{w.left, w.right} {
		w.batch[i] = w.openBatch(ns)
	}
	return w
}

func (w *world) link(i int) string { return fmt.Sprintf("lane%d", i) }

func (w *world) ip(args ...string) {
	w.t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		w.t.Fatalf("ip %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// openBatch is a running ip command that takes more commands from a pipe.
func (w *world) openBatch(ns string) io.WriteCloser {
	w.t.Helper()
	cmd := exec.Command("ip", "-n", ns, "-batch", "-")
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			w.t.Errorf("ip -batch: %v", err)
		}
	})
	return in
}

// set takes a link down or up, at one end: 0 is left.
func (w *world) set(end, link int, state string) {
	w.t.Helper()
	if _, err := fmt.Fprintf(w.batch[end], "link set dev %s %s\n", w.link(link), state); err != nil {
		w.t.Fatal(err)
	}
}

// rails are the addresses of one end.
func (w *world) rails(end int) (addrs []string) {
	for i := 1; i <= w.links; i++ {
		addrs = append(addrs, fmt.Sprintf("10.77.%d.%d", i, end+1))
	}
	return addrs
}
