package median

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Ranks from a table of the sign test, counted from 0 here.
func TestRank(t *testing.T) {
	for n, want := range map[int]int{1: 0, 5: 0, 6: 0, 8: 0, 9: 1, 10: 1, 15: 3, 20: 5, 25: 7, 50: 17, 100: 39, 200: 85, 400: 179} {
		if got := rank(n); got != want {
			t.Errorf("rank(%d) = %d, want %d", n, got, want)
		}
	}
}

// The interval must hold the true median about as often as it says, whatever the distribution: here quotients
// of times with a long tail, and a true quotient of 1.02.
func TestIntervalCovers(t *testing.T) {
	const rounds, pairs, truth = 2000, 200, 1.02
	r := rand.New(rand.NewPCG(1, 2))
	lognormal := func() float64 { return math.Exp(0.3 * r.NormFloat64()) }
	inside, aboveOne := 0, 0
	for range rounds {
		sample := make([]float64, pairs)
		for i := range sample {
			sample[i] = truth * lognormal() / lognormal()
		}
		iv := Of(sample)
		if iv.Low <= truth && truth <= iv.High {
			inside++
		}
		if iv.Low > iv.Median || iv.Median > iv.High {
			t.Fatalf("%+v", iv)
		}
		if iv.Low > 1 {
			aboveOne++
		}
	}
	if share := float64(inside) / rounds; share < 0.94 || share > 0.975 {
		t.Errorf("the interval holds the truth in %.1f %% of the cases", 100*share)
	}
	if aboveOne == rounds {
		t.Error("2 % under such noise can't always be seen")
	}
}

// Without a difference 1 lies inside, and outside if there is one that can be seen.
func TestIntervalTellsApart(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	sample := func(truth float64) []float64 {
		s := make([]float64, 400)
		for i := range s {
			s[i] = truth * (1 + 0.02*r.NormFloat64())
		}
		return s
	}
	if iv := Of(sample(1)); iv.Low > 1 || iv.High < 1 {
		t.Errorf("nothing to see: %+v", iv)
	}
	if iv := Of(sample(1.02)); iv.Low <= 1 {
		t.Errorf("2 %% go unseen: %+v", iv)
	}
	if iv := Of(nil); !math.IsNaN(iv.Median) {
		t.Errorf("no sample: %+v", iv)
	}
	if iv := Of([]float64{3, 1, 2}); iv != (Interval{2, 1, 3}) {
		t.Errorf("few values: %+v", iv)
	}
	if iv := Of([]float64{1, 2, 3, 10}); iv.Median != 2.5 {
		t.Errorf("even count: %+v", iv)
	}
}

// Pairs of one couple share what their endpoints' memory does to them. An interval over all pairs would hold the truth
// far too rarely.
func TestIntervalCoversWithGroups(t *testing.T) {
	const rounds, truth = 1000, 1.02
	r := rand.New(rand.NewPCG(5, 6))
	inside, naive := 0, 0
	for range rounds {
		var groups [][]float64
		var all []float64
		for range 20 {
			shift := 0.03 * r.NormFloat64()
			g := make([]float64, 20)
			for i := range g {
				g[i] = truth + shift + 0.02*r.NormFloat64()
			}
			groups, all = append(groups, g), append(all, g...)
		}
		iv, n := OfGroups(groups)
		if n != len(all) {
			t.Fatal(n)
		}
		if iv.Low <= truth && truth <= iv.High {
			inside++
		}
		if iv := Of(all); iv.Low <= truth && truth <= iv.High {
			naive++
		}
	}
	if share := float64(inside) / rounds; share < 0.94 || share > 0.985 {
		t.Errorf("the interval holds the truth in %.1f %% of the cases", 100*share)
	}
	if share := float64(naive) / rounds; share > 0.8 {
		t.Errorf("groups make no difference (%.1f %%): this test has lost its point", 100*share)
	}
}
