package bulk

import "time"

const (
	// Least is the size of a piece from which the way is worth choosing.
	Least = 8 << 10

	// trial each so many pieces the other way is tried, with two of them.
	trial = 128
	// better is by how much, in eighths, the other way must be: it takes at most 6 of 8.
	better = 6
)

// Copier is one connection's way. Now is a clock; the rest of the zero value is ready.
type Copier struct {
	Now   func() time.Duration
	past  bool
	won   bool // the other way was better in the last trial
	n     uint32
	mine  rate // of the way in use, just before a trial
	other rate
}

// rate is how long bytes took: the best of a few pieces, since a processor that is taken away counts against no way.
type rate struct {
	took  time.Duration
	bytes int
}

func (r *rate) note(took time.Duration, n int) {
	if r.bytes == 0 || took*time.Duration(r.bytes) < r.took*time.Duration(n) {
		r.took, r.bytes = took, n
	}
}

// better says whether r is clearly better than s.
func (r *rate) better(s *rate) bool {
	return r.bytes > 0 && s.bytes > 0 && 8*r.took*time.Duration(s.bytes) < better*s.took*time.Duration(r.bytes)
}

// Past says whether pieces go past the caches now.
func (c *Copier) Past() bool { return c.past }

// Copy is copy.
func (c *Copier) Copy(dst, src []byte) int {
	n := min(len(dst), len(src))
	if n < Least || !canPast {
		return copy(dst, src)
	}
	c.n++
	switch k := c.n % trial; {
	case k < trial-4:
		to(c.past, dst[:n], src)
	case k < trial-2:
		c.mine.note(c.timed(c.past, dst[:n], src), n)
	default:
		c.other.note(c.timed(!c.past, dst[:n], src), n)
		if k == trial-1 {
			c.decide()
		}
	}
	return n
}

// timed copies and says how long that took.
func (c *Copier) timed(past bool, dst, src []byte) time.Duration {
	begin := c.Now()
	to(past, dst, src)
	return c.Now() - begin
}

// decide ends a trial.
func (c *Copier) decide() {
	won := c.other.better(&c.mine)
	if won && c.won {
		c.past, won = !c.past, false
	}
	c.won, c.mine, c.other = won, rate{}, rate{}
}

// to copies one way.
func to(past bool, dst, src []byte) {
	if past {
		Past(dst, src)
	} else {
		copy(dst, src)
	}
}
