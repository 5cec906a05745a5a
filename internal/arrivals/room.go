package arrivals

import (
	"errors"
	"time"
)

// Stranger is a connection that has not said who it is.
type Stranger interface {
	comparable
	Greeted() bool // it speaks braid
}

// Counts are the connections that never became lanes.
type Counts struct {
	HalfOpen int    // have not said who they are, now
	Dropped  uint64 // said nothing, or too little, too late, or what isn't braid's; and all of the other two
	Crowded  uint64 // made room for others that came later
	Refused  uint64 // speak braid and were told why they don't get in
}

// Room is where strangers stand.
type Room[S Stranger] struct {
	Places  int // in all
	PerHost int // for strangers of one host, which isn't this one

	guests    []guest[S] // in the order in which they came
	turn      uint64
	farewells int
	quiet     time.Duration
	counts    Counts
}

type guest[S Stranger] struct {
	who  S
	host string
	came uint64 // in which turn
}

// ErrCrowded is why a stranger has to go for whom there was a place.
var ErrCrowded = errors.New("its place was needed for others, and it had said nothing, or too little")

// tellEvery is how often it is told that somebody was turned away: strangers must not fill logs.
const tellEvery = time.Second

// Turn begins another one: who came in an earlier one has been listened to.
func (r *Room[S]) Turn() { r.turn++ }

// Enter takes a stranger in, if there is room. If somebody has to make that room it is out: the one that has said least; of those, the one that came
// first; but nobody who came in this turn or the one before, since nobody has listened to him. near: the host is this one, and all its clients have one
// address.
func (r *Room[S]) Enter(who S, host string, near bool) (out S, ok bool) {
	same := 0
	for i := range r.guests {
		if r.guests[i].host == host {
			same++
		}
	}
	var none S
	if same >= r.PerHost && !near {
		out = r.least(host)
	}
	if out == none && len(r.guests) >= r.Places {
		out = r.least("")
	}
	if out != none {
		r.counts.Crowded++
	} else if len(r.guests) >= 2*r.Places {
		r.counts.Dropped++
		return none, false
	}
	r.guests = append(r.guests, guest[S]{who, host, r.turn})
	return out, true
}

// least is who has said least, of a host or of all.
func (r *Room[S]) least(host string) (out S) {
	var none S
	for i := range r.guests {
		g := &r.guests[i]
		if g.came+1 < r.turn && (host == "" || g.host == host) && (out == none || out.Greeted() && !g.who.Greeted()) {
			out = g.who
		}
	}
	return out
}

// Leave takes a stranger out, whatever has become of him, and says whether he was here.
func (r *Room[S]) Leave(who S) bool {
	for i := range r.guests {
		if r.guests[i].who == who {
			r.guests = append(r.guests[:i], r.guests[i+1:]...)
			return true
		}
	}
	return false
}

// Empty takes all out.
func (r *Room[S]) Empty() (all []S) {
	for i := range r.guests {
		all = append(all, r.guests[i].who)
	}
	r.guests = nil
	return all
}

// Dropped counts one that did not get in.
func (r *Room[S]) Dropped() { r.counts.Dropped++ }

// Refused counts one that is told why; it must be counted as dropped, too. It may stay until it has read that, if not too many do.
func (r *Room[S]) Refused() (stay bool) {
	r.counts.Refused++
	if r.farewells >= r.Places {
		return false
	}
	r.farewells++
	return true
}

// Parted ends the stay of one that was refused.
func (r *Room[S]) Parted() { r.farewells-- }

// Tell says whether it is to be told that somebody was turned away: of many in a second one is.
func (r *Room[S]) Tell(now time.Duration) bool {
	if now < r.quiet {
		return false
	}
	r.quiet = now + tellEvery
	return true
}

// Counts are the counters so far.
func (r *Room[S]) Counts() Counts {
	c := r.counts
	c.HalfOpen = len(r.guests)
	return c
}
