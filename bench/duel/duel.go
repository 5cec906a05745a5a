package duel

import (
	"context"
	"fmt"
	"slices"

	"github.com/openbraid/braid/internal/perf/median"
)

// Runner measures one number.
type Runner func(ctx context.Context) (float64, error)

// Comparison is one line of the table with a peer.
type Comparison struct {
	Name         string
	Unit         string // of "us" less is better, of others more
	Inverse      bool   // the quotient is theirs/ours, otherwise ours/theirs: goals speak of one or the other
	Goal         Goal
	Ours, Theirs Runner
	Peer         string
}

// Goal is a bound of a quotient or a value. The zero value is none.
type Goal struct {
	must   float64
	atMost bool // otherwise at least
	is     bool
}

// AtMost wants a value of v or less.
func AtMost(v float64) Goal { return Goal{must: v, atMost: true, is: true} }

// AtLeast wants a value of v or more.
func AtLeast(v float64) Goal { return Goal{must: v, is: true} }

// Is says whether there is one.
func (g Goal) Is() bool { return g.is }

// Bound is what is wanted.
func (g Goal) Bound() float64 { return g.must }

// String is as the table shows it.
func (g Goal) String() string {
	switch {
	case !g.is:
		return ""
	case g.atMost:
		return fmt.Sprintf("<= %g", g.must)
	}
	return fmt.Sprintf(">= %g", g.must)
}

// Met says whether a value keeps the bound.
func (g Goal) Met(v float64) bool {
	return !g.is || g.atMost && v <= g.must || !g.atMost && v >= g.must
}

// Verdict judges a value.
func (g Goal) Verdict(v float64) string {
	switch {
	case !g.is:
		return ""
	case g.Met(v):
		return "ok"
	}
	return "MISSED"
}

// Row is one line of the result.
type Row struct {
	Name    string           `json:"name"`
	Class   Class            `json:"class,omitempty"`
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

// Series are the pairs of one comparison in one class.
type Series struct{ Ours, Theirs, Ratios []float64 }

// Add takes a pair in.
func (s *Series) Add(ours, theirs float64, inverse bool) {
	q := ours / theirs
	if inverse {
		q = theirs / ours
	}
	s.Ours, s.Theirs, s.Ratios = append(s.Ours, ours), append(s.Theirs, theirs), append(s.Ratios, q)
}

// Best is the quotient of the best values.
func (s *Series) Best(c Comparison) float64 {
	pick := slices.Max[[]float64]
	if c.Unit == "us" {
		pick = slices.Min[[]float64]
	}
	if c.Inverse {
		return pick(s.Theirs) / pick(s.Ours)
	}
	return pick(s.Ours) / pick(s.Theirs)
}

// Cores are the two processors that both sides use, and how often they do.
type Cores struct {
	A, B   string
	Rounds int
}

// Compare runs the rounds of a comparison, a row for each class that was met. Pairs during which the processors moved are left out; moved counts them.
func (k Cores) Compare(ctx context.Context, c Comparison) (rows []Row, moved int, err error) {
	var found [3]Series
	classes := [3]Class{Near, Far, Unknown}
	for round := range k.Rounds {
		before := Classify(k.A, k.B)
		var v [2]float64
		same := true
		for i := range v {
			which := (i + round) % 2
			if v[which], err = [2]Runner{c.Ours, c.Theirs}[which](ctx); err != nil {
				return nil, moved, fmt.Errorf("%s: %w", c.Name, err)
			}
			same = same && Classify(k.A, k.B) == before
		}
		if !same {
			moved++
			continue
		}
		found[slices.Index(classes[:], before)].Add(v[0], v[1], c.Inverse)
	}
	for i, s := range found {
		if len(s.Ratios) == 0 {
			continue
		}
		q := median.Of(s.Ratios)
		rows = append(rows, Row{
			Name: c.Name, Class: classes[i], Peer: c.Peer, Unit: c.Unit, Pairs: len(s.Ratios), Ours: median.Of(s.Ours).Median, Theirs: median.Of(s.Theirs).Median,
			Ratio: &q, Best: s.Best(c), Goal: c.Goal.String(), Verdict: c.Goal.Verdict(q.Median),
		})
	}
	return rows, moved, nil
}
