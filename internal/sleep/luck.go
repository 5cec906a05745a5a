package sleep

// Luck is what one who waits again and again has met with. The zero value is the beginning.
type Luck struct {
	poll  luck // waits since it last helped to poll himself, instead of sleeping
	alone luck // waits since others were there
}

// luck is how many times in a row something did not happen.
type luck uint8

const (
	// shareTurns idle turns one of many makes before he sleeps, if that has helped him lately;
	shareTurns = 32
	// and unlucky so many times in a row he tries it only each tryEach times. So many waits alone, and he is alone.
	unlucky = 4
	tryEach = 32
	// aloneTurns idle turns one who is alone makes before he lets others run all the same.
	aloneTurns = 16
)

// try says whether to do it now.
func (l luck) try() bool { return l < unlucky || l%tryEach == 0 }

func (l *luck) note(won bool) {
	if won {
		*l = 0
	} else if *l++; *l == 0 {
		*l = tryEach
	}
}

// company is what one who polls sees of others in one wait. They are to run when his turns find nothing. But to let others run may move him to another thread,
// and wakes a processor of the language's, which finds nothing to do if there is nobody and takes time from whoever is to answer. So who is alone does it seldom.
type company struct {
	luck  *luck
	here  bool   // others sleep until something has come for them, or post; or did in one of the waits before
	idle  int    // turns in a row
	posts uint32 // calls of this worker's before the last turn
}

// company of one who begins to wait.
func (l *Luck) company() company {
	c := company{luck: &l.alone, here: l.alone < unlucky}
	l.alone.note(false)
	return c
}

// turned is told of each turn: what it did, how many calls came before it, whether others sleep. Between an idle turn and the next he makes none himself.
func (c *company) turned(n int, posts uint32, asleep bool) {
	if asleep || c.idle > 0 && posts != c.posts {
		c.here = true
		c.luck.note(true)
	}
	c.posts = posts
	if c.idle++; n > 0 {
		c.idle = 0
	}
}

// lets says whether others are to run now, after an idle turn.
func (c *company) lets() bool { return c.here || c.idle%aloneTurns == 0 }
