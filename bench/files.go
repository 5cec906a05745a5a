package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/openbraid/braid/bench/duel"
	"github.com/openbraid/braid/bench/rival"
	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/median"
)

// fileBytes is the size of the file that is sent.
const fileBytes = 512 * rival.MiB

// place is where two commands run, and meet.
type place struct {
	left, right []string // what comes before a command: of the sender, of the receiver
	host        string   // the receiver's
	listen      string
	lanes       string
	ns          string   // of the sender
	settings    []string // of a server of perftest, besides
}

var here = place{host: "127.0.0.1", listen: "127.0.0.1", lanes: "1"}

// files compares braid send with what puts alone reach on the same lanes.
func (b *bench) files(ctx context.Context, r *report) error {
	if !b.wants("files/loopback") && !b.wants("files/rails2") {
		return nil
	}
	c, err := newCopies(b)
	if err != nil {
		return err
	}
	defer c.close()
	if b.wants("files/loopback") {
		rows, err := c.compare(ctx, "files/loopback", here, c.work)
		if err != nil {
			return err
		}
		r.Rows = append(append(r.Rows, rows...), c.limit(), hashRate())
	}
	if b.wants("files/rails2") {
		p, clean, err := joined(railRate, railRate)
		if err != nil {
			r.Skipped = append(r.Skipped, "files/rails2: "+err.Error())
			return nil
		}
		defer clean()
		rows, err := c.compare(ctx, "files/rails2", p, nil)
		if err != nil {
			return err
		}
		r.Rows = append(r.Rows, rows...)
	}
	return nil
}

// copies sends a file again and again.
type copies struct {
	b    *bench
	dir  string
	file string
	cpu  []float64 // seconds of processors, of both sides, for each byte
}

// newCopies makes the file, in memory where that is possible: disks are not the question.
func newCopies(b *bench) (*copies, error) {
	base := "/dev/shm"
	if _, err := os.Stat(base); err != nil {
		base = ""
	}
	dir, err := os.MkdirTemp(base, "braid-bench")
	if err != nil {
		return nil, err
	}
	c := &copies{b: b, dir: dir, file: filepath.Join(dir, "file")}
	f, err := os.Create(c.file)
	if err == nil {
		_, err = io.CopyN(f, rand.NewChaCha8([32]byte{1}), fileBytes)
		f.Close()
	}
	if err != nil {
		c.close()
	}
	return c, err
}

func (c *copies) close() { os.RemoveAll(c.dir) }

// compare sends the file and puts as much, in turns. What else bounds it is measured between the two: another row compares with the lower one.
func (c *copies) compare(ctx context.Context, name string, p place, bound func() (float64, error)) ([]duel.Row, error) {
	var puts, least duel.Series
	for range c.b.Rounds {
		fmt.Fprintf(os.Stderr, "%s ...\n", name)
		ours, err := c.send(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		lower := math.Inf(1)
		if bound != nil {
			if lower, err = bound(); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		theirs, err := c.put(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		puts.Add(ours, theirs, false)
		least.Add(ours, min(theirs, lower), false)
	}
	rows := []duel.Row{filesRow(&puts, name, "put_bw")}
	if bound != nil {
		rows = append(rows, filesRow(&least, name, "put_bw, or reading, hashing twice and writing"))
	}
	return rows, nil
}

// files is a row of transfers.
func filesRow(s *duel.Series, name, peer string) duel.Row {
	g := duel.AtLeast(0.8)
	q := median.Of(s.Ratios)
	return duel.Row{
		Name: name, Peer: peer, Unit: "MB/s", Pairs: len(s.Ratios), Ours: median.Of(s.Ours).Median, Theirs: median.Of(s.Theirs).Median,
		Ratio: &q, Best: s.Best(duel.Comparison{}), Goal: g.String(), Verdict: g.Verdict(q.Median),
	}
}

// limit is how fast it would be if all processors did nothing but this, and none ever waited: what they need for it is what it takes.
func (c *copies) limit() duel.Row {
	return duel.Row{Name: "files/processors", Unit: "MB/s", Pairs: len(c.cpu), Ours: float64(runtime.NumCPU()) / median.Of(c.cpu).Median / 1e6}
}

// hashRate is what one processor hashes.
func hashRate() duel.Row {
	b := make([]byte, rival.MiB)
	best := time.Hour
	for range 100 {
		begun := time.Now()
		sha256.Sum256(b)
		best = min(best, time.Since(begun))
	}
	return duel.Row{Name: "files/sha256", Unit: "MB/s", Ours: rival.MiB / best.Seconds() / 1e6}
}

func (c *copies) command(ctx context.Context, before []string, args ...string) *exec.Cmd {
	all := append(append(before[:len(before):len(before)], c.b.Braid), args...)
	return exec.CommandContext(ctx, all[0], all[1:]...)
}

// serve starts a command and waits until it listens; it returns where.
func (c *copies) serve(cmd *exec.Cmd) (addr string, err error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	_, addrs, ok := strings.Cut(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return "", fmt.Errorf("%s does not listen: %q", strings.Join(cmd.Args, " "), line)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	addr, _, _ = strings.Cut(addrs, ",")
	return addr[strings.LastIndex(addr, ":")+1:], nil
}

// send sends the file once, and returns MB/s.
func (c *copies) send(ctx context.Context, p place) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, rival.RunWithin)
	defer cancel()
	to := filepath.Join(c.dir, "to")
	if err := os.Mkdir(to, 0o700); err != nil {
		return 0, err
	}
	defer os.RemoveAll(to)
	recv := c.command(ctx, p.right, "recv", "--once", "--listen", p.listen+":0", to)
	port, err := c.serve(recv)
	if err != nil {
		return 0, err
	}
	send := c.command(ctx, p.left, "send", "--json", "--plain", c.file, p.host+":"+port)
	var out, errOut bytes.Buffer
	send.Stdout, send.Stderr = &out, &errOut
	err = send.Run()
	if err != nil {
		_ = recv.Process.Kill()
	}
	_ = recv.Wait()
	if err != nil {
		return 0, fmt.Errorf("send: %w: %s", err, &errOut)
	}
	var t struct {
		Bytes   uint64  `json:"bytes"`
		Seconds float64 `json:"seconds"`
	}
	if err := json.Unmarshal(out.Bytes(), &t); err != nil {
		return 0, err
	}
	cpu := 0.0
	for _, s := range []*os.ProcessState{send.ProcessState, recv.ProcessState} {
		cpu += (s.UserTime() + s.SystemTime()).Seconds()
	}
	c.cpu = append(c.cpu, cpu/float64(t.Bytes))
	return float64(t.Bytes) / t.Seconds / 1e6, nil
}

// put puts as much as the file has, and returns MB/s.
func (c *copies) put(ctx context.Context, p place) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, rival.RunWithin)
	defer cancel()
	server := c.command(ctx, p.right, "perftest", "--shared", "--listen", p.listen, "-p", "0")
	port, err := c.serve(server)
	if err != nil {
		return 0, err
	}
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}()
	client := c.command(ctx, p.left, "perftest", p.host, "-p", port, "--shared", "--json", "-t", "put_bw", "-s", "1m", "-n", fmt.Sprint(fileBytes/rival.MiB), "-w", "32", "--lanes", p.lanes)
	var out, errOut bytes.Buffer
	client.Stdout, client.Stderr = &out, &errOut
	if err := client.Run(); err != nil {
		return 0, fmt.Errorf("perftest: %w: %s", err, &errOut)
	}
	var r perf.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return 0, err
	}
	return r.Bandwidth, nil
}

// railRate is of each of the two rails: together less than one processor moves and hashes.
const railRate = "500mbit"
