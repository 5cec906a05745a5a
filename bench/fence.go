package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/median"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm"
	"github.com/openbraid/braid/transport/softrc"
)

// duo is two nodes of this process, polled in turns: what a fence costs has nothing to do with a second processor.
type duo struct {
	nodes [2]*braid.Node
	w     [2]*braid.Worker
	ep    *braid.Endpoint
	key   braid.RKey
	src   []byte
}

func newDuo(ctx context.Context, kind string, lanes int) (*duo, error) {
	d := &duo{src: make([]byte, 8)}
	rails := []string{"127.0.0.1", "127.0.0.2"}[:lanes]
	for i := range d.nodes {
		o := braid.Options{Owned: true, Rails: rails}
		switch kind {
		case "rc":
			o.Transports = []transport.Transport{softrc.New(softrc.Options{})}
		case "shm":
			o.Transports, o.Rails = []transport.Transport{shm.New(shm.Options{})}, nil
		}
		n, err := braid.Open(o)
		if err != nil {
			d.close()
			return nil, err
		}
		d.nodes[i], d.w[i] = n, n.Worker()
	}
	mem, err := d.nodes[1].Alloc(64)
	if err != nil {
		d.close()
		return nil, err
	}
	d.key = mem.Key(braid.Write)
	ln, err := d.w[1].Listen("127.0.0.1:0")
	if err != nil {
		d.close()
		return nil, err
	}
	accepted := make(chan error, 1)
	addr := ln.Addr()
	go func() { // owns the second worker until it says so
		_, err := ln.Accept(ctx)
		accepted <- err
	}()
	d.ep, err = d.w[0].Dial(ctx, addr)
	if e := <-accepted; err == nil {
		err = e
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

func (d *duo) close() {
	for _, n := range d.nodes {
		if n != nil {
			n.Close()
		}
	}
}

func (d *duo) turn() { d.w[0].Progress(); d.w[1].Progress() }

// end makes turns until a request has ended.
func (d *duo) end(r braid.Request) error {
	done, err := r.Test()
	for ; !done; done, err = r.Test() {
		d.turn()
	}
	r.Release()
	return err
}

// puts is the time of n puts of 8 bytes, each with what between does after it, and a flush at the end.
func (d *duo) puts(n int, between func() error) (float64, error) {
	begun := time.Now()
	for i := range n {
		if err := d.end(d.ep.PostPut(d.src, d.key, 0)); err != nil {
			return 0, err
		}
		if err := between(); err != nil {
			return 0, err
		}
		if i%64 == 63 {
			d.turn()
		}
	}
	err := d.end(d.ep.PostFlush())
	return float64(time.Since(begun)) / float64(n), err
}

const fenceBlocks = 41

// fenceRow is one row: what a fence costs over some lanes, beside something else.
type fenceRow struct {
	transport, name string
	lanes, n        int
	than            string // what it is compared with
	goal            goal
}

// fenceRows are those of each transport: with nothing before it, in a stream of puts, and against a round trip for each.
func fenceRows() (all []fenceRow) {
	for _, t := range []string{"tcp", "rc", "shm"} {
		n := 20_000
		if t == "rc" {
			n = 5_000
		}
		all = append(all,
			fenceRow{t, "fence/" + t + "/idle", 1, 1_000_000, "", atMost(20)},
			fenceRow{t, "fence/" + t + "/put8/lanes1", 1, n, "put", atLeast(0.8)})
		if t != "shm" { // which has one lane: the memory that both share
			all = append(all, fenceRow{t, "fence/" + t + "/put8/lanes2", 2, n, "put and a round trip", atLeast(0.8)})
		}
	}
	return all
}

// fences measures what a fence costs.
func (b *bench) fences(ctx context.Context) (rows []row, err error) {
	for _, c := range fenceRows() {
		if !b.wants(c.name) {
			continue
		}
		r, err := c.measure(ctx)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", c.name, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// measure makes blocks of it and of what it is compared with, in turns.
func (c fenceRow) measure(ctx context.Context) (row, error) {
	r := row{Name: c.name, Unit: "ns", Goal: c.goal.String(), Peer: c.than, Pairs: fenceBlocks}
	d, err := newDuo(ctx, c.transport, c.lanes)
	if err != nil {
		return r, err
	}
	defer d.close()
	fence := func() error { d.ep.Fence(); return nil }
	other, n := func() error { return nil }, c.n
	if c.lanes > 1 {
		other, n = func() error { return d.end(d.ep.PostFlush()) }, 500
	}
	var ours, theirs, ratios []float64
	for range fenceBlocks {
		if c.than == "" {
			ours = append(ours, idleFence(d, c.n/fenceBlocks))
			continue
		}
		with, err := d.puts(c.n/fenceBlocks, fence)
		if err != nil {
			return r, err
		}
		without, err := d.puts(n/fenceBlocks*4, other)
		if err != nil {
			return r, err
		}
		ours, theirs, ratios = append(ours, with), append(theirs, without), append(ratios, without/with)
	}
	r.Ours = median.Of(ours).Median
	r.Verdict = c.goal.verdict(r.Ours)
	if c.than != "" {
		i := median.Of(ratios)
		r.Theirs, r.Ratio = median.Of(theirs).Median, &i
		r.Verdict = c.goal.verdict(i.Median)
	}
	return r, nil
}

// idleFence is the time of a fence with nothing unexecuted.
func idleFence(d *duo, n int) float64 {
	begun := time.Now()
	for range n {
		d.ep.Fence()
	}
	return float64(time.Since(begun)) / float64(n)
}

// fencesUCX are put, and put and fence, beside the same loop in C over UCX: over TCP, and over shared memory.
func (b *bench) fencesUCX(ctx context.Context, r *report) error {
	var list []comparison
	for _, t := range []string{"tcp", "shm"} {
		for _, mode := range []string{"put", "fence"} {
			c := comparison{name: "fence/ucx/" + t + "/put8", unit: "ns", goal: goal{none: true}, peer: "UCX over " + t, ours: duoPuts(t, mode == "fence")}
			if mode == "fence" {
				c.name += "+fence"
			}
			if b.wants(c.name) {
				c.theirs = func(ctx context.Context) (float64, error) { return b.ucxPuts(ctx, t, mode) }
				list = append(list, c)
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	program, clean, err := buildUCX(ctx)
	if err != nil {
		r.Skipped = append(r.Skipped, "fences beside UCX: "+err.Error())
		return nil
	}
	defer clean()
	b.putFence = program
	for _, c := range list {
		rows, moved, err := b.compare(ctx, c)
		r.Moved += moved
		r.Rows = append(r.Rows, rows...)
		if err != nil {
			return err
		}
	}
	return nil
}

const ucxLoop = 20_000

// duoPuts is our side of it.
func duoPuts(kind string, fence bool) runner {
	return func(ctx context.Context) (float64, error) {
		d, err := newDuo(ctx, kind, 1)
		if err != nil {
			return 0, err
		}
		defer d.close()
		between := func() error {
			if fence {
				d.ep.Fence()
			}
			return nil
		}
		if _, err := d.puts(1000, between); err != nil {
			return 0, err
		}
		return d.puts(ucxLoop, between)
	}
}

// ucxPuts is the other.
func (b *bench) ucxPuts(ctx context.Context, kind, mode string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, runWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.putFence, mode, strconv.Itoa(ucxLoop))
	cmd.Env = append(os.Environ(), "UCX_TLS="+kind, "UCX_WARN_UNUSED_ENV_VARS=n", "UCX_LOG_LEVEL=error")
	if kind == "tcp" {
		cmd.Env = append(cmd.Env, "UCX_NET_DEVICES=lo")
	}
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%s %s over %s: %w", b.putFence, mode, kind, err)
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}

//go:embed ucx/put_fence.c
var putFence []byte

// buildUCX compiles put_fence.c, if there is what that takes.
func buildUCX(ctx context.Context) (program string, clean func(), err error) {
	dir, err := os.MkdirTemp("", "braid-bench-ucx")
	if err != nil {
		return "", nil, err
	}
	clean = func() { os.RemoveAll(dir) }
	program = filepath.Join(dir, "put_fence")
	if err := os.WriteFile(program+".c", putFence, 0o600); err != nil {
		clean()
		return "", nil, err
	}
	if out, err := exec.CommandContext(ctx, "cc", "-O2", "-o", program, program+".c", "-lucp", "-lucs").CombinedOutput(); err != nil {
		clean()
		first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return "", nil, fmt.Errorf("cc with libucx-dev: %w %s", err, first)
	}
	return program, clean, nil
}
