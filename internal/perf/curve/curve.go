package curve

import (
	"errors"
	"math"
	"strconv"

	"github.com/openbraid/braid/internal/perf/meter"
)

// Series is one test.
type Series struct {
	Name   string
	Ops    int           // of which the points are percentiles
	Points []meter.Point // by rank, ascending; in microseconds
}

// ErrNothing: there is nothing to draw.
var ErrNothing = errors.New("no test has times that could be drawn")

// nines is where a rank stands: 0 at 0 %, 1 at 90 %, 2 at 99 %. 100 % is where one of all operations is.
func (s *Series) nines(rank float64) float64 {
	least := 1 / float64(max(s.Ops, 1))
	return -math.Log10(max((100-rank)/100, least))
}

// at is the time at a place, between two points as a line between them goes; false beyond the last.
func (s *Series) at(x float64) (us float64, ok bool) {
	for i, p := range s.Points {
		here := s.nines(p.Rank)
		switch {
		case here < x:
			continue
		case i == 0 || here == x:
			return p.Micros, true
		}
		q := s.Points[i-1]
		before := s.nines(q.Rank)
		return q.Micros + (p.Micros-q.Micros)*(x-before)/(here-before), true
	}
	return 0, false
}

// bounds are how far to the right all go, and the least and the longest time above zero.
func bounds(list []Series) (right, low, high float64, err error) {
	low = math.Inf(1)
	for i := range list {
		for _, p := range list[i].Points {
			right = max(right, list[i].nines(p.Rank))
			if high = max(high, p.Micros); p.Micros > 0 {
				low = min(low, p.Micros)
			}
		}
	}
	if high <= 0 || right <= 0 {
		return 0, 0, 0, ErrNothing
	}
	return right, low, high, nil
}

// percent is what stands at so many nines.
func percent(nines float64) string {
	digits := max(0, int(math.Round(nines))-2)
	return strconv.FormatFloat(100-100*math.Pow(10, -math.Round(nines)), 'f', digits, 64) + "%"
}

// micros is a time as people write it.
func micros(us float64) string {
	switch {
	case us >= 1e6:
		return short(us/1e6) + " s"
	case us >= 1e3:
		return short(us/1e3) + " ms"
	case us >= 1:
		return short(us) + " us"
	}
	return short(us*1e3) + " ns"
}

func short(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
