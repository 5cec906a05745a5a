package live

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/guptarohit/asciigraph"
	"github.com/mattn/go-runewidth"
)

// history is what a lane carried, as rates.
type history struct {
	name  string
	rates []float64 // MB/s, of one frame after the other
	bytes uint64
	at    time.Duration
	begun bool
}

// keep is how many rates are kept: more than a terminal is wide.
const keep = 400

// smooth is how much of a rate that is printed comes from the newest frame.
const smooth = 0.3

func (h *history) note(bytes uint64, at time.Duration) {
	if !h.begun {
		h.bytes, h.at, h.begun = bytes, at, true
		return
	}
	d := (at - h.at).Seconds()
	if d <= 0 {
		return
	}
	rate := 0.0
	if bytes > h.bytes {
		rate = float64(bytes-h.bytes) / d / 1e6
	}
	h.rates = append(h.rates, rate)
	if len(h.rates) > keep {
		h.rates = h.rates[len(h.rates)-keep:]
	}
	h.bytes, h.at = bytes, at
}

// now is the rate for people: the newest few, evened out.
func (h *history) now() float64 {
	v := 0.0
	for i, r := range h.rates[max(0, len(h.rates)-12):] {
		if i == 0 {
			v = r
		}
		v += smooth * (r - v)
	}
	return v
}

// note takes the rates of a frame. A lane is known by its name; one that the frame lacks carries nothing.
func (s *Screen) note(f *Frame) {
	s.total.note(f.Done, f.At)
	seen := make(map[*history]bool, len(f.Lanes))
	for _, l := range f.Lanes {
		h := s.lanes[s.index(l.Name)]
		h.note(l.Bytes, f.At)
		seen[h] = true
	}
	for _, h := range s.lanes {
		if !seen[h] {
			h.note(h.bytes, f.At)
		}
	}
}

// index is the place of a lane, a new one if it was not there yet.
func (s *Screen) index(name string) int {
	for i, h := range s.lanes {
		if h.name == name {
			return i
		}
	}
	s.lanes = append(s.lanes, &history{name: name, rates: make([]float64, len(s.total.rates))})
	return len(s.lanes) - 1
}

// colours of lanes, in the plot and beside it.
var colours = []struct {
	plot asciigraph.AnsiColor
	text string
}{
	{asciigraph.Green, "32"}, {asciigraph.Blue, "34"}, {asciigraph.Yellow, "33"}, {asciigraph.Purple, "35"}, {asciigraph.Red, "31"}, {asciigraph.White, "37"},
}

func (s *Screen) paint(color, text string) string {
	if !s.color {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

const (
	plotRows  = 6  // without its axis
	leastRows = 16 // of a terminal, for a plot
	leastCols = 40
	axisCols  = 12 // of the plot, left of the line
)

// lines are what is drawn, none wider than columns.
func (s *Screen) lines(columns, rows int) []string {
	columns-- // some terminals break the line when the last column is used
	var out []string
	if rows >= leastRows && columns >= leastCols {
		out = s.plot(columns)
	}
	for _, l := range s.last.Lanes {
		if len(out) >= rows-2 {
			break
		}
		out = append(out, s.lane(s.index(l.Name), l, columns))
	}
	return append(out, s.bar(columns))
}

func (s *Screen) plot(columns int) []string {
	var data [][]float64
	var colors []asciigraph.AnsiColor
	top := 1.0
	width := columns - axisCols
	for i, h := range s.lanes {
		if len(h.rates) == 0 {
			continue
		}
		rates := h.rates[max(0, len(h.rates)-width):]
		for _, r := range rates {
			top = max(top, r)
		}
		data = append(data, rates)
		colors = append(colors, colours[i%len(colours)].plot)
	}
	if data == nil {
		return nil
	}
	o := []asciigraph.Option{
		asciigraph.Height(plotRows), asciigraph.LowerBound(0), asciigraph.UpperBound(math.Ceil(top)),
		asciigraph.YAxisValueFormatter(func(v float64) string { return fmt.Sprintf("%7.0f", v) }),
	}
	if s.color {
		o = append(o, asciigraph.SeriesColors(colors...))
	}
	return append([]string{"   MB/s"}, strings.Split(asciigraph.PlotMany(data, o...), "\n")...)
}

func (s *Screen) lane(i int, l Lane, columns int) string {
	dot, state := "●", l.State
	if l.State != "up" {
		dot = "○"
	}
	text := fmt.Sprintf("%-28s %7.0f MB/s  %9s  %s", l.Name, s.lanes[i].now(), Size(l.Bytes), state)
	text = cut(text, columns-3)
	if l.State != "up" {
		text = s.paint("31", text)
	}
	return " " + s.paint(colours[i%len(colours)].text, dot) + " " + text
}

// barCols is how wide the bar is.
const barCols = 30

// bar is the last line: how far it is.
func (s *Screen) bar(columns int) string {
	f := s.last
	rate := s.total.now()
	text := fmt.Sprintf("%s %s  %s", Size(f.Done), f.Unit, Rate(rate))
	if f.Total > 0 {
		part := min(1, float64(f.Done)/float64(f.Total))
		full := int(part * barCols)
		text = fmt.Sprintf("%s%s %3.0f %%  %s of %s  %s", strings.Repeat("━", full), strings.Repeat("─", barCols-full), math.Floor(part*100), Size(f.Done), Size(f.Total), Rate(rate))
		if left := Left(f.Total-min(f.Done, f.Total), rate); left != "" {
			text += "  " + left + " left"
		}
	}
	if f.Note != "" {
		text += "  " + f.Note
	}
	return " " + cut(text, columns-1)
}

// cells is how many columns of a terminal a letter takes: two, if it is Chinese, say. What may take one or two takes one, as what is drawn here does.
var cells = runewidth.Condition{}

// cut makes text fit. Letters count one by one: what a terminal joins takes no more than that.
func cut(text string, columns int) string {
	n, fits := 0, 0 // columns so far; bytes after which there is room for the sign that something is left out
	for i, r := range text {
		if n < columns {
			fits = i
		}
		if n += cells.RuneWidth(r); n > columns {
			return text[:fits] + "…"
		}
	}
	return text
}

// Left is how long so many bytes take at a rate in MB/s; "" if that can't be said.
func Left(bytes uint64, rate float64) string {
	if rate <= 0 {
		return ""
	}
	sec := float64(bytes) / 1e6 / rate
	switch {
	case sec > 99*3600:
		return ""
	case sec >= 3600:
		return fmt.Sprintf("%d:%02d:%02d", int(sec)/3600, int(sec)/60%60, int(sec)%60)
	}
	return fmt.Sprintf("%d:%02d", int(sec)/60, int(sec)%60)
}

// Rate is MB/s for people.
func Rate(rate float64) string {
	if rate >= 1000 {
		return fmt.Sprintf("%.2f GB/s", rate/1000)
	}
	return fmt.Sprintf("%.0f MB/s", rate)
}

// Size is a number of bytes for people.
func Size(n uint64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	v, i := float64(n), 0
	for ; v >= 999.95 && i < len(units)-1; i++ {
		v /= 1000
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}
