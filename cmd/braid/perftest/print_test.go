package perftest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openbraid/braid/internal/perf"
)

func TestPrinter(t *testing.T) {
	params := perf.Params{Test: "am_lat", Size: 8, Percentile: 99.9, Outstanding: 1}
	params.Transport, params.Lanes = "tcp", 2
	row := perf.Row{Iterations: 1234567, Typical: 1.5, Moment: 2, All: 2.5, MomentMB: 3, AllMB: 3.5, MomentRate: 4000, AllRate: 4500.4}
	last := row
	last.Final = true
	for _, c := range []struct {
		form printFlags
		want string
	}{
		{printFlags{Numeric: true}, `am_lat, 8 bytes, tcp, lanes 2, error mode failover, owned, outstanding 1, verify false
+--------------+--------------+------------------------------+---------------------+-----------------------+
|              |              |        latency (usec)        | bandwidth (10^6 B/s)|  message rate (msg/s) |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
|        Stage | # iterations | 99.9%ile | average | overall |  average |  overall |   average |   overall |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
                    1,234,567      1.500     2.000     2.500       3.00       3.50       4,000       4,500
Final:              1,234,567      1.500     2.000     2.500       3.00       3.50       4,000       4,500
`},
		{printFlags{CSV: true, Final: true}, `iterations,99.9_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr
1234567,1.500,2.000,2.500,3.00,3.50,4000,4500
`},
		{printFlags{JSON: true}, ""},
	} {
		var out bytes.Buffer
		p := printer{out: &out, form: c.form}
		p.begin("", params)
		p.row(row)
		p.row(last)
		if d := cmp.Diff(c.want, out.String()); d != "" {
			t.Errorf("%+v: %s", c.form, d)
		}
	}
}

func TestPrinterTellsWhatIsBroken(t *testing.T) {
	for _, form := range []printFlags{{}, {CSV: true}} {
		var out bytes.Buffer
		p := printer{out: &out, form: form}
		if err := p.result(&perf.Result{Counts: perf.Counts{Verified: true, Lost: 3, Doubled: 2, Corrupt: 1}}); err != nil || !strings.Contains(out.String(), "lost 3, doubled 2, corrupt 1") {
			t.Errorf("%v %s", err, out.String())
		}
	}
}
