package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/cpu"
)

// runWithin is how long one run of a program may take.
const runWithin = 2 * time.Minute

// load is one test to be run by braid and by a peer.
type load struct {
	test  string
	size  int
	iters int
	pick  func(*perf.Result) float64
	more  []string // options that both know
}

func p50(r *perf.Result) float64       { return r.Latency.P50 }
func bandwidth(r *perf.Result) float64 { return r.Bandwidth }
func rate(r *perf.Result) float64      { return r.Rate }

// warm is how many operations come before those that count.
func (l load) warm() int { return min(l.iters/5, perf.DefaultWarmup) }

func (l load) args() []string {
	return append([]string{"-s", strconv.Itoa(l.size), "-n", strconv.Itoa(l.iters), "-w", strconv.Itoa(l.warm())}, l.more...)
}

// braid runs the load with the command of this module.
func (b *bench) braid(l load, more ...string) runner {
	return func(ctx context.Context) (float64, error) {
		args := append([]string{"perftest", "--spawn", "--json", "-t", l.test}, l.args()...)
		if cpu.CanPin {
			args = append(args, "--cpus", b.cpuA+","+b.cpuB)
		}
		r, err := b.perftest(ctx, append(args, more...))
		if err != nil {
			return 0, err
		}
		return l.pick(&r), nil
	}
}

func (b *bench) perftest(ctx context.Context, args []string) (r perf.Result, err error) {
	ctx, cancel := context.WithTimeout(ctx, runWithin)
	defer cancel()
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(ctx, b.Braid, args...)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		return r, fmt.Errorf("braid %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(errOut.String()))
	}
	return r, json.Unmarshal(out.Bytes(), &r)
}

// ucx runs the load with ucx_perftest over TCP on the loopback interface.
func (b *bench) ucx(l load) runner {
	return func(ctx context.Context) (float64, error) {
		ctx, cancel := context.WithTimeout(ctx, runWithin)
		defer cancel()
		port, err := freePort()
		if err != nil {
			return 0, err
		}
		server := b.ucxCommand(ctx, b.cpuB, "-p", port)
		if err := server.Start(); err != nil {
			return 0, err
		}
		ended := make(chan struct{})
		go func() { _ = server.Wait(); close(ended) }()
		defer func() { _ = server.Process.Kill(); <-ended }()
		if err := listens(ctx, port, ended); err != nil {
			return 0, err
		}
		client := b.ucxCommand(ctx, b.cpuA, append([]string{"127.0.0.1", "-p", port, "-v", "-f", "-t", ucxTest(l.test)}, l.args()...)...)
		var errOut bytes.Buffer
		client.Stderr = &errOut
		out, err := client.Output()
		if err != nil {
			return 0, fmt.Errorf("%s: %w: %s", strings.Join(client.Args, " "), err, strings.TrimSpace(errOut.String()))
		}
		r, err := parseUCX(string(out))
		return l.pick(&r), err
	}
}

func (b *bench) ucxCommand(ctx context.Context, cpu string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.UCX, append(args, "-c", cpu)...)
	cmd.Env = append(os.Environ(), "UCX_TLS=tcp", "UCX_NET_DEVICES=lo", "UCX_WARN_UNUSED_ENV_VARS=n", "UCX_LOG_LEVEL=error")
	return cmd
}

// parseUCX reads the last line of CSV: iterations, percentile, average and overall latency, average and overall
// bandwidth in 2^20 bytes, average and overall rate.
func parseUCX(out string) (r perf.Result, err error) {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	fields := strings.Split(lines[len(lines)-1], ",")
	if len(fields) != 8 {
		return r, fmt.Errorf("ucx_perftest printed %q instead of 8 numbers", lines[len(lines)-1])
	}
	var v [8]float64
	for i, f := range fields {
		if v[i], err = strconv.ParseFloat(strings.TrimSpace(f), 64); err != nil {
			return r, fmt.Errorf("ucx_perftest printed %q: %w", lines[len(lines)-1], err)
		}
	}
	r.Iterations, r.Latency.P50, r.Latency.Avg = int(v[0]), v[1], v[3]
	r.Bandwidth, r.Rate = v[5]*(1<<20)/1e6, v[7]
	return r, nil
}

// freePort asks the system for a port that nobody uses now.
func freePort() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer ln.Close()
	_, port, err := net.SplitHostPort(ln.Addr().String())
	return port, err
}

// listens waits until somebody listens on a port. It must not connect: the server takes the first one for its client. Nor may it try
// to listen there itself: a server that binds the port at that moment finds it taken, and ends.
func listens(ctx context.Context, port string, ended <-chan struct{}) error {
	for {
		for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
			table, err := os.ReadFile(name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // no IPv6
				return err
			}
			if taken(string(table), port) {
				return nil
			}
		}
		select {
		case <-ended:
			return errors.New("the server of ucx_perftest ended before its client came")
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// taken says whether a table of the system's sockets has one that listens on a port. Source: Linux, Documentation/networking/proc_net_tcp.rst
func taken(table, port string) bool {
	const listening = "0A"
	n, err := strconv.Atoi(port)
	if err != nil {
		return false
	}
	end := fmt.Sprintf(":%04X", n)
	for line := range strings.Lines(table) {
		if f := strings.Fields(line); len(f) > 3 && strings.HasSuffix(f[1], end) && f[3] == listening {
			return true
		}
	}
	return false
}

// ucxVersion finds the peer, and says why it can't be used.
func (b *bench) ucxVersion(ctx context.Context) (string, error) {
	if b.UCX == "" {
		path, err := exec.LookPath("ucx_perftest")
		if err != nil {
			return "", errors.New("ucx_perftest is not installed (on Debian: apt-get install ucx-utils)")
		}
		b.UCX = path
	}
	out, err := exec.CommandContext(ctx, strings.TrimSuffix(b.UCX, "_perftest")+"_info", "-v").Output()
	if err != nil {
		return "unknown version", nil
	}
	for _, w := range strings.Fields(string(out)) {
		if strings.Count(w, ".") == 2 {
			return w, nil
		}
	}
	return "unknown version", nil
}

// ucxTest is what ucx_perftest calls a test: those of tags and streams have no prefix.
func ucxTest(test string) string {
	if strings.HasPrefix(test, "tag_") || strings.HasPrefix(test, "stream_") {
		return test
	}
	return "ucp_" + test
}
