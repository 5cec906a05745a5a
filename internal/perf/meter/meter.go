package meter

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

// Latency is in microseconds: half of a round trip, or the time per operation of a stream. Percentiles and the maximum of a stream are
// those of averages over Over operations: a single one may have taken longer.
type Latency struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Avg float64 `json:"avg"`
	Max float64 `json:"max"`
	// Over is how many operations one of these times is the average of; 1: each was timed.
	Over int `json:"average_over"`
	// Percentiles are the curve from the shortest to the longest.
	Percentiles []Point `json:"percentiles,omitempty"`
}

// Point is one percentile.
type Point struct {
	Rank   float64 `json:"rank"` // per cent
	Micros float64 `json:"us"`
}

const (
	// rowEvery is how often a running test reports.
	rowEvery = time.Second
	// perNS: histograms hold times in hundredths of a nanosecond, since operations of a stream take a few of these.
	perNS = 100
	// longest is what a histogram can hold.
	longest = perNS * int64(10*time.Minute)
)

// Options say what a Meter is of.
type Options struct {
	Size  int       // bytes of an operation
	Trips bool      // a lap is a round trip, and what is reported half of it
	Rank  float64   // the percentile of Row
	Tell  func(Row) // about once a second; nil: nobody
}

// Meter takes the times of a run. One goroutine uses it.
type Meter struct {
	o       Options
	factor  float64 // laps per reported time: 2 for a round trip
	clock   time.Time
	hist    *hdrhistogram.Histogram
	ops     int
	minimum int64 // as in hist, but exact; 0 before the first lap
	maximum int64

	start, last, told time.Duration
	toldOps           int
}

// New makes one. Begin starts it.
func New(o Options) *Meter {
	m := &Meter{o: o, factor: 1, hist: hdrhistogram.New(1, longest, 3)}
	if o.Trips {
		m.factor = 2
	}
	return m
}

// Begin starts the clock.
func (m *Meter) Begin() {
	m.clock = time.Now()
	m.start, m.last, m.told = 0, 0, 0
}

// Ops is how many operations were taken.
func (m *Meter) Ops() int { return m.ops }

// Factor is how many operations a lap is reported as: 2 for a round trip.
func (m *Meter) Factor() float64 { return m.factor }

// Lap takes the time of n operations since the last lap.
func (m *Meter) Lap(n int) {
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
		m.Row(false)
		m.told, m.toldOps = now, m.ops
	}
}

// Skip leaves out the time since the last lap.
func (m *Meter) Skip() {
	now := time.Since(m.clock)
	d := now - m.last
	m.start, m.told, m.last = m.start+d, m.told+d, now
}

// Row tells what is known by now, if there is somebody to be told.
func (m *Meter) Row(final bool) {
	if m.o.Tell != nil {
		m.o.Tell(m.now(final))
	}
}

func (m *Meter) now(final bool) Row {
	r := Row{Final: final, Iterations: m.ops, Typical: m.percentile(m.o.Rank)}
	r.All, r.AllMB, r.AllRate = m.Averages()
	r.Moment, r.MomentMB, r.MomentRate = m.averages(m.ops-m.toldOps, m.last-m.told)
	if m.ops == m.toldOps {
		r.Moment, r.MomentMB, r.MomentRate = r.All, r.AllMB, r.AllRate
	}
	return r
}

// Averages are of all that was taken: microseconds of an operation, 10^6 bytes and operations a second.
func (m *Meter) Averages() (us, mb, rate float64) { return m.averages(m.ops, m.last-m.start) }

func (m *Meter) averages(ops int, d time.Duration) (us, mb, rate float64) {
	if ops == 0 || d <= 0 {
		return 0, 0, 0
	}
	seconds := d.Seconds() / m.factor / float64(ops)
	return seconds * 1e6, float64(m.o.Size) / seconds / 1e6, 1 / seconds
}

// percentile is a time that was really taken at most: the histogram only knows the upper end of the step that a time fell into.
func (m *Meter) percentile(rank float64) float64 {
	return m.micros(min(max(m.hist.ValueAtQuantile(rank), m.minimum), m.maximum))
}

// micros is a time of the histogram as it is reported.
func (m *Meter) micros(v int64) float64 { return float64(v) / perNS / m.factor / 1e3 }

// Latency is the times of all that was taken.
func (m *Meter) Latency() Latency {
	avg, _, _ := m.Averages()
	return Latency{P50: Rounded(m.percentile(50)), P99: Rounded(m.percentile(99)), Avg: Rounded(avg), Max: Rounded(m.micros(m.maximum)), Percentiles: m.Percentiles()}
}

// Rounded leaves six digits: more than repeat, and no 1811.4150300000001.
func Rounded(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil {
		return v
	}
	return r
}
