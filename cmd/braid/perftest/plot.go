package perftest

import (
	"errors"
	"fmt"
	"os"

	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/curve"
)

// plotFlags draw percentiles.
type plotFlags struct {
	Plot bool   `help:"Draw the percentiles of all tests, in the terminal."`
	SVG  string `name:"svg" placeholder:"FILE" help:"Write the percentiles of all tests as a picture."`
}

// plotCols is how wide a plot is: that of a table.
const plotCols = 106

// plots keeps what is to be drawn.
type plots struct {
	flags plotFlags
	file  *os.File
	list  []curve.Series
}

// open makes the picture's file, before anything is measured.
func (f plotFlags) open() (p *plots, err error) {
	p = &plots{flags: f}
	if f.SVG != "" {
		if p.file, err = os.Create(f.SVG); err != nil {
			return nil, fmt.Errorf("--svg: %w", err)
		}
	}
	return p, nil
}

// add takes a test's times, if it has come to any.
func (p *plots) add(name string, r *perf.Result) {
	if len(r.Latency.Percentiles) == 0 {
		return
	}
	if name == "" {
		name = fmt.Sprintf("%s, %d bytes", r.Test, r.Size)
	}
	if r.Threads > 1 {
		name = fmt.Sprintf("%s, %d threads", name, r.Threads)
	}
	p.list = append(p.list, curve.Series{Name: name, Ops: r.Iterations, Points: r.Latency.Percentiles})
}

// draw draws all. What was measured before something failed is drawn, too.
func (p *plots) draw(w shell.World, title string) (err error) {
	if p.flags.Plot && len(p.list) > 0 {
		if err = curve.Text(w.Out, p.list, plotCols, w.Out.IsTerminal()); errors.Is(err, curve.ErrNothing) {
			err = nil
		}
	}
	if p.file == nil {
		return err
	}
	if len(p.list) > 0 {
		err = errors.Join(err, curve.SVG(p.file, title, p.list))
	}
	if err = errors.Join(err, p.file.Close()); err != nil {
		return fmt.Errorf("--svg: %w", err)
	}
	return nil
}
