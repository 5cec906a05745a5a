package matrix

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"go.uber.org/goleak"

	"github.com/openbraid/braid/explain"
	"github.com/openbraid/braid/internal/perf/medium"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	kib = 1 << 10
	mib = 1 << 20
)

// eager and stripe are limits that are set, so that they are the same in each run; the others are as the transports say. Where limits are real nothing is set, and all are
// those that the model finds for the lanes as they are.
const eager, stripe = 64 * kib, 256 * kib

// usual are the sizes of each family, besides its limits: a word and less, what is large.
var usual = []int{0, 1, 7, 8, mib, 64 * mib}

// cutSizes are those of operations whose lanes are cut each time: of one frame, of what the peer reads, of several frames over all lanes.
var cutSizes = []int{8, eager + 1, mib}

// sizes are those of a family: where the endpoint goes over from one protocol to the next, each such limit and what is next to it.
func sizes(x *explain.Explanation, op explain.Op) []int {
	list := slices.Concat(usual, cutSizes)
	for r := range x.Sizes(op) {
		if limit := r.From - 1; limit > 0 { // the last size of the range before
			list = append(list, limit-1, limit, limit+1)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// column is one world.
type column struct {
	over  medium.Medium
	lanes int
	real  bool // its limits are
	put   bool // what is large is put by its sender; only families of which something is
}

func (c column) String() string {
	s := fmt.Sprintf("%s ×%d", c.over, c.lanes)
	if c.real {
		s += " real"
	}
	if c.put {
		s += " put"
	}
	return s
}

// columns are all of them, or those that run each time.
func columns(all bool) (list []column) {
	if m := os.Getenv("BRAID_MATRIX_OVER"); m != "" {
		return []column{{over: medium.Medium(m), lanes: 2}}
	}
	if !all {
		for _, c := range []column{{over: "tcp", lanes: 2}, {over: "rc", lanes: 1}, {over: "shm", lanes: 2}, {over: selfMedium, lanes: 1}} {
			put := c
			put.put = true
			list = append(list, c, put)
		}
		return append(list, column{over: "rc+tcp", lanes: 2}, column{over: "tcp", lanes: 2, real: true}, column{over: "shm", lanes: 2, real: true})
	}
	for _, how := range []column{{}, {real: true}, {put: true}} {
		for _, m := range []medium.Medium{"tcp", "rc", "shm"} {
			for _, lanes := range []int{1, 2, 4} {
				list = append(list, column{m, lanes, how.real, how.put})
			}
		}
		for _, m := range []medium.Medium{"shm+tcp", "rc+tcp", "rc+shm"} {
			list = append(list, column{m, 2, how.real, how.put})
		}
		list = append(list, column{selfMedium, 1, how.real, how.put})
	}
	return list
}

// TestMatrix: what arrives is what was sent, in every cell. BRAID_MATRIX=1 is all of it; BRAID_MATRIX_OVER=verbs is over adapters, where there are some.
func TestMatrix(t *testing.T) {
	all := os.Getenv("BRAID_MATRIX") != ""
	most := mib
	switch {
	case all:
		most = 64 * mib
	case testing.Short():
		most = eager + 1
	}
	counts := map[string]map[column]int{}
	for _, f := range families() {
		counts[f.name] = map[column]int{}
	}
	var ran []column
	for _, c := range columns(all) {
		t.Run(c.String(), func(t *testing.T) {
			ran = append(ran, c)
			c.run(t, most, all, counts)
		})
	}
	for some := range slices.Chunk(ran, 13) { // as many as a line has room for
		t.Log("\n" + render(some, counts))
	}
}

// run goes through a column.
func (c column) run(t *testing.T, most int, all bool, counts map[string]map[column]int) {
	w := newWorld(t, c)
	for _, f := range families() {
		if f.over != nil && !f.over(c.over == selfMedium) {
			continue
		}
		if c.put && f.op != explain.Offer && f.op != explain.Tag && f.op != explain.TagSync {
			continue
		}
		x := explain.Of(w.ep) // for each anew: what lanes bring is measured meanwhile
		list := sizes(&x, f.op)
		if c.real && f.has == nil {
			t.Logf("%s: %v bytes", f.name, list) // no two runs need have the same
		}
		for _, n := range list {
			if n > most || f.has != nil && !f.has(n) {
				continue
			}
			for _, cut := range []bool{false, true} {
				if cut && (c.over == selfMedium || !all && !slices.Contains(cutSizes, n)) {
					continue
				}
				if err := w.cell(f, n, cut); err != nil {
					t.Errorf("%s, %d bytes, cut %v: %v", f.name, n, cut, err)
					if w.ep.Err() != nil {
						t.Fatal("the endpoint is over")
					}
					continue
				}
				counts[f.name][c]++
			}
		}
	}
	if lost := w.ep.Stats().Handovers; w.cuts > 0 && lost == 0 {
		t.Errorf("%d cuts, and no lane was lost", w.cuts)
	}
}

// cellWithin is how long a cell may take: a machine that does other things besides needs seconds for the largest.
const cellWithin = 3 * time.Minute

// cell carries one, or with cuts one for each way to cut.
func (w *world) cell(f family, n int, cut bool) error {
	var cancel context.CancelFunc
	w.ctx, cancel = context.WithTimeout(context.Background(), cellWithin)
	defer cancel()
	times, posted := 1, func() {}
	if cut {
		times, posted = 2, w.cut
	}
	for range times {
		src := make([]byte, n)
		for i := range src {
			src[i] = byte(i*7 + n + w.cuts + 1)
		}
		w.seen() // whatever the one before has left
		if err := f.do(w, src, posted); err != nil {
			return err
		}
		if cut {
			w.healed()
		}
	}
	return nil
}

// healed waits until all lanes are back, so that the next cut has something to cut; what never comes back the next operation shows.
func (w *world) healed() {
	for i := 0; i < 400 && !w.up(); i++ {
		time.Sleep(5 * time.Millisecond)
	}
}

func (w *world) up() bool {
	for _, l := range w.ep.Lanes() {
		if l.State != "up" {
			return false
		}
	}
	return len(w.ep.Lanes()) > 0
}

func render(cols []column, counts map[string]map[column]int) string {
	tw := table.NewWriter()
	head := table.Row{"equal"}
	for _, c := range cols {
		head = append(head, c.String())
	}
	tw.AppendHeader(head)
	for _, f := range families() {
		row := table.Row{f.name}
		for _, c := range cols {
			row = append(row, counts[f.name][c])
		}
		tw.AppendRow(row)
	}
	return tw.Render()
}
