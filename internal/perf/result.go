package perf

import (
	"github.com/openbraid/braid/internal/perf/catalog"
	"github.com/openbraid/braid/internal/perf/ledger"
	"github.com/openbraid/braid/internal/perf/meter"
	"github.com/openbraid/braid/internal/verdict"
)

// Result is what a test found, and what --json prints.
type Result struct {
	Test        string  `json:"test"`
	Transport   string  `json:"transport"`
	Lanes       int     `json:"lanes"`
	ErrorMode   string  `json:"error_mode"`
	Mode        string  `json:"mode"` // "owned" or "shared"
	Wait        string  `json:"wait"` // "poll" or "sleep"
	Size        int     `json:"size"`
	Header      int     `json:"header"`
	CPUs        string  `json:"cpus,omitempty"`        // that the two processes are bound to: the client's, the server's
	Interrupted bool    `json:"interrupted,omitempty"` // broken off: what was measured until then
	Threads     int     `json:"threads"`
	Iterations  int     `json:"iterations"` // of all threads
	Outstanding int     `json:"outstanding"`
	Pieces      []int   `json:"pieces,omitempty"` // an operation is a list of buffers of these sizes
	Latency     Latency `json:"latency_us"`
	Bandwidth   float64 `json:"bandwidth_mb_s"` // 10^6 bytes
	Rate        float64 `json:"message_rate"`
	Counts
	Pair            *Pair `json:"pair,omitempty"`
	*verdict.Report       // of a run with faults
}

// Counts are what was found where data arrived.
type Counts struct {
	Verified  bool   `json:"verified"` // without it the counts below are zero because nobody looked
	Lost      uint64 `json:"lost"`
	Doubled   uint64 `json:"doubled"`
	Corrupt   uint64 `json:"corrupt"`
	Disorders uint64 `json:"out_of_order"`
	Offered   uint64 `json:"offered,omitempty"` // by this side, of a run with faults: larger than what goes at once
}

// Row and Latency are what a meter says.
type (
	Row     = meter.Row
	Latency = meter.Latency
)

// newMeter is one for a test.
func newMeter(p *Params, tell func(Row)) *meter.Meter {
	t, _ := catalog.Lookup(p.Test) // a pair of meters is made before anything is refused
	return meter.New(meter.Options{Size: p.Size, Trips: t.Latency, Rank: p.Percentile, Tell: tell})
}

// Broken says whether something was lost, doubled, corrupt or out of order, or a run with faults has another verdict than ok.
func (r *Result) Broken() bool {
	return r.Lost+r.Doubled+r.Corrupt+r.Disorders > 0 || r.Report != nil && r.Report.Verdict != verdict.OK
}

func (r *Result) take(p *Params, m *meter.Meter, t Tally) {
	r.Test, r.Transport, r.Mode = p.Test, p.Transport, p.Mode()
	if r.Wait = "poll"; p.Sleep {
		r.Wait = "sleep"
	}
	r.Size, r.Header, r.Iterations, r.Outstanding = p.Size, p.Header, m.Ops(), p.Outstanding
	r.Latency = m.Latency()
	r.Latency.Over = p.Stretch()
	r.Threads, r.Pieces = max(1, r.Threads), p.Lists.Sizes
	_, bandwidth, rate := m.Averages()
	r.Bandwidth, r.Rate = meter.Rounded(bandwidth), meter.Rounded(rate)
	r.Verified = p.Verify
	r.Lost, r.Doubled, r.Corrupt, r.Disorders = t.Lost, t.Doubled, t.Corrupt, t.Disorders
}

// Tally is what the far side saw.
type Tally = ledger.Tally
