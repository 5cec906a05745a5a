package median

import (
	"math"
	"slices"
)

// Interval is a median and where it lies with 95 %.
type Interval struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// confidence is that of all intervals.
const confidence = 0.95

// Of is the median of a sample and its interval by ranks: the chance that the true median lies below the
// k-th smallest of n values is that of fewer than k heads in n throws of a coin. With fewer than 6 values no rank is
// good enough, and the interval is all of them.
func Of(sample []float64) Interval {
	if len(sample) == 0 {
		return Interval{math.NaN(), math.NaN(), math.NaN()}
	}
	s := slices.Clone(sample)
	slices.Sort(s)
	k := rank(len(s))
	return Interval{Median: middle(s), Low: s[k], High: s[len(s)-1-k]}
}

// OfGroups is the median of the medians of groups, and its interval: what differs from group to group is in
// it, as it isn't if all values are taken for independent. values is how many there are in all.
func OfGroups(groups [][]float64) (iv Interval, values int) {
	var medians []float64
	for _, g := range groups {
		medians = append(medians, Of(g).Median)
		values += len(g)
	}
	return Of(medians), values
}

// middle is the median of what is sorted.
func middle(s []float64) float64 {
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

// rank is the largest k such that at most k of n throws are heads with a chance of no more than half of what the
// interval may miss: then s[k] and its mirror image still enclose the median.
func rank(n int) int {
	miss := (1 - confidence) / 2
	sum := 0.0
	for k := range n / 2 {
		sum += math.Exp(choose(n, k) - float64(n)*math.Ln2)
		if sum > miss {
			return max(0, k-1)
		}
	}
	return max(0, n/2-1)
}

// choose is the logarithm of n over k.
func choose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
