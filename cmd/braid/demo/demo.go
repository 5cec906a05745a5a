package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/openbraid/braid/cmd/braid/connect"
	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/internal/demo"
	"github.com/openbraid/braid/internal/live"
)

// Command is `braid demo`.
type Command struct {
	File    string          `arg:"" optional:"" placeholder:"FILE" help:"File to move; without one, data is generated."`
	JSON    bool            `name:"json" help:"One JSON object on standard output; all else goes to standard error."`
	Seconds float64         `default:"10" placeholder:"N" help:"How long to move data, about (${default})."`
	Size    shell.ByteCount `placeholder:"BYTES" help:"How much data to generate, as 500M or 2G; without it, as much as goes in that time."`
	Rails   []string        `default:"127.0.0.1,127.0.0.2" placeholder:"A,B" help:"Two local addresses, one a lane (${default})."`
	Over    string          `name:"transport" default:"tcp" placeholder:"NAME" help:"What the lanes run over: tcp (default), rc over RDMA devices in software, or verbs over adapters (--rails says which)."`
	Plain   bool            `help:"Lines instead of a picture, also on a terminal."`
	Role    string          `hidden:""`

	connect.SecretFlags  `embed:""`
	connect.SettingFlags `embed:""`
}

// flags are the flags that other commands have, too. Rails are the demo's own: it must know what to cut.
func (c *Command) flags() *connect.Flags {
	return &connect.Flags{SecretFlags: c.SecretFlags, SettingFlags: c.SettingFlags}
}

// Help is shown by `braid demo --help`.
func (*Command) Help() string {
	return `Starts two processes of itself, connects them over two lanes, and moves data by puts and active messages. One lane is cut by a reset and comes back, then the other by silence: its bytes just stop. The receiver counts what arrives by number and content. Exit status 0: nothing lost, nothing doubled, both sides have the same bytes. No special rights are needed. The two prove to each other that they have the same secret: yours, or one that is made for this run.

The table at the end: blackout is from the cut until all that was under way on the lane is executed; longest gap is the longest time without any completion in the second after the cut, gap before the same in the second before it; posted again is what the other lane took over, needed is what of it the receiver did not have.

Examples:

  braid demo                    10 s of generated data
  braid demo video.mp4          move a file; its SHA-256 is printed for both sides
  braid demo --seconds 4 --json the figures for a program
  braid demo --rails 10.0.0.5,10.1.0.5
  braid demo --transport rc     over RDMA devices in software
  braid demo --set lost-after=100ms   how long is the blackout if a lane may be silent for longer?
`
}

// Run is called by the parser.
func (c *Command) Run(w shell.World) error {
	err := c.run(w)
	if errors.As(err, new(*demo.UsageError)) {
		return shell.BadLine(err)
	}
	return err
}

func (c *Command) run(w shell.World) error {
	if c.Role != "" {
		s, err := c.flags().Settings(io.Discard) // what is to be said of them its parent has said
		if err != nil {
			return err
		}
		return demo.Child(c.Role, s, w.In, w.Out)
	}
	if c.Seconds > 24*3600 || math.IsNaN(c.Seconds) {
		return &demo.UsageError{Text: fmt.Sprintf("--seconds %v: at most a day", c.Seconds)}
	}
	if c.File != "" && c.Size > 0 {
		return &demo.UsageError{Text: fmt.Sprintf("--size is for generated data, and %s has a size of its own: leave one of them out", c.File)}
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("can't find myself to start two more of me: %w", err)
	}
	if _, err := c.flags().Settings(w.ErrOut); err != nil {
		return err
	}
	secret, err := c.Secret()
	if err != nil {
		return err
	}
	people := w.Out
	if c.JSON {
		people = w.ErrOut
	}
	var screen *live.Screen
	if !c.Plain {
		screen = live.New(people.File)
	}
	r, err := demo.Run(w.Ctx, demo.Options{
		File: c.File, Bytes: int64(c.Size), Time: time.Duration(c.Seconds * float64(time.Second)), Rails: c.Rails, Over: c.Over, Secret: secret,
		Out: people, Screen: screen, Color: people.IsTerminal() && os.Getenv("NO_COLOR") == "", Command: append([]string{self, "demo"}, c.flags().Args()...),
	})
	if err != nil {
		return err
	}
	if c.JSON {
		if err := json.NewEncoder(w.Out).Encode(r); err != nil {
			return err
		}
	}
	if !r.OK() {
		return shell.ErrShown
	}
	return nil
}
