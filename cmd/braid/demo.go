package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/openbraid/braid/internal/demo"
	"github.com/openbraid/braid/internal/live"
)

// demoCommand is `braid demo`.
type demoCommand struct {
	File    string    `arg:"" optional:"" placeholder:"FILE" help:"File to move; without one, data is generated."`
	JSON    bool      `name:"json" help:"One JSON object on standard output; all else goes to standard error."`
	Seconds float64   `default:"10" placeholder:"N" help:"How long to move data, about (${default})."`
	Size    byteCount `placeholder:"BYTES" help:"How much data to generate, as 500M or 2G; without it, as much as goes in that time."`
	Rails   []string  `default:"127.0.0.1,127.0.0.2" placeholder:"A,B" help:"Two local addresses, one a lane (${default})."`
	Plain   bool      `help:"Lines instead of a picture, also on a terminal."`
	Role    string    `hidden:""`

	secretFlags  `embed:""`
	settingFlags `embed:""`
}

// connect are the flags that other commands have, too. Rails are the demo's own: it must know what to cut.
func (c *demoCommand) connect() *connectFlags {
	return &connectFlags{secretFlags: c.secretFlags, settingFlags: c.settingFlags}
}

// Help is shown by `braid demo --help`.
func (*demoCommand) Help() string {
	return `Starts two processes of itself, connects them over two lanes, and moves data by puts and active messages. One lane is cut by a reset and comes back, then the other by silence: its bytes just stop. The receiver counts what arrives by number and content. Exit status 0: nothing lost, nothing doubled, both sides have the same bytes. No special rights are needed. The two prove to each other that they have the same secret: yours, or one that is made for this run.

The table at the end: blackout is from the cut until all that was under way on the lane is executed; longest gap is the longest time without any completion in the second after the cut, gap before the same in the second before it; posted again is what the other lane took over, needed is what of it the receiver did not have.

Examples:

  braid demo                    10 s of generated data
  braid demo video.mp4          move a file; its SHA-256 is printed for both sides
  braid demo --seconds 4 --json the figures for a program
  braid demo --rails 10.0.0.5,10.1.0.5
  braid demo --set lost-after=100ms   how long is the blackout if a lane may be silent for longer?
`
}

// Run is called by the parser.
func (c *demoCommand) Run(w world) error {
	if c.Role != "" {
		s, err := c.connect().settings(io.Discard) // what is to be said of them its parent has said
		if err != nil {
			return err
		}
		return demo.Child(c.Role, s, w.in, w.out)
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
	if _, err := c.connect().settings(w.errOut); err != nil {
		return err
	}
	secret, err := c.secret()
	if err != nil {
		return err
	}
	people := w.out
	if c.JSON {
		people = w.errOut
	}
	var screen *live.Screen
	if !c.Plain {
		screen = live.New(people.file)
	}
	r, err := demo.Run(w.ctx, demo.Options{
		File: c.File, Bytes: int64(c.Size), Time: time.Duration(c.Seconds * float64(time.Second)), Rails: c.Rails, Secret: secret,
		Out: people, Screen: screen, Color: isTerminal(people) && os.Getenv("NO_COLOR") == "", Command: append([]string{self, "demo"}, c.connect().args()...),
	})
	if err != nil {
		return err
	}
	if c.JSON {
		if err := json.NewEncoder(w.out).Encode(r); err != nil {
			return err
		}
	}
	if !r.OK() {
		return errShown
	}
	return nil
}

// byteCount is a number of bytes with or without a unit.
type byteCount int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *byteCount) UnmarshalText(text []byte) error {
	s := strings.ToUpper(strings.TrimSpace(string(text)))
	digits := strings.TrimRight(s, "KMGTIB")
	unit, known := map[string]float64{
		"": 1, "B": 1, "K": 1e3, "KB": 1e3, "M": 1e6, "MB": 1e6, "G": 1e9, "GB": 1e9, "T": 1e12, "TB": 1e12,
		"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40,
	}[s[len(digits):]]
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || !known || !(n*unit >= 1 && n*unit <= 1<<60) {
		return fmt.Errorf("%q is no number of bytes; write 1000000, 500M, 2G or 64MiB", text)
	}
	*b = byteCount(n * unit)
	return nil
}
