package health

import "time"

// Backoff spaces attempts: each that fails doubles the wait, from Min up to Max. A lane that comes up takes nothing of that back; that it lives does, by half
// for each calm. So one that comes and goes, and lives for less than a calm each time, is waited for longer and longer, as one that does not come up at all, while one that
// dies now and then is back at once. It is never given up.
type Backoff struct {
	Min, Max time.Duration

	wait time.Duration // the last one, without luck; 0: none yet
}

// calm, times Min, is the life that halves the wait: as long as it takes to find out that a lane is dead, and some more.
const calm = 5

// Next is how long to wait before the next attempt: a time between half of the present step and all
// of it, as luck (any 64 random bits) will have it, so that many don't come back at once.
func (b *Backoff) Next(luck uint64) time.Duration {
	if b.wait < b.Max/2 {
		b.wait = max(b.Min, 2*b.wait)
	} else {
		b.wait = b.Max
	}
	half := b.wait / 2
	return b.wait - time.Duration(luck%uint64(half+1))
}

// Lived is for when the lane is lost that an attempt brought: life is how long it was up.
func (b *Backoff) Lived(life time.Duration) {
	half := max(calm*b.Min, 1)
	for ; life >= half && b.wait > 0; life -= half {
		b.wait /= 2
	}
	b.wait -= b.wait / 2 / 1024 * (1024 * min(life, half) / half)
}
