package transfer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/openbraid/braid/cmd/braid/connect"
	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/internal/files"
	"github.com/openbraid/braid/internal/live"
)

// Recv is `braid recv`.
type Recv struct {
	Dir string `arg:"" placeholder:"DIR" help:"Directory in which files arrive; it is made if the one above it exists."`

	connect.Flags `embed:""`

	Listen    string          `default:"127.0.0.1" placeholder:"ADDR" help:"Address to listen on (${default}), or ADDR:PORT; the port is 13338 unless given, by TCP. 0.0.0.0 lets other hosts in."`
	Once      bool            `help:"End after one transfer, with its result."`
	Overwrite bool            `help:"Files that exist may be replaced."`
	Sync      bool            `help:"Have files on the disk before they get their names: they then survive also a loss of power."`
	MaxBytes  shell.ByteCount `placeholder:"BYTES" help:"Most that a transfer may have, as 500M or 2G; without it there is no limit."`
	MaxFiles  int             `default:"250000" placeholder:"N" help:"Most files and directories that a transfer may have (${default})."`
	Clients   int             `default:"8" placeholder:"N" help:"Most transfers at a time (${default}); each takes 32 MiB of memory."`
	Stall     time.Duration   `default:"10m" placeholder:"TIME" help:"A transfer of which nothing comes for so long ends (${default}); 0 waits as long as the sender lives."`
	Quiet     bool            `short:"q" help:"Print nothing but errors."`
	JSON      bool            `name:"json" help:"Print a JSON object for each transfer; all else goes to standard error."`
}

// Help is shown by `braid recv --help`.
func (*Recv) Help() string {
	return `Receives files and directories from braid send, until it is stopped. What arrives is written aside, in a folder .braid-... in DIR. When everything is there and compared, piece by piece by SHA-256, it gets its name, and not before: nothing that is half there stands under its name. Nothing is overwritten without --overwrite, nothing is written outside of DIR, and there are no links, devices or owners.

Who can reach ADDR can send, unless there is a secret (braid secret). A firewall must let TCP port 13338 in, or the one of --listen.

Exit status: 0 stopped while nothing was arriving, or --once and it has arrived; 1 it can't listen, or --once and it has not arrived; 2 the command line can't be; 130 interrupted (SIGINT, SIGTERM, SIGHUP, or nobody reads what it prints) while something was arriving, or --once and nothing had.

Examples:

  braid recv incoming                                        from this host
  braid recv incoming --listen 0.0.0.0 --secret-file s.txt   from others
  braid recv . --once --max-bytes 10G --listen 10.0.0.6:9000
`
}

// check says what can't be.
func (c *Recv) check() error {
	switch {
	case c.MaxFiles < 1:
		return fmt.Errorf("--max-files %d: a transfer has at least one file or directory; leave it out to take up to 250000", c.MaxFiles)
	case c.Clients < 1 || c.Clients > 1000:
		return fmt.Errorf("--clients %d: want 1 to 1000 transfers at a time", c.Clients)
	case c.Stall < 0:
		return fmt.Errorf("--stall %v: want a time, as 10m, or 0 to wait as long as the sender lives", c.Stall)
	case c.Dir == "":
		return errors.New("DIR is empty: name the directory in which files are to arrive, as . or incoming")
	}
	return nil
}

// Run is called by the parser.
func (c *Recv) Run(w shell.World) error {
	if err := c.check(); err != nil {
		return shell.BadLine(err)
	}
	o := files.ReceiveOptions{
		Dir: c.Dir, Listen: withPort(c.Listen), Once: c.Once, Overwrite: c.Overwrite, Sync: c.Sync,
		MaxBytes: uint64(c.MaxBytes), MaxFiles: c.MaxFiles, Clients: c.Clients, Stall: c.Stall,
	}
	if c.Stall == 0 {
		o.Stall = -1
	}
	var err error
	if o.Node, err = c.Node(w, "braid recv"); err != nil {
		return err
	}
	people := w.Out
	if c.JSON {
		people = w.ErrOut
	}
	o.Listening = func(addrs []string) {
		if !c.Quiet {
			fmt.Fprintf(people, "braid recv: listening on %s\n", strings.Join(addrs, ", "))
		}
	}
	o.TurnedAway = func(lane string, err error) {
		if !c.Quiet {
			_, from, _ := strings.Cut(lane, "->")
			fmt.Fprintf(people, "%s was turned away: %v\n", from, connect.Advise(err))
		}
	}
	failed := false
	o.Report = func(r files.Report) {
		failed = failed || r.Ended && r.Err != nil
		if r.Left != nil {
			fmt.Fprintf(w.ErrOut, "braid: warning: from %s: %v\n", r.Peer, r.Left)
		}
		switch {
		case r.Ended && r.Err != nil:
			kept := "; nothing of it was kept"
			if errors.As(r.Err, new(*files.PartlyError)) || r.Left != nil {
				kept = "" // what was is said
			}
			fmt.Fprintf(w.ErrOut, "braid: from %s: %v%s\n", r.Peer, shell.Bare(r.Err), kept)
		case c.Quiet:
		case r.Ended:
			fmt.Fprintf(people, "from %s: %s\n", r.Peer, done(arrived(r.Names), &r.Summary))
		default:
			fmt.Fprintf(people, "from %s: %s, %s of %s ...\n", r.Peer, named(r.Names), live.Size(r.Bytes), counts(&r.Summary))
		}
		if c.JSON && r.Ended {
			_ = json.NewEncoder(w.Out).Encode(recvJSON(r))
		}
	}
	err = files.Receive(w.Ctx, o)
	switch {
	case errors.Is(err, files.ErrInterrupted):
		return shell.ErrInterrupted
	case err != nil && failed && c.Once:
		return shell.ErrShown
	}
	return err
}
