package litmus

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/openbraid/braid/test/share"

	"github.com/openbraid/braid/transport/sim"
)

// result is what exploring one program, or several, came to.
type result struct {
	programs, of  int
	states        int
	paths         float64
	violations    int
	steps, engine int
	took          time.Duration
}

func (r *result) add(o result) {
	r.programs += o.programs
	r.of += o.of
	r.states += o.states
	r.paths += o.paths
	r.violations += o.violations
	r.steps += o.steps
	r.engine += o.engine
	r.took += o.took
}

func (r result) row() table.Row {
	return table.Row{r.states, fmt.Sprintf("%.3g", r.paths), r.violations, r.steps, r.engine, fmt.Sprintf("%.1f", r.took.Seconds())}
}

var columns = table.Row{"states", "paths", "violations", "steps", "by the engine", "seconds"}

func newTable(heads ...any) table.Writer {
	out := table.NewWriter()
	out.SetStyle(table.StyleLight)
	out.AppendHeader(append(heads, columns...))
	return out
}

// one explores one program.
func (x *explorer) one(t *testing.T, p program) result {
	begin, steps, ran := time.Now(), x.taken, x.ran
	n := x.explore(p)
	for _, v := range x.violations {
		t.Error(v)
	}
	return result{1, 1, len(x.paths), n, len(x.violations), x.taken - steps, x.ran - ran, time.Since(begin)}
}

func (p program) cutting() string {
	switch {
	case p.cuts > 0 && p.kind == oneWay:
		return fmt.Sprint(p.cuts, ", one way")
	case p.cuts > 0 && p.silent():
		return fmt.Sprint(p.cuts, ", silent")
	}
	return fmt.Sprint(p.cuts)
}

// TestPrograms explores each chosen program completely.
func TestPrograms(t *testing.T) {
	ps := chosen()
	results := make([]result, len(ps))
	mine := share.Of(t)
	t.Run("each", func(t *testing.T) {
		for i, p := range ps {
			if !mine.Has(i) {
				continue
			}
			t.Run(fmt.Sprintf("%s over %d lanes, %s cut", p.words, p.lanes, p.cutting()), func(t *testing.T) {
				if testing.Short() && p.cuts > 0 && p.lanes > 1 {
					t.Skip("a thousand states; go test without -short")
				}
				t.Parallel()
				results[i] = newExplorer().one(t, p)
			})
		}
	})
	out := newTable("program", "lanes", "cuts")
	for i, p := range ps {
		if results[i].programs > 0 {
			out.AppendRow(append(table.Row{p.words, p.lanes, p.cutting()}, results[i].row()...))
		}
	}
	fmt.Println(out.Render())
}

// chosen are the programs to be explored, as BRAID_LITMUS says: nothing, a few; 1 or 2, all; else the one that it is.
func chosen() []program {
	switch one := os.Getenv("BRAID_LITMUS"); one {
	case "":
		return few
	case "1", "2":
		return append(few, many...)
	default:
		return []program{{one, 1, 0, sim.Reset}, {one, 2, 0, sim.Reset}, {one, 1, 1, sim.Reset}, {one, 2, 1, sim.Reset}}
	}
}

// class are all programs of so many operations over so many lanes of which so many are cut.
type class struct {
	ops, lanes, cuts int
	part             [3]int // how many of them are explored, by BRAID_LITMUS: nothing, 1, 2; every is all of them
}

const every = 1 << 30

// classes are all of those with at most four operations, two lanes and one cut. Where one may be cut, none need be: all of what goes on without a
// cut is explored there too, and in the end nobody asks for it apart.
var classes = []class{
	{1, 1, 0, [3]int{every, every, 0}}, {1, 2, 0, [3]int{every, every, 0}}, {1, 1, 1, [3]int{every, every, every}}, {1, 2, 1, [3]int{1, every, every}},
	{2, 1, 0, [3]int{every, every, 0}}, {2, 2, 0, [3]int{8, every, 0}}, {2, 1, 1, [3]int{2, every, every}}, {2, 2, 1, [3]int{0, every, every}},
	{3, 1, 0, [3]int{8, every, 0}}, {3, 2, 0, [3]int{4, 80, 0}}, {3, 1, 1, [3]int{0, 16, every}}, {3, 2, 1, [3]int{0, 16, every}},
	{4, 1, 0, [3]int{8, 120, 0}}, {4, 2, 0, [3]int{2, 60, 0}}, {4, 1, 1, [3]int{0, 24, every}}, {4, 2, 1, [3]int{0, 8, every}},
}

// TestAll explores all programs of each class, or a part of them that the seed chooses.
func TestAll(t *testing.T) {
	level, err := strconv.Atoi(os.Getenv("BRAID_LITMUS"))
	if err != nil && os.Getenv("BRAID_LITMUS") != "" || level > 2 {
		t.Skip("one program is asked for")
	}
	number, err := strconv.ParseUint(os.Getenv("BRAID_SEED"), 10, 64)
	if err != nil {
		number = 1
	}
	mine := share.Of(t)
	var mu sync.Mutex
	results := make([]result, len(classes))
	groups := 0
	with := map[string]*result{}
	t.Run("each", func(t *testing.T) {
		for i, c := range classes {
			if testing.Short() && c.ops > 2 {
				continue // the race run: there is one goroutine here
			}
			ps := all(c.ops)
			results[i].of = len(ps)
			some := c.some(ps, min(c.part[level], len(ps)), number)
			for _, first := range slices.Sorted(maps.Keys(some)) {
				if groups++; !mine.Has(groups - 1) {
					continue
				}
				some := some[first]
				slices.Sort(some) // what they begin with alike is known from the one before
				t.Run(fmt.Sprintf("%d operations over %d lanes, %d cut, from %s", c.ops, c.lanes, c.cuts, first), func(t *testing.T) {
					t.Parallel()
					x := newExplorer()
					for _, words := range some {
						r := x.one(t, program{words, c.lanes, c.cuts, sim.Reset})
						mu.Lock()
						tell(with, words, r)
						r.of = 0
						results[i].add(r)
						mu.Unlock()
						x.forget(1 << 18)
					}
				})
			}
		}
	})
	out := newTable("operations", "lanes", "cuts", "programs", "of")
	var total result
	for i, c := range classes {
		if r := results[i]; r.programs > 0 {
			out.AppendRow(append(table.Row{c.ops, c.lanes, c.cuts, r.programs, r.of}, r.row()...))
			total.add(r)
		}
	}
	out.AppendFooter(append(table.Row{"all", "", "", total.programs, total.of}, total.row()...))
	fmt.Println(out.Render())
	out = newTable("programs with", "")
	for _, k := range kinds {
		if r := with[k.name]; r != nil {
			out.AppendRow(append(table.Row{k.name, r.programs}, r.row()...))
		}
	}
	fmt.Printf("%s\nThe part of them that is not all was chosen by BRAID_SEED=%d.\n", out.Render(), number)
}

// some are n of the programs, by their first two words: every second one has a fence, as long as there are such. A seed has the
// same ones on each machine.
func (c class) some(ps []string, n int, number uint64) map[string][]string {
	luck := rand.New(rand.NewPCG(number, uint64(c.ops<<16|c.lanes<<8|c.cuts)))
	var fenced, others []string
	for _, i := range luck.Perm(len(ps)) {
		if strings.Contains(ps[i], "|") {
			fenced = append(fenced, ps[i])
		} else {
			others = append(others, ps[i])
		}
	}
	some := map[string][]string{}
	take := func(from *[]string) {
		p := (*from)[0]
		*from = (*from)[1:]
		some[p[:min(len(p), 3)]] = append(some[p[:min(len(p), 3)]], p)
	}
	for i := range n {
		if len(others) == 0 || i%2 == 0 && len(fenced) > 0 {
			take(&fenced)
		} else {
			take(&others)
		}
	}
	return some
}

// kinds are what programs may have in them.
var kinds = []struct{ name, words string }{
	{"puts of one frame", "P"}, {"puts of two frames", "Q"}, {"signals", "Ss"}, {"gets", "G"}, {"atomics", "Aa"}, {"messages", "MLR"}, {"messages of two frames", "L"}, {"fences", "|"}, {"flushes", "FWX"},
}

func tell(with map[string]*result, words string, r result) {
	for _, k := range kinds {
		if strings.ContainsAny(words, k.words) {
			if with[k.name] == nil {
				with[k.name] = &result{}
			}
			with[k.name].add(r)
		}
	}
}

// forget gives memory back, if much is kept.
func (x *explorer) forget(most int) {
	if len(x.steps)+len(x.know) > most {
		*x = *newExplorer()
	}
}
