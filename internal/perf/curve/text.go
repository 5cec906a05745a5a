package curve

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/guptarohit/asciigraph"
)

const (
	rows      = 12 // of a plot
	labelCols = 12 // left of the lines
	leastCols = 20
)

// colours of series, in their order.
var colours = []asciigraph.AnsiColor{asciigraph.Green, asciigraph.Blue, asciigraph.Yellow, asciigraph.Purple, asciigraph.Red, asciigraph.White}

// chars are those of series where there is no colour.
const chars = "*o+x#@"

// Text draws all in so many columns.
//
// Errors: ErrNothing, and those of out.
func Text(out io.Writer, list []Series, columns int, color bool) error {
	right, low, high, err := bounds(list)
	if err != nil {
		return err
	}
	width := max(columns-labelCols, leastCols)
	var data [][]float64
	var names []string
	for i := range list {
		data, names = append(data, list[i].line(width, right)), append(names, list[i].Name)
	}
	o := []asciigraph.Option{
		asciigraph.Height(rows), asciigraph.LowerBound(math.Log10(low)), asciigraph.UpperBound(math.Log10(max(high, low*1.01))),
		asciigraph.YAxisValueFormatter(func(v float64) string { return fmt.Sprintf("%8s", micros(math.Pow(10, v))) }),
	}
	switch {
	case color && len(list) > 1:
		var use []asciigraph.AnsiColor
		for i := range list {
			use = append(use, colours[i%len(colours)])
		}
		o = append(o, asciigraph.SeriesColors(use...), asciigraph.SeriesLegends(names...))
	case len(list) > 1:
		var use []asciigraph.CharSet
		for i := range list {
			use = append(use, asciigraph.CreateCharSet(string(chars[i%len(chars)])))
			names[i] = string(chars[i%len(chars)]) + " " + names[i]
		}
		o = append(o, asciigraph.SeriesChars(use...))
	}
	_, err = fmt.Fprintf(out, "%s\n%s\n", asciigraph.PlotMany(data, o...), axis(width, right))
	if err == nil && len(list) > 1 && !color {
		_, err = fmt.Fprintf(out, "%s%s\n", strings.Repeat(" ", labelCols-2), strings.Join(names, "   "))
	}
	return err
}

// line is a series in so many columns, as powers of ten. Where it is over there is nothing.
func (s *Series) line(width int, right float64) (list []float64) {
	for i := range width {
		us, ok := s.at(right * float64(i) / float64(width-1))
		if !ok || us <= 0 {
			list = append(list, math.NaN())
			continue
		}
		list = append(list, math.Log10(us))
	}
	return list
}

// axis is the line under a plot: where each nine stands.
func axis(width int, right float64) string {
	line := []byte(strings.Repeat(" ", labelCols+width))
	put := func(at int, text string) {
		at = min(max(0, labelCols-2+at-len(text)/2), len(line)-len(text))
		if at > 0 && line[at-1] != ' ' || strings.TrimSpace(string(line[at:at+len(text)])) != "" {
			return // no room
		}
		copy(line[at:], text)
	}
	for n := 0.0; n <= right; n++ {
		put(int(n/right*float64(width-1)), percent(n))
	}
	return strings.TrimRight(string(line), " ")
}
