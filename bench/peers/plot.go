package main

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/openbraid/braid/bench/duel"
	"github.com/openbraid/braid/bench/rival"
)

// plot is a figure by size, both axes logarithmic.
type plot struct {
	transport, figure string
	curves            []curve
}

type curve struct {
	name   string
	points []point
}

type point struct {
	size  int
	value float64
}

const (
	plotWidth, plotHeight = 900, 460
	plotLeft, plotRight   = 80, 240 // what is beside the axes
	plotTop, plotBottom   = 40, 50
)

// colours are those of tests; UCX's curve of the same test is dashed.
var colours = []string{"#1b6ca8", "#d1495b", "#2e933c", "#8e5ea2", "#e08e0b", "#4a4a4a", "#00897b", "#a0522d"}

// add puts a point on a curve.
func (p *plot) add(name string, size int, value float64) {
	i := slices.IndexFunc(p.curves, func(c curve) bool { return c.name == name })
	if i < 0 {
		i = len(p.curves)
		p.curves = append(p.curves, curve{name: name})
	}
	p.curves[i].points = append(p.curves[i].points, point{size, value})
}

// sizes are those that some curve has, in order.
func (p *plot) sizes() (list []int) {
	for _, c := range p.curves {
		for _, at := range c.points {
			list = append(list, at.size)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (p *plot) file() string { return p.transport + "-" + p.figure + ".svg" }

// scale is where a value stands between two pixels.
type scale struct{ low, high, from, to float64 }

func (s scale) at(v float64) float64 {
	if s.high == s.low {
		return (s.from + s.to) / 2
	}
	return s.from + (s.to-s.from)*(math.Log10(v)-s.low)/(s.high-s.low)
}

// svg draws it.
func (p *plot) svg(out io.Writer) error {
	var b bytes.Buffer
	low, high := math.Inf(1), math.Inf(-1)
	for _, c := range p.curves {
		for _, at := range c.points {
			low, high = min(low, at.value), max(high, at.value)
		}
	}
	sizes := p.sizes()
	x := scale{math.Log10(float64(sizes[0])), math.Log10(float64(sizes[len(sizes)-1])), plotLeft, plotWidth - plotRight}
	y := scale{math.Floor(math.Log10(low)), math.Ceil(math.Log10(high)), plotHeight - plotBottom, plotTop}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/><text x="%d" y="22" font-size="15">%s, %s by size</text>`+"\n", plotLeft, p.transport, p.figure)
	p.axes(&b, x, y, sizes)
	for i, c := range p.curves {
		p.draw(&b, x, y, i, c)
	}
	b.WriteString("</svg>\n")
	_, err := out.Write(b.Bytes())
	return err
}

func (p *plot) axes(b *bytes.Buffer, x, y scale, sizes []int) {
	for _, s := range sizes {
		at := x.at(float64(s))
		fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n",
			at, at, y.from, y.to, at, y.from+18, rival.SizeName(s))
	}
	for e := y.low; e <= y.high; e++ {
		v := math.Pow(10, e)
		at := y.at(v)
		fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="%.1f" y="%.1f" text-anchor="end">%s</text>`+"\n",
			x.from, x.to, at, at, x.from-6, at+4, duel.Number(v))
	}
}

// draw draws a curve and its name.
func (p *plot) draw(b *bytes.Buffer, x, y scale, i int, c curve) {
	slices.SortFunc(c.points, func(a, b point) int { return a.size - b.size })
	colour, dash := colours[i/2%len(colours)], ""
	if strings.HasPrefix(c.name, "ucx") {
		dash = ` stroke-dasharray="5 4"`
	}
	var path strings.Builder
	for _, at := range c.points {
		fmt.Fprintf(&path, "%.1f,%.1f ", x.at(float64(at.size)), y.at(at.value))
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x.at(float64(at.size)), y.at(at.value), colour)
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>`+"\n", strings.TrimSpace(path.String()), colour, dash)
	row := float64(plotTop + 16*i)
	left := float64(plotWidth - plotRight + 20)
	fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="%s" stroke-width="2"%s/><text x="%.1f" y="%.1f">%s</text>`+"\n",
		left, left+24, row, row, colour, dash, left+30, row+4, html.EscapeString(c.name))
}
