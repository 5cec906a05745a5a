package multiproc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// slow is the rate of each of two rails, in bits a second: a small part of what a busy processor hashes and writes.
const (
	slow      = "64mbit"
	slowBytes = 24 << 20 // 1.5 s
	slowTries = 4        // a machine may have something else to do for a while
)

// TestFilesFillRails: where rails are slower than disks and processors, braid send has at least 0.8 of what puts alone have on the same two.
func TestFilesFillRails(t *testing.T) {
	ctx := within(t, 12*patience)
	w := newWorld(t, 2)
	if _, err := exec.LookPath("tc"); err != nil {
		skip(t, "needs the tc command (package iproute2): %v", err)
	}
	for _, ns := range []string{w.left, w.right} {
		for i := 1; i <= 2; i++ {
			if out, err := exec.Command("tc", "-n", ns, "qdisc", "add", "dev", w.link(i), "root", "tbf", "rate", slow, "burst", "64kb", "latency", "50ms").CombinedOutput(); err != nil {
				skip(t, "this system does not limit the rate of a link: %v: %s", err, out)
			}
		}
	}
	c := &commands{t: t, w: w, braid: filepath.Join(t.TempDir(), "braid"), file: filepath.Join(t.TempDir(), "file")}
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", c.braid, root+"/cmd/braid").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v: %s", err, out)
	}
	b := make([]byte, slowBytes)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b) // it never fails
	if err := os.WriteFile(c.file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	for try := 1; ; try++ {
		puts, sends := c.put(ctx), c.send(ctx)
		t.Logf("puts %.1f MB/s, send %.1f MB/s, ratio %.2f", puts, sends, sends/puts)
		if sends >= 0.8*puts {
			return
		}
		if try == slowTries {
			t.Fatal("below 0.8 each time")
		}
	}
}

// commands run braid in both namespaces.
type commands struct {
	t     *testing.T
	w     *world
	braid string
	file  string
}

// serve starts one on the right, and returns its port and a way to wait for its end.
func (c *commands) serve(ctx context.Context, args ...string) (port string, end func()) {
	c.t.Helper()
	cmd := exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", c.w.right, c.braid}, args...)...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, addrs, ok := strings.Cut(lines.Text(), "listening on "); ok {
			addr, _, _ := strings.Cut(addrs, ",")
			return addr[strings.LastIndex(addr, ":")+1:], func() { // it ends by itself: once
				for lines.Scan() {
				}
				_ = cmd.Wait()
			}
		}
	}
	c.t.Fatalf("braid %q listens nowhere: %v", args, cmd.Wait())
	return "", nil
}

// run runs one on the left to its end, and decodes what it prints.
func (c *commands) run(ctx context.Context, result any, args ...string) {
	c.t.Helper()
	cmd := exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", c.w.left, c.braid}, args...)...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		c.t.Fatalf("braid %q: %v: %s", args, err, exit.Stderr)
	}
	if err := errors.Join(err, json.Unmarshal(out, result)); err != nil {
		c.t.Fatalf("braid %q: %v: %s", args, err, out)
	}
}

// put is what puts alone have, in MB/s.
func (c *commands) put(ctx context.Context) float64 {
	port, end := c.serve(ctx, "perftest", "--listen", "0.0.0.0", "-p", "0", "--shared")
	var r struct {
		Bandwidth float64 `json:"bandwidth_mb_s"`
	}
	c.run(ctx, &r, "perftest", "10.77.1.2", "-p", port, "--shared", "--json", "-t", "put_bw", "-s", "1m", "-n", "24", "-w", "0", "--lanes", "2")
	end()
	return r.Bandwidth
}

// send is what a file has.
func (c *commands) send(ctx context.Context) float64 {
	dir := c.t.TempDir()
	port, end := c.serve(ctx, "recv", "--once", "--listen", "0.0.0.0:0", dir)
	var r struct {
		Bytes   float64 `json:"bytes"`
		Seconds float64 `json:"seconds"`
		Lanes   []any   `json:"lanes"`
	}
	c.run(ctx, &r, "send", "--json", "-q", c.file, "10.77.1.2:"+port)
	end()
	if len(r.Lanes) != 2 || r.Bytes != slowBytes {
		c.t.Fatalf("%+v", r)
	}
	return r.Bytes / r.Seconds / 1e6
}
