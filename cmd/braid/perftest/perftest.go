package perftest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/openbraid/braid/cmd/braid/connect"
	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/child"
	"github.com/openbraid/braid/internal/perf/cpu"
	"github.com/openbraid/braid/internal/perf/ends"
	"github.com/openbraid/braid/internal/perf/gather"
	"github.com/openbraid/braid/internal/perf/medium"
)

// Command is `braid perftest`. Letters are those of ucx_perftest.
type Command struct {
	Host string `arg:"" optional:"" placeholder:"HOST" help:"Measure against the server there. Without HOST and --spawn: be the server."`

	testFlags `embed:""`
	manyFlags `embed:""`

	Port   int    `short:"p" default:"13337" placeholder:"PORT" help:"Port to serve on or to connect to (${default}); 0 picks one."`
	Listen string `placeholder:"ADDR" help:"Address to serve on (127.0.0.1); 0.0.0.0 lets other hosts in."`
	Once   bool   `default:"true" negatable:"" help:"Server: end after the first client that ran its tests, as ucx_perftest does. --no-once: serve one after the other."`
	Spawn  bool   `help:"Start the server, too, in a process of its own."`
	CPUs   string `name:"cpus" placeholder:"A,B" help:"With --spawn: bind the client's thread to CPU A, the server's to B (two different ones, if there are); off: to none."`
	CPU    string `short:"c" placeholder:"CPU" help:"Bind this process's polling thread to a CPU."`

	Transport string `default:"tcp" placeholder:"NAME" help:"Transport of both sides: tcp (default), shm for shared memory, rc over an RDMA device in software, verbs over adapters (a build with libibverbs: docs/verbs.md), or several with a lane of each, as shm+tcp: each has an address of its own, 127.0.0.1 and so on or as --rails says."`
	Trust     bool   `name:"trust-network" help:"With rc and verbs: use addresses other than loopback, although its packets carry no proof of who sent them."`
	Lanes     int    `placeholder:"N" help:"Lanes of the endpoint, 1 to 16 (1, or one of each transport); --set lanes=auto is one for each rail that reaches the peer."`
	ErrorMode string `placeholder:"MODE" complete:"modes" help:"failover (default), peer or none."`
	Wait      string `short:"E" default:"poll" placeholder:"HOW" help:"How both ends wait: poll (default), or sleep when there is nothing to do."`
	Owned     bool   `xor:"mode" help:"Workers that belong to one polling thread (default)."`
	Shared    bool   `xor:"mode" help:"Workers that are safe for many goroutines. Both sides must agree."`

	connect.Flags `embed:""`
	studyFlags    `embed:""`
	printFlags    `embed:""`

	Guard bool `hidden:"" help:"End when standard input does."`
}

// manyFlags are several tests, and several threads.
type manyFlags struct {
	Batch   []string `short:"b" type:"existingfile" sep:"none" placeholder:"FILE" help:"Run the tests in FILE: on each line a name, then options. Several times: each line of the first file with each line of the next."`
	Threads threads  `short:"T" default:"1" placeholder:"N,..." help:"So many threads at a time, each with a worker of its own towards a thread of the server, which has -T, too, and a port for each; 1,2,4 prints how it scales (${default})."`
}

// testFlags is what a line of a batch file may set.
type testFlags struct {
	Test   string  `short:"t" placeholder:"TEST" complete:"tests" help:"put_lat, put_bw, put_signal_lat, put_signal_bw, get, add, fadd, swap, cswap, am_lat, am_bw, am_offer_lat, am_offer_bw, tag_lat, tag_bw, tag_sync_lat, tag_sync_bw, stream_lat or stream_bw; ucp_put_lat and so on are the same."`
	Size   sizes   `short:"s" default:"8" placeholder:"BYTES" help:"Size of the payload (${default}); 64k and 1m are multiples of 1024. With -D iov those of a list of buffers, as 16,8k,48."`
	Layout string  `short:"D" default:"contig" placeholder:"LAYOUT" help:"contig: the payload is one buffer (${default}); iov: a list of buffers, of the sizes of -s. For tags also of the server: iov,iov and contig,iov."`
	Header int     `short:"H" default:"0" placeholder:"BYTES" help:"Size of a message's header, not part of -s (${default})."`
	Iters  int     `short:"n" placeholder:"N" help:"Operations to measure, 1 or more (1000000, but at most 8 GiB)."`
	Warmup int     `short:"w" default:"10000" placeholder:"N" help:"Operations before those (${default}, at most as many as -n); 0 for none."`
	Window int     `short:"O" placeholder:"N" help:"Operations under way at a time, 1 to 4096 (32; 1 for latency, get and fetching atomics)."`
	Rank   float64 `short:"R" default:"50" placeholder:"RANK" help:"Percentile that is printed (${default})."`
	Lent   bool    `help:"Send from memory of Node.Alloc, which peers on this host can map, or get into it."`
	Verify bool    `help:"Check each byte and each number where they arrive; exit 1 if something was lost, doubled or corrupt."`
}

// studyFlags are other things to find out than how fast it is.
type studyFlags struct {
	plotFlags  `embed:""`
	pairFlags  `embed:""`
	faultFlags `embed:""`
}

// pairFlags compares error modes.
type pairFlags struct {
	PairModes bool          `help:"Compare the error modes failover and none in alternating blocks; above 1 is what failover costs."`
	Pairs     int           `default:"400" placeholder:"N" help:"Pairs of blocks, 200 or more (${default})."`
	Block     time.Duration `default:"3ms" placeholder:"TIME" help:"Time of a block (${default})."`
	Seed      uint64        `default:"1" placeholder:"N" help:"Of the order within the pairs, and of what a plan leaves to luck (${default})."`
	Null      bool          `help:"With --pair-modes: both in mode none. The interval should contain 1."`
}

// printFlags is how results look.
type printFlags struct {
	Final   bool `short:"f" help:"Print only final numbers."`
	CSV     bool `short:"v" xor:"form" help:"Print CSV."`
	JSON    bool `name:"json" xor:"form" help:"Print one JSON object a test."`
	Numeric bool `short:"N" help:"Separate thousands."`
}

// Help is shown by `braid perftest --help`.
func (*Command) Help() string {
	var b strings.Builder
	b.WriteString("Measures latency, bandwidth and message rate over the public API. Compare with ucx_perftest's ucp_... tests: its unprefixed ones are of the layer below. MB are 10^6 bytes here, 2^20 there.\n\nTests:\n\n")
	for _, t := range perf.Tests() {
		fmt.Fprintf(&b, "  %-8s %s\n", t[0], t[1])
	}
	b.WriteString(`
A bandwidth test looks at the clock once for many operations: its percentiles and its maximum are of averages over so many, which the output says (--json: latency_us.average_over).
An interrupted run prints what it has measured until then (--json: "interrupted": true), except with --pair-modes; with -T the numbers of threads that are whole. --spawn binds the two processes to two different processors, if there are; --cpus off leaves that to the system.
A peer without any lane is given up after 2 s; --set suspended=30s waits longer, as it is with --fault.

Examples:

  braid perftest                          be a server on 127.0.0.1:13337
  braid perftest localhost -t am_lat      measure against it
  braid perftest --spawn -t put_bw -s 1m  both in one command
  braid perftest --spawn -t get -s 1m -O 32
  braid perftest --spawn -t am_lat -E sleep
  braid perftest --spawn -t stream_bw -s 64k --shared
  braid perftest --spawn -t am_bw --verify --lanes 2
  braid perftest --spawn -t am_lat --plot
  braid perftest --spawn -t am_bw -T 1,2,4
  braid perftest --spawn -t tag_bw -D iov,iov -s 16,8k,48
  braid perftest --spawn -b tests -b sizes --svg all.svg
  braid perftest --spawn -t am_bw -s 4k --pair-modes
  braid perftest --spawn -t put_bw -s 64k --lanes 2 --fault "cut lane=1 kind=silence after=1s for=500ms every=2s count=5"
`)
	return b.String()
}

// Run is called by the parser.
func (c *Command) Run(w shell.World, k *kong.Context) error {
	for _, err := range []error{c.idle().check(k.Path), c.idleSettings(), c.zeros(k.Path), c.said(k.Path)} {
		if err != nil {
			return shell.BadLine(err)
		}
	}
	setup, err := c.setup(w)
	if err == nil {
		setup.Faults, err = c.faults()
	}
	if err != nil {
		return shell.BadLine(err)
	}
	if err := medium.Medium(c.Transport).Ready(); err != nil {
		return err
	}
	if c.Matrix {
		return c.matrix(w, setup, k.Path)
	}
	if c.Host == "" && !c.Spawn {
		return c.serve(w, setup)
	}
	tests, err := c.tests(setup)
	if err != nil {
		return shell.BadLine(err)
	}
	if err := c.pairs(tests); err != nil {
		return shell.BadLine(err)
	}
	addr, child, err := c.server(w)
	if err != nil {
		return err
	}
	if child != nil {
		defer child.Kill()
	}
	end, err := c.open(setup.Faults, child)
	if err != nil {
		return err
	}
	broken, err := c.each(w, addr, tests)
	if err != nil {
		return connect.Advise(err)
	}
	if err := end(); err != nil {
		return fmt.Errorf("--events: %w", err)
	}
	if broken {
		return shell.ErrShown
	}
	return nil
}

// each runs all tests, and draws what it is to draw.
func (c *Command) each(w shell.World, addr string, tests []measurement) (broken bool, err error) {
	p := printer{out: w.Out, form: c.printFlags, batch: len(c.Batch) > 0, cpus: c.CPUs}
	if p.drawn, err = c.plotFlags.open(); err != nil {
		return false, err
	}
	for i, t := range tests {
		var bad bool
		later := 0
		if t.More = i < len(tests)-1; t.More {
			later = c.Threads.most()
		}
		if c.Threads.several() {
			bad, err = c.scale(w, addr, t, later, &p)
		} else {
			var r perf.Result
			r, err = c.measure(w, addr, t, &p)
			bad = r.Broken()
			p.drawn.add(t.name, &r)
		}
		broken = broken || bad
		if err != nil {
			break
		}
	}
	return broken, errors.Join(err, p.drawn.draw(w, "braid perftest --transport "+c.Transport))
}

// setup reads what both forms have.
func (c *Command) setup(w shell.World) (perf.Setup, error) {
	c.Trust = c.Trust || c.Spawn && medium.Medium(c.Transport).Has("verbs") // both ends are of this host
	s := perf.Setup{Transport: c.Transport, TrustNetwork: c.Trust, Lanes: c.Lanes, Shared: c.Shared, Sleep: c.Wait == "sleep", Spin: c.Shared && (c.Spawn || c.Host != "" || c.Guard), CPUs: c.CPU}
	var warn io.Writer = w.ErrOut
	if c.Guard {
		warn = io.Discard // who started this server has the same environment
	}
	var err error
	if s.Settings, err = c.Settings(warn); err != nil {
		return s, err
	}
	if s.Lanes == 0 {
		if err := s.Settings.Default("lanes", strconv.Itoa(len(medium.Medium(c.Transport).Parts()))); err != nil {
			return s, err
		}
		s.Lanes = s.Settings.Options().Lanes // auto stays 0
	}
	if c.ErrorMode != "" {
		if err := s.Settings.Set("error-mode", c.ErrorMode, "--error-mode"); err != nil {
			return s, err
		}
	}
	s.ErrorMode = s.Settings.Options().ErrorMode
	switch {
	case c.Threads.several() && (c.CPU != "" || c.CPUs != "" && c.CPUs != "off"):
		return s, errors.New("-T with -c or --cpus: one processor is no place for several threads; the system places them")
	case c.threadless(c.Test) != nil:
		return s, c.threadless(c.Test)
	case c.Wait != "poll" && c.Wait != "sleep":
		return s, fmt.Errorf("-E %s: poll or sleep", c.Wait)
	case c.CPUs != "" && !c.Spawn:
		return s, errors.New("--cpus is for two processes, with --spawn; one is bound with -c")
	case c.CPUs != "" && c.CPU != "":
		return s, errors.New("--cpus and -c both say where the client runs: leave one of them out")
	case c.Spawn && c.Host != "":
		return s, fmt.Errorf("--spawn starts a server here, %s names another: leave one of them out", c.Host)
	case c.Listen != "" && (c.Spawn || c.Host != ""):
		return s, errors.New("--listen is for a server")
	}
	if c.CPUs == "off" {
		c.CPUs = ""
	} else if a, b, ok := cpu.Two(); ok && c.Spawn && c.CPUs == "" && c.CPU == "" && !c.Threads.several() {
		c.CPUs = fmt.Sprintf("%d,%d", a, b)
	}
	if c.CPUs != "" {
		two := strings.Split(c.CPUs, ",")
		if len(two) != 2 || two[0] == "" || two[1] == "" {
			return s, fmt.Errorf("--cpus %s: two numbers, as 0,1", c.CPUs)
		}
		if _, err := cpu.Of(two[1]); err != nil { // that of the server, before it is started
			return s, err
		}
		s.CPUs = two[0]
	}
	return s, nil
}

func (t *testFlags) params(setup perf.Setup) (perf.Params, error) {
	l, err := gather.Parse(t.Layout, t.Size.list)
	if err != nil {
		return perf.Params{}, err
	}
	p := perf.Params{
		Test: t.Test, Size: t.Size.sum(), Lists: l, Header: t.Header, Iterations: t.Iters, Warmup: t.Warmup,
		Outstanding: t.Window, Verify: t.Verify, Lent: t.Lent, Percentile: t.Rank, Setup: setup,
	}
	return p, p.Validate()
}

// pairs says what can't be compared, before anything is started.
func (c *Command) pairs(tests []measurement) error {
	for _, t := range tests {
		if p := c.pair(t); c.PairModes {
			if err := p.Validate(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Command) pair(t measurement) perf.PairParams {
	return perf.PairParams{Params: t.Params, Pairs: c.Pairs, Block: c.Block, Seed: c.Seed, Null: c.Null}
}

// server says where the server is, and starts one if it is asked to.
func (c *Command) server(w shell.World) (string, *child.Process, error) {
	if !c.Spawn {
		if _, _, err := net.SplitHostPort(c.Host); err == nil {
			return c.Host, nil, nil
		}
		return net.JoinHostPort(strings.Trim(c.Host, "[]"), strconv.Itoa(c.Port)), nil, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", nil, fmt.Errorf("can't find myself to start the server: %w", err)
	}
	server, err := child.Spawn(w.Ctx, c.serverLine(self), w.ErrOut.File)
	if err != nil {
		return "", nil, err
	}
	return server.Addr, server, nil
}

// serverLine is the command line of the server that is started for this client.
func (c *Command) serverLine(self string) []string {
	command := []string{self, "perftest", "-p", "0", "--no-once", "--guard", "--transport", c.Transport}
	if c.Shared {
		command = append(command, "--shared")
	}
	if n := c.Threads.most(); n > 1 {
		command = append(command, "-T", strconv.Itoa(n))
	}
	if c.Trust {
		command = append(command, "--trust-network")
	}
	if c.Fault != "" || c.Matrix {
		command = append(command, "--set=suspended="+ends.BearUpFor) // and what the user says counts more
	}
	command = append(command, c.Args()...)
	if _, b, ok := strings.Cut(c.CPUs, ","); ok {
		command = append(command, "-c", b)
	}
	return command
}

// serve is the server form.
func (c *Command) serve(w shell.World, setup perf.Setup) error {
	ctx, cancel := context.WithCancelCause(w.Ctx)
	defer cancel(nil)
	p := perf.ServerParams{Listen: net.JoinHostPort(c.host(), strconv.Itoa(c.Port)), Once: c.Once, Threads: c.Threads.most(), Setup: setup}
	if c.Listen != "" {
		p.Listen = net.JoinHostPort(strings.Trim(c.Listen, "[]"), strconv.Itoa(c.Port))
	}
	var addrs []string
	p.Listening = func(addr string) {
		if addrs = append(addrs, addr); len(addrs) == p.Threads {
			child.Announce(w.Out, strings.Join(addrs, ","))
		}
	}
	if c.Guard {
		signal.Ignore(os.Interrupt, syscall.SIGHUP) // a terminal sends them to both; who started this one decides, and says so
		child.Guard(w.In, func() { cancel(errParentGone) })
	} else {
		p.Log = func(format string, args ...any) { fmt.Fprintf(w.Out, format+"\n", args...) }
	}
	err := perf.Serve(ctx, p)
	if errors.Is(err, errParentGone) || c.Guard && errors.Is(err, shell.ErrInterrupted) {
		return nil
	}
	return err
}

// host is where a server listens that is not told: on loopback, which adapters don't have.
func (c *Command) host() string {
	if rails := medium.Medium(c.Transport).Rails(); strings.HasPrefix(c.Transport, "verbs") && len(rails) > 0 {
		return rails[0]
	}
	return "127.0.0.1"
}

// errParentGone is the normal end of a server that was spawned.
var errParentGone = errors.New("who started this server is gone")

// measure runs one test and prints it, also if it is broken off.
func (c *Command) measure(w shell.World, addr string, t measurement, p *printer) (r perf.Result, err error) {
	p.begin(t.name, t.Params)
	if c.PairModes {
		r, err = perf.RunPairs(w.Ctx, addr, c.pair(t))
	} else {
		r, err = perf.Run(w.Ctx, addr, t.Params, p.row)
	}
	if err != nil && !r.Interrupted {
		return r, err
	}
	r.CPUs = c.CPUs
	if e := p.result(&r); err == nil {
		err = e
	}
	return r, err
}
