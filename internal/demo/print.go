package demo

import (
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/openbraid/braid/internal/live"
)

// printer shows people what goes on.
type printer struct {
	w      io.Writer
	screen *live.Screen // nil: lines
	rails  rails
	color  bool
	begun  time.Duration

	last   [lanes]uint64
	lastAt time.Duration
	down   [lanes]string // why, "" while it is up
	cutBy  [lanes]cutStamp
}

func newPrinter(w io.Writer, r rails, color bool) *printer {
	return &printer{w: w, rails: r, color: color}
}

// Colours of a terminal.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (p *printer) paint(color, text string) string {
	if !p.color {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

func (p *printer) line(at time.Duration, format string, args ...any) {
	fmt.Fprintf(p.w, "%s   %s\n", since(p.begun, at), fmt.Sprintf(format, args...))
}

func (p *printer) name(rail int) string { return fmt.Sprintf("lane %d %s", rail, p.rails.Names[rail]) }

func (p *printer) intro(s spec, note string) {
	what := "generated data"
	switch {
	case s.File != "":
		what = fmt.Sprintf("%s (%s)", s.File, live.Size(uint64(s.Bytes)))
	case s.Bytes >= 0:
		what = live.Size(uint64(s.Bytes)) + " of generated data"
	}
	over := ""
	if s.Over == overRC {
		over = " over RDMA devices in software"
	}
	fmt.Fprintf(p.w, "Two processes, one endpoint, two lanes%s (%s and %s): puts and active messages carry %s.\n",
		over, p.rails.Names[0], p.rails.Names[1], what)
	fmt.Fprintf(p.w, "On the way the first lane is cut by a reset, later the second by silence. Nothing may be lost, nothing done twice.\n")
	if note != "" {
		fmt.Fprintln(p.w, p.paint(yellow, "Note: "+note+"."))
	}
	if s.Bytes == 0 {
		fmt.Fprintln(p.w, p.paint(yellow, "Note: the file is empty: only the demo's own numbered messages are under way."))
	}
	fmt.Fprintln(p.w)
}

func (p *printer) begin(at time.Duration) {
	p.begun, p.lastAt = at, at
	p.line(at, "both lanes are up, the load begins")
}

// rates shows what the receiver took over each lane since the last time.
func (p *printer) rates(at time.Duration, of [lanes]uint64, data uint64) {
	if p.begun == 0 {
		return
	}
	if p.screen != nil {
		p.draw(at, of, data)
		return
	}
	d := (at - p.lastAt).Seconds()
	text := ""
	for i := range of {
		state := fmt.Sprintf("%7.0f MB/s  ", float64(of[i]-p.last[i])/1e6/d)
		if p.down[i] != "" {
			state = p.paint(red, fmt.Sprintf("%-14s", "DOWN ("+p.down[i]+")"))
		}
		text += fmt.Sprintf("%s %s   ", p.name(i), state)
	}
	p.line(at, "%stotal %s", text, live.Size(data))
	p.last, p.lastAt = of, at
}

// draw is rates on a terminal.
func (p *printer) draw(at time.Duration, of [lanes]uint64, data uint64) {
	f := live.Frame{At: at - p.begun, Done: data, Unit: "checked"}
	for i := range of {
		state := "up"
		if p.down[i] != "" {
			state = "DOWN (" + p.down[i] + ")"
		}
		f.Lanes = append(f.Lanes, live.Lane{Name: p.name(i), State: state, Bytes: of[i]})
	}
	p.screen.Show(f)
}

func (p *printer) cut(c cutStamp) {
	p.cutBy[c.Rail] = c
	p.line(c.At, "%s", p.paint(yellow, fmt.Sprintf("CUT  %s by %s, in the middle of a write, for %.1f s", p.name(c.Rail), c.Kind, c.For.Seconds())))
}

// event shows one of the sender's.
func (p *printer) event(e laneEvent) {
	if p.begun == 0 {
		return
	}
	switch e.Kind {
	case "LaneUp":
		p.down[e.Rail] = ""
		p.line(e.At, "%s", p.paint(green, fmt.Sprintf("UP   %s is back as %s", p.name(e.Rail), e.Instance)))
	case "LaneDown":
		p.down[e.Rail] = "lost"
		why := e.Err
		if c := p.cutBy[e.Rail]; c.At != 0 && e.At <= c.At+c.For {
			p.down[e.Rail] = c.Kind
			why = fmt.Sprintf("%s; noticed %.1f ms after the cut", e.Err, milliseconds(e.At-c.At))
		}
		p.line(e.At, "%s", p.paint(red, fmt.Sprintf("DOWN %s (%s): %s", p.name(e.Rail), e.Instance, why)))
	case "HandedOver":
		p.line(e.At, "OVER %s (%s): what it still had is executed, %s were posted again", p.name(e.Rail), e.Instance, live.Size(e.Replayed))
	default:
		p.line(e.At, "%s %s", e.Kind, e.Err)
	}
}

func (p *printer) checked() {
	if p.screen != nil {
		p.screen.Close() // what comes now is the report
		p.screen = nil
	}
	fmt.Fprintln(p.w)
}

// report is the end: tables, and one line that says it all.
func (p *printer) report(r *Report) {
	t := p.table("", "sent", "arrived")
	t.AppendRow(table.Row{"blocks (puts of data)", r.Sender.Blocks, r.Receiver.Blocks})
	t.AppendRow(table.Row{"words (puts of 8 bytes)", r.Sender.Words, r.Receiver.Words})
	t.AppendRow(table.Row{"messages", r.Sender.Messages, r.Receiver.Messages})
	t.AppendRow(table.Row{"bytes of data", r.Sender.Bytes, r.Receiver.Bytes})
	t.AppendRow(table.Row{"lost", "", r.Lost})
	t.AppendRow(table.Row{"doubled", "", r.Doubled})
	t.AppendRow(table.Row{"SHA-256 of the data", short(r.Sender.SHA256), short(r.Receiver.SHA256)})
	t.Render()
	c := p.table("lane", "cut by", "blackout", "longest gap", "gap before", "posted again", "needed")
	for _, x := range r.Cuts {
		c.AppendRow(table.Row{x.Lane, x.Kind, ms(x.BlackoutMS), ms(x.GapMS), ms(x.BeforeMS), live.Size(x.Replayed), live.Size(x.Needed)})
	}
	c.Render()
	l := p.table("lane", "bytes over it")
	for _, x := range r.Lanes {
		l.AppendRow(table.Row{x.Name, live.Size(x.Bytes)})
	}
	l.Render()
	fmt.Fprintf(p.w, "%s in %d operations and %.1f s, %s/s: %d lost, %d doubled\n",
		live.Size(r.Bytes), r.Operations, r.Seconds, live.Size(uint64(float64(r.Bytes)/max(r.Seconds, 0.001))), r.Lost, r.Doubled)
	fmt.Fprintf(p.w, "SHA-256 sent     %s\nSHA-256 received %s\n\n", r.Sender.SHA256, r.Receiver.SHA256)
	if r.OK() {
		load := "under load"
		if r.Bytes == 0 {
			load = "with messages alone under way"
		}
		fmt.Fprintln(p.w, p.paint(green, "OK: two lanes were lost "+load+"; nothing was lost, nothing done twice, both sides have the same bytes."))
		return
	}
	fmt.Fprintln(p.w, p.paint(red, "FAILED:"))
	for _, x := range r.Problems {
		fmt.Fprintln(p.w, "  "+x)
	}
}

func (p *printer) table(heads ...any) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(p.w)
	t.AppendHeader(table.Row(heads))
	t.SetStyle(table.StyleLight)
	return t
}

func ms(v float64) string {
	if v < 0 {
		return "never"
	}
	return fmt.Sprintf("%.1f ms", v)
}

func short(digest string) string { return digest[:min(16, len(digest))] + "…" }
