package fault

import (
	"math/rand/v2"
	"sync"
	"time"
)

// dice are luck that may be asked for under any other lock.
type dice struct {
	mu   sync.Mutex
	rand *rand.Rand
}

func (d *dice) bits() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rand.Uint64()
}

func (d *dice) below(n int) int { return int(d.bits() % uint64(n)) }

// hits says whether something of so many percent is the case.
func (d *dice) hits(percent float64) bool {
	return percent >= 100 || float64(d.bits()>>11)/(1<<53)*100 < percent
}

// around is a time between t-by and t+by.
func (d *dice) around(t, by time.Duration) time.Duration {
	if by == 0 {
		return t
	}
	return t - by + time.Duration(d.bits()%(uint64(2*by)+1))
}
