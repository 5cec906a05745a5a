package perf

import (
	"strconv"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Row is what is known at one time of a running test. Times are those of one operation, in microseconds: half a round trip, or
// the overhead of a stream.
type Row struct {
	Final                bool
	Iterations           int
	Typical, Moment, All float64 // the percentile asked for, average since the last row, average of all
	MomentMB, AllMB      float64 // 10^6 bytes a second
	MomentRate, AllRate  float64 // operations a second
}

const (
	// rowEvery is how often a running test reports.
	rowEvery = time.Second
	// perNS: histograms hold times in hundredths of a nanosecond, since operations of a stream take a few of these.
	perNS = 100
	// longest is what a histogram can hold.
	longest = perNS * int64(10*time.Minute)
)

// meter takes the times of a run.
type meter struct {
	size    int
	factor  float64 // laps per reported time: 2 for a round trip
	rank    float64
	clock   time.Time
	hist    *hdrhistogram.Histogram
	tell    func(Row)
	ops     int
	minimum int64 // as in hist, but exact; 0 before the first lap
	maximum int64

	start, last, told time.Duration
	toldOps           int
}

func newMeter(p *Params, tell func(Row)) *meter {
	m := &meter{size: p.Size, factor: 1, rank: p.Percentile, tell: tell, hist: hdrhistogram.New(1, longest, 3)}
	if t, err := lookup(p.Test); err == nil && t.latency {
		m.factor = 2
	}
	return m
}

// begin starts the clock.
func (m *meter) begin() {
	m.clock = time.Now()
	m.start, m.last, m.told = 0, 0, 0
}

// lap takes the time of n operations since the last lap.
func (m *meter) lap(n int) {
	now := time.Since(m.clock)
	each := min(max(perNS*int64(now-m.last)/int64(n), 1), longest)
	m.last = now
	m.ops += n
	m.maximum = max(m.maximum, each)
	if m.minimum == 0 || each < m.minimum {
		m.minimum = each
	}
	_ = m.hist.RecordValues(each, int64(n))
	if now-m.told >= rowEvery {
		m.row(false)
		m.told, m.toldOps = now, m.ops
	}
}

// skip leaves out the time since the last lap.
func (m *meter) skip() {
	now := time.Since(m.clock)
	d := now - m.last
	m.start, m.told, m.last = m.start+d, m.told+d, now
}

func (m *meter) row(final bool) {
	if m.tell != nil {
		m.tell(m.now(final))
	}
}

func (m *meter) now(final bool) Row {
	r := Row{Final: final, Iterations: m.ops, Typical: m.percentile(m.rank)}
	r.All, r.AllMB, r.AllRate = m.averages(m.ops, m.last-m.start)
	r.Moment, r.MomentMB, r.MomentRate = m.averages(m.ops-m.toldOps, m.last-m.told)
	if m.ops == m.toldOps {
		r.Moment, r.MomentMB, r.MomentRate = r.All, r.AllMB, r.AllRate
	}
	return r
}

func (m *meter) averages(ops int, d time.Duration) (us, mb, rate float64) {
	if ops == 0 || d <= 0 {
		return 0, 0, 0
	}
	seconds := d.Seconds() / m.factor / float64(ops)
	return seconds * 1e6, float64(m.size) / seconds / 1e6, 1 / seconds
}

// percentile is a time that was really taken at most: the histogram only knows the upper end of the step that a time fell into.
func (m *meter) percentile(rank float64) float64 {
	return m.micros(min(max(m.hist.ValueAtQuantile(rank), m.minimum), m.maximum))
}

// micros is a time of the histogram as it is reported.
func (m *meter) micros(v int64) float64 { return float64(v) / perNS / m.factor / 1e3 }

func (m *meter) latency() Latency {
	avg, _, _ := m.averages(m.ops, m.last-m.start)
	return Latency{P50: rounded(m.percentile(50)), P99: rounded(m.percentile(99)), Avg: rounded(avg), Max: rounded(m.micros(m.maximum))}
}

// rounded leaves six digits: more than repeat, and no 1811.4150300000001.
func rounded(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil {
		return v
	}
	return r
}
