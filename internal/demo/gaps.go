package demo

import (
	"sync"
	"time"
)

// gap is a time without a completion.
type gap struct{ From, To time.Duration }

// least is the shortest gap worth keeping: shorter ones are the receiver's own rhythm.
const leastGap = 200 * time.Microsecond

// maxGaps bounds the memory of a long run.
const maxGaps = 1 << 20

// gaps notes the times between completions.
type gaps struct {
	mu   sync.Mutex
	last time.Duration
	list []gap
}

// completed: something was executed here just now.
func (g *gaps) completed(at time.Duration) {
	g.mu.Lock()
	if g.last != 0 && at-g.last >= leastGap && len(g.list) < maxGaps {
		g.list = append(g.list, gap{g.last, at})
	}
	g.last = max(g.last, at)
	g.mu.Unlock()
}

// longest is the longest time without a completion between from and to; what lasts longer counts as far as it
// lies inside.
func (g *gaps) longest(from, to time.Duration) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	to = min(to, g.last) // after the last completion nothing was due any more
	var most time.Duration
	for _, x := range g.list {
		most = max(most, min(x.To, to)-max(x.From, from))
	}
	return most
}
