package perftest

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/openbraid/braid/internal/perf"
)

// printer prints tests in the form asked for. Columns are those of ucx_perftest; with a batch file CSV also says whose they are.
type printer struct {
	out    io.Writer
	form   printFlags
	batch  bool
	headed bool   // the first line of CSV stands
	drawn  *plots // what was measured, to be drawn at the end
	cpus   string // that both processes are bound to

	name   string // in a batch file
	test   perf.Params
	params *perf.Params // nil once the head of the test is printed
}

// begin says what comes next.
func (p *printer) begin(name string, test perf.Params) {
	p.name, p.test = name, test
	p.params = &p.test
}

const (
	rule = "+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+"
	top  = "+--------------+--------------+------------------------------+---------------------+-----------------------+"
)

// head comes before the first row: then the connection stands.
func (p *printer) head() {
	t := p.params
	p.params = nil
	switch {
	case t == nil:
	case p.form.CSV:
		switch {
		case p.headed:
		case p.batch:
			fmt.Fprintln(p.out, "name,test,size,iterations,percentile,percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr")
		default:
			fmt.Fprintf(p.out, "iterations,%.1f_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr\n", t.Percentile)
		}
		p.headed = true
	default:
		p.params = t
		p.title()
		p.tableHead(t)
	}
}

// title says what is measured. The head of the test is printed then.
func (p *printer) title() {
	t := p.params
	p.params = nil
	title := t.Test
	if p.name != "" {
		title = p.name + ": " + title
	}
	mode := "owned"
	if t.Shared {
		mode = "shared"
	}
	if t.Sleep {
		mode += ", sleeping"
	}
	lanes := "auto"
	if t.Lanes > 0 {
		lanes = strconv.Itoa(t.Lanes)
	}
	fmt.Fprintf(p.out, "%s, %d bytes, %s, lanes %s, error mode %v, %s, outstanding %d, verify %v%s\n",
		title, t.Size, t.Transport+p.layout(t), lanes, t.ErrorMode, mode, t.Outstanding, t.Verify, p.bound())
	if n := t.Stretch(); n > 1 {
		fmt.Fprintf(p.out, "percentiles are of averages over %d operations\n", n)
	}
}

// layout says which buffers there are, if not one.
func (p *printer) layout(t *perf.Params) string {
	l := &t.Lists
	switch {
	case !l.Used():
		return ""
	case l.Here && l.There:
		return fmt.Sprintf(", lists of %d buffers on both sides", len(l.Sizes))
	case l.Here:
		return fmt.Sprintf(", lists of %d buffers", len(l.Sizes))
	}
	return fmt.Sprintf(", lists of %d buffers at the server", len(l.Sizes))
}

// bound says where both processes are bound to, if they are.
func (p *printer) bound() string {
	if p.cpus == "" {
		return ""
	}
	return ", cpus " + p.cpus
}

// cell is a name in CSV.
func cell(s string) string {
	if strings.ContainsAny(s, ",\"") {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}

func (p *printer) tableHead(t *perf.Params) {
	what := "overhead (usec)"
	if t.IsLatency() {
		what = "latency (usec)"
	}
	fmt.Fprintln(p.out, top)
	fmt.Fprintf(p.out, "|              |              | %s | bandwidth (10^6 B/s)|  message rate (msg/s) |\n", center(what, 28))
	fmt.Fprintln(p.out, rule)
	fmt.Fprintf(p.out, "| %12s | %12s | %8s | %7s | %7s | %8s | %8s | %9s | %9s |\n",
		"Stage", "# iterations", strconv.FormatFloat(t.Percentile, 'g', 4, 64)+"%ile", "average", "overall", "average", "overall", "average", "overall")
	fmt.Fprintln(p.out, rule)
}

func center(s string, width int) string {
	left := (width - len(s)) / 2
	return strings.Repeat(" ", left) + s + strings.Repeat(" ", width-len(s)-left)
}

// row is one line of a running test, and its last one.
func (p *printer) row(r perf.Row) {
	if p.form.JSON || p.form.Final && !r.Final {
		return
	}
	p.head()
	switch {
	case p.form.CSV:
		rank := ""
		if p.batch {
			fmt.Fprintf(p.out, "%s,%s,%d,", cell(p.name), p.test.Test, p.test.Size)
			rank = strconv.FormatFloat(p.test.Percentile, 'g', -1, 64) + ","
		}
		fmt.Fprintf(p.out, "%d,%s%.3f,%.3f,%.3f,%.2f,%.2f,%.0f,%.0f\n", r.Iterations, rank, r.Typical, r.Moment, r.All, r.MomentMB, r.AllMB, r.MomentRate, r.AllRate)
	default:
		stage := ""
		if r.Final {
			stage = "Final:"
		}
		fmt.Fprintf(p.out, "%-14s %14s %10.3f %9.3f %9.3f %10.2f %10.2f %11s %11s\n", stage, p.count(float64(r.Iterations)),
			r.Typical, r.Moment, r.All, r.MomentMB, r.AllMB, p.count(r.MomentRate), p.count(r.AllRate))
	}
}

// count prints a whole number, with -N with separators.
func (p *printer) count(v float64) string {
	s := strconv.FormatFloat(v, 'f', 0, 64)
	if !p.form.Numeric {
		return s
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// result comes after the rows.
func (p *printer) result(r *perf.Result) error {
	switch {
	case p.form.JSON:
		return json.NewEncoder(p.out).Encode(r)
	case r.Pair != nil:
		p.pair(r)
	case r.Interrupted && !p.form.CSV:
		fmt.Fprintln(p.out, "broken off: this is what was measured until then")
		if r.Report != nil {
			p.verdict(r.Report)
		}
	case r.Verified && p.form.CSV && !r.Broken():
	case r.Verified || r.Report != nil:
		if r.Verified {
			fmt.Fprintf(p.out, "verified: lost %d, doubled %d, corrupt %d, out of order %d\n", r.Lost, r.Doubled, r.Corrupt, r.Disorders)
		} else {
			fmt.Fprintln(p.out, "not verified: the server did not live to say what it has")
		}
		if r.Report != nil {
			p.verdict(r.Report)
		}
	}
	return nil
}

func (p *printer) pair(r *perf.Result) {
	q := r.Pair
	if p.form.CSV {
		head, name := "", ""
		if p.batch {
			head, name = "name,", cell(p.name)+","
		}
		if !p.headed {
			fmt.Fprintf(p.out, "%stest,size,ratio,low,high,delta_ns,delta_low,delta_high,pairs\n", head)
			p.headed = true
		}
		fmt.Fprintf(p.out, "%s%s,%d,%.4f,%.4f,%.4f,%.2f,%.2f,%.2f,%d\n",
			name, r.Test, r.Size, q.Ratio, q.Low, q.High, q.DeltaNS.Median, q.DeltaNS.Low, q.DeltaNS.High, q.Pairs)
		return
	}
	title := r.Test
	if p.batch {
		title = p.name + ": " + title
	}
	fmt.Fprintf(p.out, "%s, %d bytes, %s, lanes %d, %s, %s, %d pairs of blocks of %d operations, seed %d%s\n",
		title, r.Size, r.Transport, r.Lanes, r.Mode, r.ErrorMode, q.Pairs, q.BlockOps, q.Seed, p.bound())
	fmt.Fprintf(p.out, "ratio      %.4f   95 %% within %.4f to %.4f   (time with the first / time with the second; above 1 is a cost)\n", q.Ratio, q.Low, q.High)
	fmt.Fprintf(p.out, "difference %.1f ns an operation, 95 %% within %.1f to %.1f\n", q.DeltaNS.Median, q.DeltaNS.Low, q.DeltaNS.High)
}
