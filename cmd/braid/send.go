package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/files"
	"github.com/openbraid/braid/internal/live"
)

// filesPort is where `braid recv` listens, and `braid send` dials, unless told otherwise.
const filesPort = "13338"

// sendCommand is `braid send`.
type sendCommand struct {
	Args []string `arg:"" name:"path" placeholder:"PATH" last:"ADDR" help:"Files and directories to send, or - for standard input; at the end ADDR, the receiver's: HOST or HOST:PORT (port 13338 unless given)."`

	connectFlags `embed:""`

	Name  string `default:"stdin" placeholder:"NAME" help:"With -: what the file is to be called there (${default})."`
	Plain bool   `help:"Lines instead of a picture, also on a terminal."`
	Quiet bool   `short:"q" help:"Print nothing but errors."`
	JSON  bool   `name:"json" help:"Print one JSON object at the end, also of a failure; what is going on goes to standard error."`
}

// Help is shown by `braid send --help`.
func (*sendCommand) Help() string {
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
func (c *sendCommand) options(w world) (o files.SendOptions, err error) {
	if len(c.Args) < 2 {
		return o, usage{errors.New("what is to be sent, and where to? As in: braid send PATH... HOST")}
	}
	o.Paths, o.Addr = c.Args[:len(c.Args)-1], withPort(c.Args[len(c.Args)-1])
	if _, err := os.Stat(c.Args[len(c.Args)-1]); err == nil {
		fmt.Fprintf(w.errOut, "braid: note: %s is taken for the address of a receiver, and is a path, too\n", c.Args[len(c.Args)-1])
	}
	for _, p := range o.Paths {
		if p != stdin {
			continue
		}
		if len(o.Paths) > 1 {
			return o, usage{errors.New("- is sent alone: send the other paths by a second command")}
		}
		o.Paths, o.Stdin, o.Name = nil, w.in, c.Name
	}
	if err := files.CheckName(c.Name); err != nil {
		return o, usage{fmt.Errorf("--name %w", err)}
	}
	if o.Stdin == nil && c.Name != stdinName {
		return o, usage{errors.New("--name is for standard input: what is sent from a path has its name from there")}
	}
	o.Node, err = c.node(w, "braid send")
	return o, err
}

// node is what a node of a transfer is opened with.
func (c *connectFlags) node(w world, name string) (o braid.Options, err error) {
	if o.Settings, err = c.settings(w.errOut); err != nil {
		return o, err
	}
	if err = o.Settings.Default("name", name); err != nil {
		return o, err
	}
	o.Times.Suspended, err = time.ParseDuration(valueOf(o.Settings, "suspended"))
	return o, err
}

// flagsFirst moves the flags of a command in front of its arguments: of arguments that are a list the parser takes only those that stand
// together.
func flagsFirst(app *kong.Application, args []string) []string {
	p := place{node: app.Node}
	p.pass(args[0])
	flags, rest := args[:1:1], []string{"--"}
	for _, w := range args[1:] {
		value, plain := p.wants != nil, p.plain
		p.pass(w)
		switch {
		case value || !plain && len(w) > 1 && w[0] == '-' && w != "--":
			flags = append(flags, w)
		case plain || w != "--":
			rest = append(rest, w)
		}
	}
	return append(flags, rest...)
}

// withPort adds the usual port to an address without one.
func withPort(addr string) string {
	if _, _, err := net.SplitHostPort(addr); err == nil {
		return addr
	}
	return net.JoinHostPort(strings.Trim(addr, "[]"), filesPort)
}

// Run is called by the parser.
func (c *sendCommand) Run(w world) error {
	sum, err := c.transfer(w)
	if err != nil && c.JSON {
		_ = json.NewEncoder(w.out).Encode(transfer{Error: bare(err), Unknown: errors.As(err, new(*files.UnsureError))})
	}
	if err != nil {
		return notSent(err)
	}
	for _, name := range sum.Changed {
		fmt.Fprintf(w.errOut, "braid: warning: %s was written to while it was sent: what arrived may be of two versions\n", name)
	}
	if c.JSON {
		return json.NewEncoder(w.out).Encode(sendJSON(sum))
	}
	if c.Quiet {
		return nil
	}
	_, err = fmt.Fprintln(w.out, done("sent", sum))
	return err
}

// transfer sends, and shows what goes on meanwhile.
func (c *sendCommand) transfer(w world) (*files.Summary, error) {
	o, err := c.options(w)
	if err != nil {
		return nil, err
	}
	show := newShow(w, c)
	o.Event = show.event
	s, err := files.NewSender(o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	show.skipped(s)
	defer show.follow(s)()
	return s.Run(w.ctx)
}

// notSent is the error of a transfer for people, and for the exit status: 130 when it was interrupted.
func notSent(err error) error {
	switch {
	case !errors.Is(err, files.ErrInterrupted):
		return err
	case errors.As(err, new(*files.UnsureError)):
		return fmt.Errorf("%w: everything was sent, and whether it stands under its name there is not known: look there", errInterrupted)
	}
	return fmt.Errorf("%w: nothing was kept there", errInterrupted)
}

// done is the one line that says it all.
func done(what string, s *files.Summary) string {
	sec := max(s.Time.Seconds(), 0.001)
	text := fmt.Sprintf("%s %s, %s in %.1f s (%s), each piece compared by SHA-256", what, counts(s), live.Size(s.Bytes), sec, live.Rate(float64(s.Bytes)/sec/1e6))
	if s.LanesLost == 1 {
		text += "; a lane was lost once"
	} else if s.LanesLost > 0 {
		text += fmt.Sprintf("; lanes were lost %d times", s.LanesLost)
	}
	return text
}

func counts(s *files.Summary) string {
	text := plural(s.Files, "file", "files")
	if s.Dirs > 0 {
		text += " in " + plural(s.Dirs, "directory", "directories")
	}
	return text
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// transfer is a transfer for programs.
type transfer struct {
	OK       bool           `json:"ok"`
	Error    string         `json:"error,omitempty"`
	Unknown  bool           `json:"outcome_unknown,omitempty"` // of a failure: everything was sent, and may stand there nevertheless
	Peer     string         `json:"peer,omitempty"`
	Names    []string       `json:"names,omitempty"`
	Files    int            `json:"files"`
	Dirs     int            `json:"directories"`
	Bytes    uint64         `json:"bytes"`
	Seconds  float64        `json:"seconds"`
	Lost     int            `json:"lanes_lost"`
	Lanes    []transferLane `json:"lanes,omitempty"`
	Skipped  []string       `json:"skipped,omitempty"`
	Changed  []string       `json:"changed,omitempty"`
	Verified bool           `json:"sha256_compared"`
}

type transferLane struct {
	Name  string `json:"name"`
	Bytes uint64 `json:"bytes"`
}

func sendJSON(s *files.Summary) transfer {
	t := transfer{OK: true, Files: s.Files, Dirs: s.Dirs, Bytes: s.Bytes, Seconds: float64(s.Time.Milliseconds()) / 1000, Lost: s.LanesLost, Changed: s.Changed, Verified: true}
	for _, l := range s.Lanes {
		t.Lanes = append(t.Lanes, transferLane{l.Name, l.Bytes})
	}
	for _, x := range s.Skipped {
		t.Skipped = append(t.Skipped, x.Path)
	}
	return t
}

// show is what people see of a transfer while it runs.
type show struct {
	w      io.Writer   // for people
	lines  chan string // of events, on their way to w: an event must not wait for who reads
	screen *live.Screen
	quiet  bool
	begun  time.Time
	last   files.Status
	lastAt time.Duration
}

func newShow(w world, c *sendCommand) *show {
	s := &show{w: w.errOut, quiet: c.Quiet, begun: time.Now(), lines: make(chan string, 100)}
	if !c.Plain && !c.Quiet {
		if s.screen = live.New(w.errOut.file); s.screen != nil {
			s.w = s.screen
		}
	}
	return s
}

// showSkipped is how many things that are not sent are named.
const showSkipped = 10

func (s *show) skipped(x *files.Sender) {
	for i, k := range x.Skipped() {
		if i == showSkipped {
			fmt.Fprintf(s.w, "braid: warning: and %d more are not sent\n", len(x.Skipped())-i)
			return
		}
		fmt.Fprintf(s.w, "braid: warning: %s is %s, and not sent\n", files.Printable(k.Path), k.Why)
	}
}

// event is told of lanes. It prints those that people want to know of.
func (s *show) event(e braid.Event) {
	text := ""
	switch e.Kind {
	case braid.LaneDown:
		text = fmt.Sprintf("DOWN %s: %v", e.Lane, e.Err)
	case braid.HandedOver:
		text = fmt.Sprintf("OVER %s: what it still had is there, %s were posted again", e.Lane, live.Size(e.Replayed))
	case braid.LaneUp:
		text = "UP   " + e.Lane
	case braid.Suspended:
		text = "WAIT no lane is left: waiting for one to come back"
	case braid.Resumed:
		text = "ON   a lane is back: going on where it was"
	case braid.Failed, braid.TurnedAway: // the error says it; and nobody dials a sender
	}
	if text != "" && !s.quiet {
		select {
		case s.lines <- fmt.Sprintf("%6.2f s   %s\n", time.Since(s.begun).Seconds(), text):
		default: // nobody reads
		}
	}
}

const (
	pictureEvery = 100 * time.Millisecond
	lineEvery    = time.Second
)

// follow shows how far it is until stop is called, which takes the picture away.
func (s *show) follow(x *files.Sender) (stop func()) {
	if s.quiet {
		return func() {}
	}
	every := lineEvery
	if s.screen != nil {
		every = pictureEvery
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-end:
				for len(s.lines) > 0 {
					fmt.Fprint(s.w, <-s.lines)
				}
				return
			case line := <-s.lines:
				fmt.Fprint(s.w, line)
			case <-t.C:
				s.look(x.Status(), time.Since(s.begun))
			}
		}
	}()
	return func() {
		close(end)
		<-ended
		if s.screen != nil {
			s.screen.Close()
		}
	}
}

func (s *show) look(st files.Status, at time.Duration) {
	if s.screen != nil {
		f := live.Frame{At: at, Done: st.Bytes, Total: st.Total, Unit: "arrived", Note: st.Now}
		for _, l := range st.Lanes {
			f.Lanes = append(f.Lanes, live.Lane{Name: l.Name, State: l.State, Bytes: l.Bytes})
		}
		s.screen.Show(f)
		return
	}
	d := (at - s.lastAt).Seconds()
	text := fmt.Sprintf("%6.2f s   %s", at.Seconds(), live.Size(st.Bytes))
	if st.Total > 0 {
		text += fmt.Sprintf(" of %s, %d %%", live.Size(st.Total), st.Bytes*100/st.Total)
	}
	for _, l := range st.Lanes {
		was := uint64(0)
		for _, k := range s.last.Lanes {
			if k.Name == l.Name {
				was = k.Bytes
			}
		}
		rate := live.Rate(float64(l.Bytes-min(was, l.Bytes)) / d / 1e6)
		if l.State != "up" {
			rate = l.State
		}
		text += fmt.Sprintf("   %s %s", l.Name, rate)
	}
	fmt.Fprintln(s.w, text)
	s.last, s.lastAt = st, at
}
