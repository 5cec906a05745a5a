package litmus

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/openbraid/braid/transport/sim"
)

// patience is how long, in virtual time, a program may take.
const patience = 20 * time.Second

// explorer visits all states of a program, depth first. A world can't be copied, so it is built anew for each branch.
type explorer struct {
	program
	paths      map[uint64]float64 // to the ends, by state; -1: being visited
	runs       int
	violations []string
}

// build makes the world after some steps.
func (x *explorer) build(path []step) *world {
	x.runs++
	w := newWorld(x.program)
	for _, s := range path {
		w.take(s)
	}
	return w
}

// visit explores what can follow in w, which is where path leads, and returns the number of paths to an end.
func (x *explorer) visit(w *world, path []step) float64 {
	if len(w.fails) > 0 {
		x.violate(w, path)
		return 1
	}
	h := w.hash()
	if n, ok := x.paths[h]; ok {
		if n < 0 {
			w.failf("a circle: it could go on for ever")
			x.violate(w, path)
		}
		return n
	}
	x.paths[h] = -1
	steps := w.steps()
	n := 0.0
	if len(steps) == 0 {
		if w.finished(); len(w.fails) > 0 {
			x.violate(w, path)
		}
		n = 1
	}
	for i := len(steps) - 1; i >= 0 && len(x.violations) < 3; i-- {
		next := append(path[:len(path):len(path)], steps[i])
		if i > 0 {
			n += x.visit(x.build(next), next)
			continue
		}
		w.take(steps[0])
		n += x.visit(w, next)
	}
	x.paths[h] = n
	return n
}

func (w *world) hash() uint64 {
	return hashOf(w.net, w.eng[0], w.eng[1], w.ops, len(w.todo), w.at, w.cut, w.region.Bytes)
}

func (x *explorer) violate(w *world, path []step) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s over %d lanes: %s\n", x.words, x.lanes, strings.Join(w.fails, "; "))
	again := newWorld(x.program)
	for _, s := range path {
		switch s.do {
		case doPost:
			fmt.Fprintf(&b, "   post %s\n", again.todo[0])
		case doArrive:
			a := again.net.Arrivals()[s.number]
			fmt.Fprintf(&b, "   arrives at %s, error %v\n", a.Local, a.Error)
		case doCut:
			fmt.Fprintf(&b, "   cut %s\n", again.eps[0].Lanes()[s.number].Local)
		case doTime:
			fmt.Fprintf(&b, "   time passes\n")
		}
		again.take(s)
	}
	x.violations = append(x.violations, b.String())
}

// TestPrograms explores each program completely.
func TestPrograms(t *testing.T) {
	ps := chosen()
	rows := make([]table.Row, len(ps))
	t.Run("each", func(t *testing.T) {
		for i, p := range ps {
			t.Run(fmt.Sprintf("%s over %d lanes, %d cut", p.words, p.lanes, p.cuts), func(t *testing.T) {
				if testing.Short() && p.cuts > 0 && p.lanes > 1 {
					t.Skip("a thousand states; go test without -short")
				}
				t.Parallel()
				begin := time.Now()
				x := &explorer{program: p, paths: map[uint64]float64{}}
				n := x.visit(x.build(nil), nil)
				for _, v := range x.violations {
					t.Error(v)
				}
				cuts := fmt.Sprint(p.cuts)
				if p.cuts > 0 && p.kind == sim.Silence {
					cuts += ", silent"
				}
				rows[i] = table.Row{p.words, p.lanes, cuts, len(x.paths), fmt.Sprintf("%.3g", n), len(x.violations), fmt.Sprintf("%.1f", time.Since(begin).Seconds())}
			})
		}
	})
	out := table.NewWriter()
	out.SetStyle(table.StyleLight)
	out.AppendHeader(table.Row{"program", "lanes", "cuts", "states", "paths", "violations", "seconds"})
	for _, r := range rows {
		if r != nil {
			out.AppendRow(r)
		}
	}
	fmt.Println(out.Render())
}

// chosen are the programs to be explored, as BRAID_LITMUS says: nothing, a few; 1, many; 2, all; else the one that it is.
func chosen() []program {
	switch one := os.Getenv("BRAID_LITMUS"); one {
	case "":
		return few
	case "1":
		return append(few, many...)
	case "2":
		return append(append(few, many...), most...)
	default:
		return []program{{one, 1, 0, sim.Reset}, {one, 2, 0, sim.Reset}, {one, 1, 1, sim.Reset}, {one, 2, 1, sim.Reset}}
	}
}
