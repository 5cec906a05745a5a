package meter

import (
	"math"
	"slices"
	"testing"
	"time"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9*b }

func TestMeter(t *testing.T) {
	m := New(Options{Size: 1000, Trips: true, Rank: 50})
	m.ops, m.last = 1000, 10*time.Millisecond // 10 us a round trip
	r := m.now(true)
	if !near(r.All, 5) || !near(r.AllMB, 200) || !near(r.AllRate, 200_000) || r.Moment != r.All {
		t.Errorf("half round trips: %+v", r)
	}
	m = New(Options{Size: 1000, Rank: 50})
	m.ops, m.last = 1000, time.Millisecond
	if r := m.now(true); !near(r.All, 1) || !near(r.AllMB, 1000) || !near(r.AllRate, 1_000_000) {
		t.Errorf("a stream: %+v", r)
	}
	m.toldOps, m.told = 900, 500*time.Microsecond
	if r := m.now(false); !near(r.Moment, 5) || !near(r.All, 1) {
		t.Errorf("since the last row: %+v", r)
	}
}

// taken is a meter that has taken operations of these times, in hundredths of a nanosecond.
func taken(o Options, times ...int64) *Meter {
	m := New(o)
	m.Begin()
	m.clock = m.clock.Add(-time.Hour)
	for _, v := range times {
		m.last = time.Since(m.clock) - time.Duration(v/perNS)
		m.Lap(1)
	}
	return m
}

// No percentile is beyond what was measured, and figures have no digits that mean nothing.
func TestPercentilesWithinExtremes(t *testing.T) {
	for _, trips := range []bool{true, false} {
		for _, times := range [][]int64{{1_234_567}, {181_141_503_000, 181_141_503_000, 181_141_503_001}, {999_999, 1_234_567_890}} {
			m := taken(Options{Trips: trips, Rank: 50}, times...)
			l := m.Latency()
			if low := Rounded(m.micros(m.minimum)); l.P50 < low || l.P50 > l.P99 || l.P99 > l.Max || m.percentile(50) > m.micros(m.maximum) {
				t.Errorf("%v %v: %+v, the least is %v", trips, times, l, low)
			}
		}
	}
	if got := Rounded(1811.4150300000001); got != 1811.42 {
		t.Error(got)
	}
	if got := Rounded(3_312_345.678); got != 3_312_350 {
		t.Error(got)
	}
}

func TestSkips(t *testing.T) {
	m := New(Options{Size: 1, Rank: 50})
	m.Begin()
	m.Lap(10)
	m.clock = m.clock.Add(-time.Minute) // a pause
	m.Skip()
	m.Lap(10)
	if l := m.Latency(); m.last-m.start > 30*time.Second || l.Max > 3e6 || l.P50 <= 0 || l.P50 > l.P99 {
		t.Errorf("the pause counts: %v, %+v", m.last-m.start, l)
	}
}

// TestPercentiles: ascending, the extremes first and last, and no point that no operation stands behind.
func TestPercentiles(t *testing.T) {
	if p := New(Options{}).Percentiles(); p != nil {
		t.Errorf("of nothing: %v", p)
	}
	var times []int64
	for i := range int64(200) {
		times = append(times, perNS*1e6*(i+1))
	}
	m := taken(Options{}, times...)
	p := m.Percentiles()
	if !slices.IsSortedFunc(p, func(a, b Point) int { return int(math.Copysign(1, a.Rank-b.Rank)) }) || !slices.IsSortedFunc(p, func(a, b Point) int { return int(a.Micros - b.Micros) }) {
		t.Errorf("not ascending: %v", p)
	}
	if first, last := p[0], p[len(p)-1]; first.Rank != 0 || last.Rank != 100 || first.Micros > 1.1e3 || last.Micros != Rounded(m.micros(m.maximum)) {
		t.Errorf("%v to %v", first, last)
	}
	if p[len(p)-2].Rank > 99.5 { // of 200 one is half a per cent
		t.Errorf("%v stands for no operation", p[len(p)-2])
	}
	for _, x := range p {
		if x.Rank == 50 && math.Abs(x.Micros-100e3) > 2e3 {
			t.Errorf("the median is %v us", x.Micros)
		}
	}
}

// TestMerge: two loops side by side are one that has done the work of both in the time from the first beginning to the last end.
func TestMerge(t *testing.T) {
	at := time.Now()
	one, two, all := New(Options{Size: 1000}), New(Options{Size: 1000}), New(Options{Size: 1000})
	for i, m := range []*Meter{one, two} {
		m.clock, m.start, m.last, m.ops = at.Add(time.Duration(i)*time.Second), 0, 3*time.Second, 2000
		m.minimum, m.maximum = int64(10+i), int64(1000*(1+i))
		_ = m.hist.RecordValues(int64(100*(1+i)), 2000)
	}
	all.Merge(New(Options{})) // nothing
	all.Merge(two)
	all.Merge(one)
	if _, _, rate := all.Averages(); all.Ops() != 4000 || !near(rate, 1000) {
		t.Errorf("%d at %v/s", all.Ops(), rate)
	}
	if all.minimum != 10 || all.maximum != 2000 || all.hist.TotalCount() != 4000 || all.hist.ValueAtQuantile(50) > 110 || all.hist.ValueAtQuantile(51) < 190 {
		t.Errorf("%d to %d, %d times", all.minimum, all.maximum, all.hist.TotalCount())
	}
}

// TestLapAllocatesNothing: it stands in every loop that is measured.
func TestLapAllocatesNothing(t *testing.T) {
	m := New(Options{})
	m.Begin()
	if n := testing.AllocsPerRun(100, func() { m.Lap(1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
