package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/openbraid/braid/bench/calibrate"
	"github.com/openbraid/braid/bench/duel"
	"github.com/openbraid/braid/bench/rival"
	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/cpu"
)

// costs holds internal/cost against this machine: its constants, what it expects of each operation and size, and whether what it chooses is the
// best there is.
func (b *bench) costs(ctx context.Context, r *report) error {
	o := calibrate.Options{Rounds: b.Rounds, Wants: b.wants, Run: b.tests, Say: func(name string) { fmt.Fprintf(os.Stderr, "%s ...\n", name) }}
	if b.wants("cost/rails/stripe/") {
		p, clean, err := joined("1gbit", "1gbit")
		if err != nil {
			r.Skipped = append(r.Skipped, "cost/rails: "+err.Error())
		} else {
			defer clean()
			o.Rails = func(ctx context.Context, list []calibrate.Sample, more ...string) ([]perf.Result, error) {
				p.settings = more // of both sides: each sends
				return batch(list, func(file string) (*exec.Cmd, func(), error) {
					return b.client(ctx, p, append([]string{"--json", "-b", file, "--rails", "rail*", "--set", "lanes=auto"}, more...)...)
				})
			}
		}
	}
	found, err := calibrate.All(ctx, o)
	for _, f := range found {
		r.Rows = append(r.Rows, duel.Row{Name: f.Name, Peer: f.Peer, Unit: f.Unit, Pairs: f.Rounds, Ours: f.Measured, Theirs: f.Other, Ratio: f.Ratio, Goal: f.Goal, Verdict: f.Verdict})
	}
	return err
}

// tests runs samples one after the other between the same two processes on this host.
func (b *bench) tests(ctx context.Context, list []calibrate.Sample, more ...string) ([]perf.Result, error) {
	return batch(list, func(file string) (*exec.Cmd, func(), error) {
		ctx, cancel := context.WithTimeout(ctx, rival.RunWithin)
		args := append([]string{"perftest", "--spawn", "--json", "-b", file}, more...)
		if cpu.CanPin {
			args = append(args, "--cpus", b.cpuA+","+b.cpuB)
		}
		return exec.CommandContext(ctx, b.Braid, args...), cancel, nil
	})
}

// batch runs a client with a batch file of samples, and reads what it says.
func batch(list []calibrate.Sample, client func(file string) (*exec.Cmd, func(), error)) (found []perf.Result, err error) {
	f, err := os.CreateTemp("", "braid-bench-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	for _, s := range list {
		n := min(5000, 64*rival.MiB/max(s.Size, 1))
		fmt.Fprintf(f, "%s/%d -t %s -s %d -n %d -w %d\n", s.Test, s.Size, s.Test, s.Size, n, n/5)
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	cmd, stop, err := client(f.Name())
	if err != nil {
		return nil, err
	}
	defer stop()
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("%v: %w", cmd.Args, err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var r perf.Result
		switch err := d.Decode(&r); {
		case errors.Is(err, io.EOF):
			return found, nil
		case err != nil:
			return nil, err
		}
		found = append(found, r)
	}
}
