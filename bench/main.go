package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/openbraid/braid/bench/duel"
	"github.com/openbraid/braid/bench/echo"
	"github.com/openbraid/braid/bench/rival"
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
	asRole()
	var b bench
	kong.Parse(&b, kong.Name("bench"), kong.Description("Measure braid side by side with its peers."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(b.run(ctx))
}

// asRole plays the role that this process was started for, if there is one, and ends it.
func asRole() {
	e, is, err := echo.Role()
	if !is {
		return
	}
	if err == nil {
		err = play(e)
	}
	exit(err)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// programs are those that are compared.
func (b *bench) programs() *rival.Programs {
	return &rival.Programs{BraidPath: b.Braid, UCXPath: b.UCX, A: b.cpuA, B: b.cpuB}
}

func (b *bench) braid(l rival.Load, more ...string) duel.Runner {
	return b.programs().Braid(l, more...)
}

// ucx is over TCP, as braid is by default.
func (b *bench) ucx(l rival.Load) duel.Runner { return b.programs().UCX(l, "tcp") }

// compare runs a comparison on the chosen processors.
func (b *bench) compare(ctx context.Context, c duel.Comparison) ([]duel.Row, int, error) {
	return duel.Cores{A: b.cpuA, B: b.cpuB, Rounds: b.Rounds}.Compare(ctx, c)
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
	p := b.programs()
	clean, err := p.Build(ctx)
	if err != nil {
		return err
	}
	defer clean()
	b.Braid = p.BraidPath
	r := report{Machine: duel.Machine(), Load: [2]string{load1()}}
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
	if err != nil {
		return err
	}
	rows, err = b.crowd(ctx)
	r.Rows = append(r.Rows, rows...)
	return err
}

// between is what needs two processes.
func (b *bench) between(ctx context.Context, r *report) error {
	var list []duel.Comparison
	p := b.programs()
	if version, err := p.UCXVersion(ctx); err != nil {
		r.Skipped = append(r.Skipped, "comparisons with UCX: "+err.Error())
	} else {
		b.UCX = p.UCXPath
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
		if !b.wants(c.Name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s ...\n", c.Name)
		rows, moved, err := b.compare(ctx, c)
		if err != nil {
			return err
		}
		r.Moved += moved
		if len(rows) == 0 {
			r.Skipped = append(r.Skipped, c.Name+": the processors moved during each pair; try again or with more --rounds")
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
