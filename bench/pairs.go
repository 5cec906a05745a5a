package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/openbraid/braid/internal/perf/median"
)

// runner measures one number.
type runner func(ctx context.Context) (float64, error)

// comparison is one line of the table with a peer.
type comparison struct {
	name         string
	unit         string
	inverse      bool // the quotient is theirs/ours, otherwise ours/theirs: goals speak of one or the other
	goal         goal
	ours, theirs runner
	peer         string
}

// goal is a bound of a quotient or a value.
type goal struct {
	must   float64
	atMost bool // otherwise at least
	none   bool
}

func atMost(v float64) goal  { return goal{must: v, atMost: true} }
func atLeast(v float64) goal { return goal{must: v} }

// String is as the table shows it.
func (g goal) String() string {
	switch {
	case g.none:
		return ""
	case g.atMost:
		return fmt.Sprintf("<= %g", g.must)
	}
	return fmt.Sprintf(">= %g", g.must)
}

// verdict judges a value.
func (g goal) verdict(v float64) string {
	switch {
	case g.none:
		return ""
	case g.atMost && v <= g.must, !g.atMost && v >= g.must:
		return "ok"
	}
	return "MISSED"
}

// row is one line of the result.
type row struct {
	Name    string           `json:"name"`
	Class   class            `json:"class,omitempty"`
	Peer    string           `json:"peer,omitempty"`
	Unit    string           `json:"unit"`
	Pairs   int              `json:"pairs,omitempty"`
	Ours    float64          `json:"ours"`
	Theirs  float64          `json:"theirs,omitempty"`
	Ratio   *median.Interval `json:"ratio,omitempty"`
	Best    float64          `json:"best,omitempty"` // quotient of the best of each: what other load leaves alone
	Goal    string           `json:"goal,omitempty"`
	Verdict string           `json:"verdict,omitempty"`
}

// series are the pairs of one comparison in one class.
type series struct{ ours, theirs, ratios []float64 }

// compare runs the rounds of a comparison. Pairs during which the processors moved are left out; moved counts them.
func (b *bench) compare(ctx context.Context, c comparison) (rows []row, moved int, err error) {
	var found [3]series
	classes := [3]class{near, far, unknown}
	for round := range b.Rounds {
		before := classify(b.cpuA, b.cpuB)
		var v [2]float64
		same := true
		for i := range v {
			which := (i + round) % 2
			if v[which], err = [2]runner{c.ours, c.theirs}[which](ctx); err != nil {
				return nil, moved, fmt.Errorf("%s: %w", c.name, err)
			}
			same = same && classify(b.cpuA, b.cpuB) == before
		}
		if !same {
			moved++
			continue
		}
		for i, k := range classes {
			if k == before {
				found[i].add(v[0], v[1], c.inverse)
			}
		}
	}
	for i, s := range found {
		if len(s.ratios) == 0 {
			continue
		}
		q := median.Of(s.ratios)
		rows = append(rows, row{
			Name: c.name, Class: classes[i], Peer: c.peer, Unit: c.unit, Pairs: len(s.ratios), Ours: median.Of(s.ours).Median, Theirs: median.Of(s.theirs).Median,
			Ratio: &q, Best: s.best(c), Goal: c.goal.String(), Verdict: c.goal.verdict(q.Median),
		})
	}
	return rows, moved, nil
}

// best is the quotient of the best values.
func (s *series) best(c comparison) float64 {
	pick := slices.Max[[]float64]
	if c.unit == "us" {
		pick = slices.Min[[]float64]
	}
	if c.inverse {
		return pick(s.theirs) / pick(s.ours)
	}
	return pick(s.ours) / pick(s.theirs)
}

func (s *series) add(ours, theirs float64, inverse bool) {
	q := ours / theirs
	if inverse {
		q = theirs / ours
	}
	s.ours, s.theirs, s.ratios = append(s.ours, ours), append(s.theirs, theirs), append(s.ratios, q)
}
