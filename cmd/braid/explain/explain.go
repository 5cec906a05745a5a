package explain

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/cmd/braid/connect"
	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/explain"
)

// Command is `braid explain`.
type Command struct {
	Addr string        `arg:"" name:"addr" placeholder:"ADDR" help:"A listener of braid's: HOST or HOST:PORT (port 13337 unless given)."`
	Op   []string      `sep:"," placeholder:"OP" help:"Only these operations: am_send, am_offer, tag_send, tag_send_sync, put, get, stream_send, atomic, atomic_fetch; again, or with commas, for more."`
	Wait time.Duration `default:"100ms" placeholder:"TIME" help:"How long lanes are looked at before it is said what they bring (${default})."`
	JSON bool          `name:"json" help:"One JSON object."`

	connect.Flags `embed:""`
}

// Help is shown by `braid explain --help`.
func (*Command) Help() string {
	return `Dials a peer as a program with the same settings would, and shows its lanes and what each is for, the rails and ways without a lane and why, and by which protocol operations of which size are carried out, with the time and the rate that are expected. Nothing is sent to the program there but a hello and a goodbye. docs/explain.md tells how it is chosen.

A time is from the post until it is there, of the smallest and of the largest of the sizes, on lanes with nothing under way; a rate is that of many of the largest at a time, or of 64 MiB. They come from what lanes measured or their interfaces declare, so they are better of lanes that were in use.

Examples:

  braid explain 10.0.0.6
  braid explain 10.0.0.6:7777 --op tag_send
  braid explain 10.0.0.6 --set eager=1MiB --json | jq '.operations[].sizes'
`
}

// port is that of braid perftest.
const port = "13337"

// within is how long a dial and a goodbye may take.
const within = 10 * time.Second

// Run is called by the parser.
func (c *Command) Run(w shell.World) error {
	ops := explain.Ops()
	if len(c.Op) > 0 {
		ops = nil
	}
	for _, text := range c.Op {
		op, err := explain.ParseOp(text)
		if err != nil {
			return shell.BadLine(fmt.Errorf("--op: %w", err))
		}
		ops = append(ops, op)
	}
	if c.Addr == "" || c.Wait < 0 {
		return shell.BadLine(fmt.Errorf("want an address, and --wait not below zero"))
	}
	o, err := c.Node(w, "braid explain")
	if err != nil {
		return err
	}
	x, err := c.look(w.Ctx, o, within)
	if err != nil {
		return connect.Advise(err)
	}
	r := reportOf(&x, ops)
	if c.JSON {
		return json.NewEncoder(w.Out).Encode(r)
	}
	r.print(w)
	return nil
}

// look dials, and lets the lanes be measured: while they are idle they are asked. patience is how long the dial may take, and the goodbye.
func (c *Command) look(ctx context.Context, o braid.Options, patience time.Duration) (x explain.Explanation, err error) {
	n, err := braid.Open(o)
	if err != nil {
		return x, err
	}
	defer n.Close()
	addr := c.Addr
	if _, _, err := net.SplitHostPort(addr); err != nil {
		addr = net.JoinHostPort(strings.Trim(addr, "[]"), port)
	}
	w, err := n.NewWorker()
	if err != nil {
		return x, err
	}
	soon, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ep, err := w.Dial(soon, addr)
	if err != nil {
		return x, err
	}
	select {
	case <-time.After(c.Wait):
	case <-ctx.Done():
	}
	x = explain.Of(ep)
	if err := ctx.Err(); err != nil {
		ep.Abort()
		return x, context.Cause(ctx)
	}
	soon, cancel = context.WithTimeout(ctx, patience) // however long lanes were looked at
	defer cancel()
	_ = ep.Close(soon) // what was wanted is known
	return x, nil
}

// report is an explanation for programs.
type report struct {
	Peer       string      `json:"peer"`
	Name       string      `json:"name,omitempty"`
	State      string      `json:"state"`
	Lanes      []lane      `json:"lanes"`
	Unused     []unused    `json:"unused"`
	ZeroCopy   int         `json:"zero_copy_bytes"` // 0: never
	Eager      int         `json:"eager_bytes"`
	Stripe     int         `json:"stripe_bytes"`
	Busy       int         `json:"stripe_busy_bytes"`
	Operations []operation `json:"operations"`
}

type lane struct {
	Name      string   `json:"name"`
	Instance  string   `json:"instance"`
	State     string   `json:"state"`
	Roles     []string `json:"roles"`
	RoundTrip float64  `json:"round_trip_s,omitempty"`
	Rate      int64    `json:"rate_bits_s"`
	Guess     bool     `json:"rate_is_a_guess,omitempty"`
	Fault     string   `json:"fault,omitempty"`
}

type unused struct {
	Rail string `json:"rail,omitempty"`
	Path string `json:"path,omitempty"`
	Why  string `json:"why"`
}

type operation struct {
	Op    string  `json:"op"`
	Sizes []sizes `json:"sizes"`
}

type sizes struct {
	From      int      `json:"from"`
	To        int      `json:"to,omitempty"` // 0: there is no largest
	Memory    string   `json:"memory,omitempty"`
	Protocol  string   `json:"protocol"`
	Lanes     []string `json:"lanes"`
	Frames    [2]int   `json:"frames"`
	Latency   float64  `json:"latency_s"`
	LatencyTo float64  `json:"latency_to_s"`
	Rate      float64  `json:"rate_bytes_s"`
}

func reportOf(x *explain.Explanation, ops []explain.Op) report {
	r := report{Peer: x.Peer, Name: x.Name, State: x.State, ZeroCopy: x.ZeroCopy, Eager: x.Eager, Stripe: x.Stripe, Busy: x.Busy, Lanes: []lane{}, Unused: []unused{}}
	for _, l := range x.Lanes {
		r.Lanes = append(r.Lanes, lane{l.Name, l.Instance, l.State, append([]string{}, l.Roles...), l.RoundTrip.Seconds(), l.Rate, !l.Measured && l.Rate > 0, l.Fault})
	}
	for _, u := range x.Unused {
		r.Unused = append(r.Unused, unused{u.Rail, u.Path, u.Why})
	}
	for _, op := range ops {
		o := operation{Op: op.String(), Sizes: []sizes{}}
		for s := range x.Sizes(op) {
			to := s.To
			if to == math.MaxInt {
				to = 0
			}
			o.Sizes = append(o.Sizes, sizes{s.From, to, s.Memory, s.Protocol, s.Lanes, [2]int{s.Frames, s.Latest}, s.Latency.Seconds(), s.Upto.Seconds(), s.Rate})
		}
		r.Operations = append(r.Operations, o)
	}
	return r
}

// print writes it for people.
func (r *report) print(w shell.World) {
	fmt.Fprintf(w.Out, "peer %s %s: %s\n", r.Peer, r.Name, r.State)
	t := tableOf(w, "lane", "name", "state", "for", "round trip", "rate")
	for _, l := range r.Lanes {
		rate := "-"
		if l.Rate > 0 {
			rate = fmt.Sprintf("%.0f Mb/s", float64(l.Rate)/1e6)
		}
		if l.Guess {
			rate += " (a guess)"
		}
		trip := "not known"
		if l.RoundTrip > 0 {
			trip = seconds(l.RoundTrip)
		}
		t.AppendRow(table.Row{l.Instance, l.Name, l.State, cmp.Or(strings.Join(l.Roles, ", "), l.Fault), trip, rate})
	}
	t.Render()
	if len(r.Unused) > 0 {
		t = tableOf(w, "without a lane", "why")
		for _, u := range r.Unused {
			t.AppendRow(table.Row{strings.TrimSpace(u.Rail + " " + u.Path), u.Why})
		}
		t.Render()
	}
	fmt.Fprintln(w.Out, r.thresholds())
	t = tableOf(w, "operation", "bytes", "memory", "protocol", "lanes", "latency", "rate")
	for _, o := range r.Operations {
		name := o.Op
		for _, s := range o.Sizes {
			t.AppendRow(table.Row{name, s.span(), s.Memory, s.Protocol, strings.Join(s.Lanes, " "), seconds(s.Latency) + " - " + seconds(s.LatencyTo), fmt.Sprintf("%.0f MB/s", s.Rate/1e6)})
			name = ""
		}
	}
	t.Render()
}

// thresholds are those of sizes, for people.
func (r *report) thresholds() string {
	free := "always by a copy"
	if r.ZeroCopy > 0 {
		free = fmt.Sprintf("without a copy from %d bytes", r.ZeroCopy)
	}
	return fmt.Sprintf("%s, tagged and offered messages at once up to %d, messages over several lanes from %d, or %d while others are under way", free, r.Eager, r.Stripe, r.Busy)
}

// span is the sizes, for people.
func (s *sizes) span() string {
	if s.To == 0 {
		return strconv.Itoa(s.From) + " and more"
	}
	return fmt.Sprintf("%d - %d", s.From, s.To)
}

func seconds(s float64) string {
	if s < 1e-3 {
		return fmt.Sprintf("%.1f us", s*1e6)
	}
	return fmt.Sprintf("%.1f ms", s*1e3)
}

func tableOf(w shell.World, head ...any) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(w.Out)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(head)
	return t
}
