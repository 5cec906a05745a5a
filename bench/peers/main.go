package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/openbraid/braid/bench/duel"
	"github.com/openbraid/braid/bench/echo"
	"github.com/openbraid/braid/bench/rival"
	"github.com/openbraid/braid/internal/perf"
)

type result = perf.Result

// peers are the flags, and what follows from them.
type peers struct {
	Quick  bool   `help:"Fewer rounds and operations, and only what has a goal: minutes, not an hour."`
	Tests  string `placeholder:"REGEXP" help:"What to run, by transport/test/size; all by default."`
	Out    string `placeholder:"DIR" help:"Write peers.json, peers.txt and plots (SVG) there."`
	JSON   bool   `name:"json" help:"Print the rows as a JSON list; what is going on goes to standard error in any case."`
	Rounds int    `help:"Pairs of each test (9; with --quick 3)."`
	CPUs   string `name:"cpus" default:"0,1" help:"The two processors to use (${default})."`
	Braid  string `placeholder:"PATH" help:"The braid command; built from this module by default."`

	cores    duel.Cores
	programs rival.Programs
	only     *regexp.Regexp
}

func main() {
	if e, is, err := echo.Role(); is {
		if err == nil {
			err = play(e)
		}
		exit(err)
	}
	var p peers
	kong.Parse(&p, kong.Name("peers"), kong.Description("Run braid perftest and ucx_perftest side by side."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(p.run(ctx))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func play(e echo.End) error {
	c, err := e.Connect()
	if err != nil {
		return err
	}
	return e.PingPong(c)
}

func (p *peers) run(ctx context.Context) (err error) {
	if err := p.set(ctx); err != nil {
		return err
	}
	clean, err := p.programs.Build(ctx)
	if err != nil {
		return err
	}
	defer clean()
	r := report{Quick: p.Quick}
	r.describe(p.programs.UCXVersion(ctx))
	if r.Limits, err = p.limits(ctx); err == nil {
		err = p.contests(ctx, &r)
	}
	if err == nil {
		r.Growth, err = p.growths(ctx)
	}
	if len(r.Rows)+len(r.Growth)+len(r.Skipped) == 0 && err == nil {
		err = fmt.Errorf("--tests %s: nothing has such a name; names are such as shm/am_lat/8", p.Tests)
	}
	if p.Out != "" { // what was found before an error is worth as much
		err = errors.Join(err, r.write(p.Out))
	}
	if p.JSON {
		return errors.Join(r.json(os.Stdout), err)
	}
	r.print(os.Stdout)
	return err
}

// set takes the flags.
func (p *peers) set(ctx context.Context) (err error) {
	if p.Rounds == 0 {
		if p.Rounds = 9; p.Quick {
			p.Rounds = 3
		}
	}
	a, b, ok := strings.Cut(p.CPUs, ",")
	if !ok {
		return fmt.Errorf("--cpus %s: two numbers, as 0,1", p.CPUs)
	}
	if runtime.NumCPU() < 2 {
		return errors.New("two processes that poll need a processor each, and there is one")
	}
	if p.only, err = regexp.Compile(p.Tests); err != nil {
		return fmt.Errorf("--tests: %w", err)
	}
	p.cores = duel.Cores{A: a, B: b, Rounds: p.Rounds}
	p.programs = rival.Programs{A: a, B: b, BraidPath: p.Braid, UCXPath: os.Getenv("UCX_PERFTEST")}
	if p.programs.UCXPath != "" {
		return nil
	}
	if _, err := exec.LookPath("ucx_perftest"); err == nil {
		return nil
	}
	fmt.Fprintln(os.Stderr, "ucx_perftest is missing: apt-get install -y ucx-utils ...")
	if out, err := exec.CommandContext(ctx, "apt-get", "install", "-y", "ucx-utils").CombinedOutput(); err != nil {
		return fmt.Errorf("ucx_perftest is not installed, and apt-get install ucx-utils says: %w: %s (another one can be named by UCX_PERFTEST)", err, out)
	}
	return nil
}

// class is how far apart the processors are now.
func (p *peers) class() string { return string(duel.Classify(p.cores.A, p.cores.B)) }

// contests runs those that are wanted.
func (p *peers) contests(ctx context.Context, r *report) error {
	for _, c := range contests(p.Quick) {
		if !p.only.MatchString(c.name()) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s ...\n", c.name())
		rows, moved, err := p.cores.Compare(ctx, c.compare(&p.programs))
		r.Moved += moved
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			r.Skipped = append(r.Skipped, err.Error())
			continue
		}
		if len(rows) == 0 {
			r.Skipped = append(r.Skipped, c.name()+": the processors moved during each pair; try again or with more --rounds")
		}
		for _, row := range rows {
			r.Rows = append(r.Rows, c.row(row))
		}
	}
	return nil
}
