package curve

import (
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The picture's size.
const wide, tall = 18 * vg.Centimeter, 11 * vg.Centimeter

// SVG writes all as a picture.
//
// Errors: ErrNothing, and those of out.
func SVG(out io.Writer, title string, list []Series) error {
	right, low, high, err := bounds(list)
	if err != nil {
		return err
	}
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, "percentile", "time of an operation"
	p.Add(plotter.NewGrid())
	p.Legend.Top, p.Legend.Left = true, true
	for i := range list {
		var xys plotter.XYs
		for _, q := range list[i].Points {
			if q.Micros > 0 {
				xys = append(xys, plotter.XY{X: list[i].nines(q.Rank), Y: q.Micros})
			}
		}
		if len(xys) == 0 { // which is no reason to draw none
			continue
		}
		line, err := plotter.NewLine(xys)
		if err != nil {
			return err
		}
		line.Color, line.Width = plotutil.Color(i), vg.Points(1.5)
		p.Add(line)
		p.Legend.Add(list[i].Name, line)
	}
	var nines plot.ConstantTicks
	for n := 0.0; n <= math.Ceil(right); n++ {
		nines = append(nines, plot.Tick{Value: n, Label: percent(n)})
	}
	p.X.Tick.Marker, p.X.Min, p.X.Max = nines, 0, right
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, times{}
	p.Y.Min, p.Y.Max = low/1.1, high*1.1
	canvas := vgsvg.New(wide, tall)
	p.Draw(draw.New(canvas))
	_, err = canvas.WriteTo(out)
	return err
}

// times are the ticks of times: 1, 2 and 5 of each power of ten.
type times struct{}

// Ticks implements plot.Ticker.
func (times) Ticks(low, high float64) (list []plot.Tick) {
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, e); v >= low && v <= high {
				list = append(list, plot.Tick{Value: v, Label: micros(v)})
			}
		}
	}
	return list
}
