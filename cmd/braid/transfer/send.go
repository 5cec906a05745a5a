package transfer

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/openbraid/braid/cmd/braid/connect"
	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/internal/files"
)

// filesPort is where `braid recv` listens, and `braid send` dials, unless told otherwise.
const filesPort = "13338"

// Send is `braid send`.
type Send struct {
	Args []string `arg:"" name:"path" placeholder:"PATH" last:"ADDR" help:"Files and directories to send, or - for standard input; at the end ADDR, the receiver's: HOST or HOST:PORT (port 13338 unless given)."`

	connect.Flags `embed:""`

	Name  string `default:"stdin" placeholder:"NAME" help:"With -: what the file is to be called there (${default})."`
	Plain bool   `help:"Lines instead of a picture, also on a terminal."`
	Quiet bool   `short:"q" help:"Print nothing but errors."`
	JSON  bool   `name:"json" help:"Print one JSON object at the end, also of a failure; what is going on goes to standard error."`
}

// Help is shown by `braid send --help`.
func (*Send) Help() string {
	return `Sends files and directories to a braid recv, over all lanes that both hosts have. When a lane is lost the others go on; when all are, the transfer waits for one and goes on where it was. Each piece of each file is compared by its SHA-256 where it arrives. Files get their names when everything is there, so an end before that leaves nothing behind.

Links and devices inside of directories are not sent; each is named. Permissions and times are kept, owners are not.

Exit status: 0 everything is there, compared, under its name; 1 it is not, and standard error says why; 2 the command line can't be; 130 interrupted (SIGINT, SIGTERM, SIGHUP, or nobody reads what it prints); 141 nobody read the result to its end.

Examples:

  braid recv incoming --listen 0.0.0.0          on the host that receives
  braid send photos movie.mp4 10.0.0.6          photos/... and movie.mp4 arrive in incoming
  pg_dump shop | braid send - --name shop.sql 10.0.0.6
  braid send --json big.iso 10.0.0.6:9000
`
}

// stdin is the path of standard input, stdinName what it is called unless there is a --name.
const (
	stdin     = "-"
	stdinName = "stdin"
)

// options reads the command line.
func (c *Send) options(w shell.World) (o files.SendOptions, err error) {
	if len(c.Args) < 2 {
		return o, shell.BadLine(errors.New("what is to be sent, and where to? As in: braid send PATH... HOST"))
	}
	if err := checkLine(c.Args); err != nil {
		return o, shell.BadLine(err)
	}
	o.Paths, o.Addr = c.Args[:len(c.Args)-1], withPort(c.Args[len(c.Args)-1])
	if _, err := os.Stat(c.Args[len(c.Args)-1]); err == nil {
		fmt.Fprintf(w.ErrOut, "braid: note: %s is taken for the address of a receiver, and is a path, too\n", c.Args[len(c.Args)-1])
	}
	for _, p := range o.Paths {
		if p != stdin {
			continue
		}
		if len(o.Paths) > 1 {
			return o, shell.BadLine(errors.New("- is sent alone: send the other paths by a second command"))
		}
		o.Paths, o.Stdin, o.Name = nil, w.In, c.Name
	}
	if err := files.CheckName(c.Name); err != nil {
		return o, shell.BadLine(fmt.Errorf("--name %w", err))
	}
	if o.Stdin == nil && c.Name != stdinName {
		return o, shell.BadLine(errors.New("--name is for standard input: what is sent from a path has its name from there"))
	}
	o.Node, err = c.Node(w, "braid send")
	return o, err
}

// checkLine finds what can be no path or address: a variable that is empty, and what scp takes.
func checkLine(args []string) error {
	addr := args[len(args)-1]
	switch {
	case slices.Contains(args[:len(args)-1], ""):
		return errors.New("a PATH is empty: name what is to be sent, as . or photos")
	case addr == "":
		return errors.New("ADDR is empty: name the receiver, as HOST or HOST:PORT")
	case strings.ContainsAny(addr, "/@"):
		return fmt.Errorf("%q stands where the receiver's address does, and is none: it is HOST or HOST:PORT, as in: braid send PATH... 10.0.0.6. In which directory things arrive is said there: braid recv DIR", addr)
	}
	return nil
}

// withPort adds the usual port to an address without one.
func withPort(addr string) string {
	if _, _, err := net.SplitHostPort(addr); err == nil {
		return addr
	}
	return net.JoinHostPort(strings.Trim(addr, "[]"), filesPort)
}

// Run is called by the parser.
func (c *Send) Run(w shell.World) error {
	sum, err := c.transfer(w)
	if err != nil && c.JSON {
		_ = json.NewEncoder(w.Out).Encode(failed(err))
	}
	if err != nil {
		return notSent(err)
	}
	for _, name := range sum.Changed {
		fmt.Fprintf(w.ErrOut, "braid: warning: %s was written to while it was sent: what arrived may be of two versions\n", name)
	}
	if c.JSON {
		return json.NewEncoder(w.Out).Encode(sendJSON(sum))
	}
	if c.Quiet {
		return nil
	}
	_, err = fmt.Fprintln(w.Out, done("sent", sum))
	return err
}

// transfer sends, and shows what goes on meanwhile.
func (c *Send) transfer(w shell.World) (*files.Summary, error) {
	o, err := c.options(w)
	if err != nil {
		return nil, err
	}
	show := newShow(w, c)
	o.Event = show.event
	looked := show.looks(looksLong)
	s, err := files.NewSender(w.Ctx, o)
	looked()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	show.skipped(s)
	defer show.follow(s)()
	sum, err := s.Run(w.Ctx)
	return sum, connect.Advise(err)
}

// notSent is the error of a transfer for people, and for the exit status: 130 when it was interrupted.
func notSent(err error) error {
	unsure := errors.As(err, new(*files.UnsureError))
	switch interrupted := errors.Is(err, files.ErrInterrupted); {
	case !interrupted && !unsure && errors.As(err, new(*files.LostError)):
		return fmt.Errorf("%w; nothing was kept there: send it again when the receiver can be reached; --set suspended=5m waits longer for that", err)
	case !interrupted:
		return err
	case unsure:
		return fmt.Errorf("%w: everything was sent, and whether it stands under its name there is not known: look there", shell.ErrInterrupted)
	}
	return fmt.Errorf("%w: nothing was kept there", shell.ErrInterrupted)
}
