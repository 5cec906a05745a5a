package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/openbraid/braid/internal/perf/cpu"
)

// bench are the flags, and what follows from them.
type bench struct {
	Only   string `placeholder:"REGEXP" help:"Names of what to measure; all by default."`
	Rounds int    `default:"9" help:"Pairs of each comparison (${default})."`
	Pairs  int    `default:"1600" help:"Pairs of blocks where error modes are compared (${default})."`
	CPUs   string `name:"cpus" default:"0,1" help:"The two processors to use (${default})."`
	UCX    string `name:"ucx" placeholder:"PATH" help:"ucx_perftest; found in PATH by default."`
	Braid  string `placeholder:"PATH" help:"The braid command; built from this module by default."`
	JSON   bool   `name:"json" help:"Print one JSON object; what is going on goes to standard error in any case."`

	cpuA, cpuB string
	only       *regexp.Regexp
}

func main() {
	if role := os.Getenv(echoRole); role != "" {
		exit(echo(role))
	}
	var b bench
	kong.Parse(&b, kong.Name("bench"), kong.Description("Measure braid side by side with its peers."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(b.run(ctx))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// wants says whether something is to be measured.
func (b *bench) wants(name string) bool { return b.only.MatchString(name) }

func (b *bench) run(ctx context.Context) error {
	var ok bool
	if b.cpuA, b.cpuB, ok = strings.Cut(b.CPUs, ","); !ok {
		return fmt.Errorf("--cpus %s: two numbers, as 0,1", b.CPUs)
	}
	var err error
	if b.only, err = regexp.Compile(b.Only); err != nil {
		return fmt.Errorf("--only: %w", err)
	}
	clean, err := b.build(ctx)
	if err != nil {
		return err
	}
	defer clean()
	r := report{Machine: machine(), Load: [2]string{load1()}}
	err = b.measure(ctx, &r)
	r.Load[1] = load1()
	if len(r.Rows) == 0 && len(r.Skipped) == 0 && err == nil {
		err = fmt.Errorf("--only %s: nothing has such a name; docs/performance.md has them", b.Only)
	}
	if len(r.Rows) == 0 && err != nil {
		return err
	}
	if b.JSON { // what was found before an error is worth as much
		return errors.Join(r.json(os.Stdout), err)
	}
	r.print(os.Stdout)
	return err
}

func (b *bench) measure(ctx context.Context, r *report) error {
	if runtime.NumCPU() < 2 {
		r.Skipped = append(r.Skipped, "everything between two processes: they need a processor each, and there is one")
	} else if err := b.between(ctx, r); err != nil {
		return err
	}
	if err := b.fences(ctx, r); err != nil {
		return err
	}
	if err := b.fencesUCX(ctx, r); err != nil {
		return err
	}
	rows, err := b.idle(ctx)
	r.Rows = append(r.Rows, rows...)
	return err
}

// between is what needs two processes.
func (b *bench) between(ctx context.Context, r *report) error {
	var list []comparison
	if version, err := b.ucxVersion(ctx); err != nil {
		r.Skipped = append(r.Skipped, "comparisons with UCX: "+err.Error())
	} else {
		list = b.againstUCX(version)
	}
	list = append(list, b.againstOthers()...)
	list = append(list, b.againstTCP()...)
	if cpu.CanPin {
		list = append(list, b.againstSockets()...)
		list = append(list, b.againstUDP()...)
	} else {
		r.Skipped = append(r.Skipped, "comparisons with bare sockets: these are polled by hand on Linux only")
	}
	for _, c := range list {
		if !b.wants(c.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s ...\n", c.name)
		rows, moved, err := b.compare(ctx, c)
		if err != nil {
			return err
		}
		r.Moved += moved
		if len(rows) == 0 {
			r.Skipped = append(r.Skipped, c.name+": the processors moved during each pair; try again or with more --rounds")
		}
		r.Rows = append(r.Rows, rows...)
	}
	rows, err := b.modes(ctx)
	r.Rows = append(r.Rows, rows...)
	if err == nil && cpu.CanPin {
		rows, err = b.rdmaGoals(ctx)
		r.Rows = append(r.Rows, rows...)
	}
	if err != nil {
		return err
	}
	if err := b.rails(ctx, r); err != nil {
		return err
	}
	if err := b.costs(ctx, r); err != nil {
		return err
	}
	return b.files(ctx, r)
}

// build makes the braid command unless one was given.
func (b *bench) build(ctx context.Context) (clean func(), err error) {
	if b.Braid != "" {
		return func() {}, nil
	}
	dir, err := os.MkdirTemp("", "braid-bench")
	if err != nil {
		return nil, err
	}
	clean = func() { os.RemoveAll(dir) }
	b.Braid = filepath.Join(dir, "braid")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", b.Braid, "github.com/openbraid/braid/cmd/braid").CombinedOutput()
	if err != nil {
		clean()
		return nil, fmt.Errorf("go build: %w: %s", err, out)
	}
	return clean, nil
}
