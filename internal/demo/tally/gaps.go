package tally

import (
	"sync"
	"time"
)

// gap is a time without a completion.
type gap struct{ from, to time.Duration }

// leastGap is the shortest gap worth keeping: shorter ones are the receiver's own rhythm.
const leastGap = 200 * time.Microsecond

// maxGaps bounds the memory of a long run.
const maxGaps = 1 << 20

// Gaps notes the times between completions.
type Gaps struct {
	mu   sync.Mutex
	last time.Duration
	list []gap
}

// Completed: something was executed here just now.
func (g *Gaps) Completed(at time.Duration) {
	g.mu.Lock()
	if g.last != 0 && at-g.last >= leastGap && len(g.list) < maxGaps {
		g.list = append(g.list, gap{g.last, at})
	}
	g.last = max(g.last, at)
	g.mu.Unlock()
}

// Longest is the longest time without a completion between from and to; what lasts longer counts as far as it
// lies inside. After the last completion nothing is due.
func (g *Gaps) Longest(from, to time.Duration) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	var most time.Duration
	for _, x := range g.list {
		most = max(most, min(x.to, to)-max(x.from, from))
	}
	return most
}
