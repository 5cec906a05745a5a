package cma

import "time"

// When is when payloads are offered.
type When uint8

const (
	Measured When = iota // when that is sooner done
	Always
	Never
)

const (
	// Least is the payload from which the question arises: below it finding the pages takes longer than the copy.
	Least = 32 << 10

	// round so many frames go one way; the first ones don't count, for some of the round before are under way with them.
	round, skip = 16, 4
	// A trial comes after so many rounds: twice as many after each one that is lost, up to 256.
	often, rarest = 8, 5
	// better is by how much, in eighths, the other way must be: it takes at most 6 of 8.
	better = 6
)

// note is what is remembered of a frame.
type note uint8

const (
	counted  note = 1 << iota // its time is part of a comparison
	otherWay                  // it goes the other way
	last                      // of a trial
)

// Chooser chooses between two ways, the usual one and the other, such as copies by both sides and reading by one, by how long frames take until they are acknowledged. The zero
// value is ready.
//
//	usual ──so many frames──> before: one round that counts ──> trial: one the other way ──> waits for its last frame ──decides──> usual
type Chooser struct {
	other bool // is the way in use
	won   bool // the one not in use was better in the last trial
	phase phase
	n     int // frames of this phase so far
	fewer int // by which power of two trials are rarer

	rates [2]rate // of the comparison that is under way: the usual way, the other
	under int     // frames under way
	since time.Duration
}

// phase is how far the next comparison is.
type phase uint8

const (
	usual phase = iota
	before
	trial
	waits
)

// rate is how long bytes took.
type rate struct {
	took  time.Duration
	bytes int
}

// next chooses for a frame.
func (c *Chooser) next(now func() time.Duration) (other bool, n note) {
	if c.under++; c.under == 1 {
		c.since = now()
	}
	other = c.other
	c.n++
	switch c.phase {
	case usual:
		if c.n >= often*round<<min(c.fewer, rarest) {
			c.phase, c.n = before, 0
		}
	case before:
		if n = counts(c.n); c.n == round {
			c.phase, c.n = trial, 0
		}
	case trial:
		other = !other
		if n = counts(c.n); c.n == round {
			c.phase = waits
			n |= last
		}
	case waits:
	}
	if other {
		n |= otherWay
	}
	return other, n
}

// counts says whether frame n of a round does.
func counts(n int) note {
	if n > skip {
		return counted
	}
	return 0
}

// lap is how long it took until so many bytes were acknowledged, since the last time or since the first of them went.
func (c *Chooser) lap(now time.Duration) (took time.Duration) {
	took = now - c.since
	c.since = now
	return took
}

// acked notes that a frame is over, and its share of a lap.
func (c *Chooser) acked(n note, size int, took time.Duration) {
	c.under--
	if n&counted != 0 {
		r := &c.rates[0]
		if n&otherWay != 0 {
			r = &c.rates[1]
		}
		r.took += took
		r.bytes += size
	}
	if n&last != 0 {
		c.decide()
	}
}

// decide ends a trial.
func (c *Chooser) decide() {
	a, b := &c.rates[1], &c.rates[0]
	if c.other {
		a, b = b, a
	}
	won := a.bytes > 0 && b.bytes > 0 && 8*float64(a.took)*float64(b.bytes) < better*float64(b.took)*float64(a.bytes)
	switch {
	case !won:
		c.fewer++
	case c.won:
		c.other, won, c.fewer = !c.other, false, 0
	default:
		c.fewer = 0 // once more, soon
	}
	c.won, c.rates = won, [2]rate{}
	c.phase, c.n = usual, 0
}
