package perf

import (
	"github.com/openbraid/braid/internal/verdict"

	"github.com/openbraid/braid/internal/perf/ledger"
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
	Iterations  int     `json:"iterations"`
	Outstanding int     `json:"outstanding"`
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
}

// Latency is in microseconds: half of a round trip, or the time per operation of a stream. Percentiles and the maximum of a stream are
// those of averages over Over operations: a single one may have taken longer.
type Latency struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Avg float64 `json:"avg"`
	Max float64 `json:"max"`
	// Over is how many operations one of these times is the average of; 1: each was timed.
	Over int `json:"average_over"`
}

// Broken says whether something was lost, doubled, corrupt or out of order, or a run with faults has another verdict than ok.
func (r *Result) Broken() bool {
	return r.Lost+r.Doubled+r.Corrupt+r.Disorders > 0 || r.Report != nil && r.Report.Verdict != verdict.OK
}

func (r *Result) take(p *Params, m *meter, t Tally) {
	r.Test, r.Transport, r.Mode = p.Test, p.Transport, p.mode()
	if r.Wait = "poll"; p.Sleep {
		r.Wait = "sleep"
	}
	r.Size, r.Header, r.Iterations, r.Outstanding = p.Size, p.Header, m.ops, p.Outstanding
	r.Latency = m.latency()
	r.Latency.Over = p.Stretch()
	_, bandwidth, rate := m.averages(m.ops, m.last-m.start)
	r.Bandwidth, r.Rate = rounded(bandwidth), rounded(rate)
	r.Verified = p.Verify
	r.Lost, r.Doubled, r.Corrupt, r.Disorders = t.Lost, t.Doubled, t.Corrupt, t.Disorders
}

// Tally is what the far side saw.
type Tally = ledger.Tally
