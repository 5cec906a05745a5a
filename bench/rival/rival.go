package rival

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
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/cpu"
)

// RunWithin is how long one run of a program may take.
const RunWithin = 2 * time.Minute

// Programs are those that are run, and the two processors that they use.
type Programs struct {
	BraidPath string // made by Build if empty
	UCXPath   string // found in PATH if empty, by Version
	A, B      string // processors of client and server
	// Listens waits for UCX's server on a port of this host; nil: by the system's table of sockets.
	Listens func(ctx context.Context, port string, ended <-chan struct{}) error
}

// Build makes the braid command of this module unless one is given; clean removes it.
func (p *Programs) Build(ctx context.Context) (clean func(), err error) {
	if p.BraidPath != "" {
		return func() {}, nil
	}
	dir, err := os.MkdirTemp("", "braid-bench")
	if err != nil {
		return nil, err
	}
	clean = func() { os.RemoveAll(dir) }
	p.BraidPath = filepath.Join(dir, "braid")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", p.BraidPath, "github.com/openbraid/braid/cmd/braid").CombinedOutput()
	if err != nil {
		clean()
		return nil, fmt.Errorf("go build: %w: %s", err, out)
	}
	return clean, nil
}

// Braid runs the load with the command of this module.
func (p *Programs) Braid(l Load, more ...string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		args := append([]string{"perftest", "--spawn", "--json", "-t", l.Test}, l.args()...)
		if cpu.CanPin {
			args = append(args, "--cpus", p.A+","+p.B)
		}
		r, err := p.Perftest(ctx, append(args, more...))
		if err != nil {
			return 0, err
		}
		return l.Pick(&r), nil
	}
}

// Perftest runs braid perftest.
func (p *Programs) Perftest(ctx context.Context, args []string) (r perf.Result, err error) {
	ctx, cancel := context.WithTimeout(ctx, RunWithin)
	defer cancel()
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(ctx, p.BraidPath, args...)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		return r, fmt.Errorf("braid %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(errOut.String()))
	}
	return r, json.Unmarshal(out.Bytes(), &r)
}

// UCX runs the load with ucx_perftest over transports of its own (UCX_TLS, such as "tcp" or "posix,cma"), on the loopback interface.
func (p *Programs) UCX(l Load, tls string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		ctx, cancel := context.WithTimeout(ctx, RunWithin)
		defer cancel()
		port, err := freePort()
		if err != nil {
			return 0, err
		}
		server := p.ucxCommand(ctx, tls, p.B, "-p", port)
		if err := server.Start(); err != nil {
			return 0, err
		}
		ended := make(chan struct{})
		go func() { _ = server.Wait(); close(ended) }()
		defer func() { _ = server.Process.Kill(); <-ended }()
		wait := p.Listens
		if wait == nil {
			wait = listens
		}
		if err := wait(ctx, port, ended); err != nil {
			return 0, err
		}
		return p.ucxFigure(p.ucxCommand(ctx, tls, p.A, append([]string{"127.0.0.1", "-p", port, "-v", "-f", "-t", ucxTest(l.Test)}, l.args()...)...), l)
	}
}

// UCXLoop runs the load within one process that sends to itself.
func (p *Programs) UCXLoop(l Load, tls string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		ctx, cancel := context.WithTimeout(ctx, RunWithin)
		defer cancel()
		return p.ucxFigure(p.ucxCommand(ctx, tls, p.A, append([]string{"-l", "-v", "-f", "-t", ucxTest(l.Test)}, l.args()...)...), l)
	}
}

// ucxFigure runs a command that prints figures, and picks one.
func (p *Programs) ucxFigure(cmd *exec.Cmd, l Load) (float64, error) {
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(errOut.String()))
	}
	r, err := parseUCX(string(out))
	return l.Pick(&r), err
}

func (p *Programs) ucxCommand(ctx context.Context, tls, cpu string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.UCXPath, append(args, "-c", cpu)...)
	cmd.Env = append(os.Environ(), "UCX_TLS="+tls, "UCX_NET_DEVICES=lo", "UCX_WARN_UNUSED_ENV_VARS=n", "UCX_LOG_LEVEL=error")
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

// UCXVersion finds the rival, and says why it can't be used.
func (p *Programs) UCXVersion(ctx context.Context) (string, error) {
	if p.UCXPath == "" {
		path, err := exec.LookPath("ucx_perftest")
		if err != nil {
			return "", errors.New("ucx_perftest is not installed (on Debian: apt-get install ucx-utils)")
		}
		p.UCXPath = path
	}
	out, err := exec.CommandContext(ctx, strings.TrimSuffix(p.UCXPath, "_perftest")+"_info", "-v").Output()
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
