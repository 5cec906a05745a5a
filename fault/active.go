package fault

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/openbraid/braid/transport"
)

// active is a rule and what became of it. Its fields are under the injector's lock, but for hits.
type active struct {
	Rule
	hits    atomic.Uint64
	due     time.Duration // when it comes into force next
	until   atomic.Int64  // when it is over, if it is in force and not for ever
	inForce bool
	over    bool
	drawn   int  // the slot, if Lane is Random
	armed   bool // waits for a write
	streams int
	refused int
	strokes []Stroke
	failed  error
	graves  []transport.Stream // closed by their owners while the rule hides it
}

// Stroke is one time that a rule came into force.
type Stroke struct {
	At  time.Duration
	End time.Duration // 0 while it is in force
	Hit []Hit         // connections that it found when it came into force
}

// Hit is a connection that a rule found.
type Hit struct {
	Slot          int
	On            string // "tcp", "rc", "verbs" or "shm"
	Local, Remote string // Remote is "" where one socket serves many peers
}

func (h Hit) String() string {
	if h.Remote == "" {
		return fmt.Sprintf("lane %d (%s %s)", h.Slot, h.On, h.Local)
	}
	return fmt.Sprintf("lane %d (%s %s->%s)", h.Slot, h.On, h.Local, h.Remote)
}

// Status is what became of a rule.
type Status struct {
	Rule
	At      time.Duration // when it came into force first; 0 if it has not
	InForce bool          // now
	Over    bool
	Hits    uint64 // what it did: connections cut or refused, datagrams, reads and writes that it held back, processes, interfaces
	Streams int    // connections that stood and were cut
	Refused int    // new ones that were refused or kept from standing
	Strokes []Stroke
	Err     error // why it could not be done
}

func (a *active) status() Status {
	s := Status{Rule: a.Rule, InForce: a.inForce, Over: a.over, Hits: a.hits.Load(), Streams: a.streams, Refused: a.refused, Err: a.failed}
	s.Strokes = append(s.Strokes, a.strokes...)
	if len(a.strokes) > 0 {
		s.At = a.strokes[0].At
	}
	return s
}

// advance brings rules into force whose time has come, and ends those whose time is over.
func (i *Injector) advance() {
	if len(i.live) == 0 {
		return
	}
	now := i.now()
	i.endIf(func(a *active) bool {
		if a.inForce && !a.forever() && int64(now) >= a.until.Load() && i.endStroke(a, now) {
			return true
		}
		if !a.inForce && !a.armed && now >= a.due {
			i.begin(a, now)
		}
		return false
	})
}

// past says whether a rule that is in force should be over.
func (i *Injector) past(a *active) bool { return !a.forever() && int64(i.now()) >= a.until.Load() }

// settle does what is due.
func (i *Injector) settle() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.advance()
}

// begin is the moment at which a rule's time has come.
func (i *Injector) begin(a *active, now time.Duration) {
	if a.Start == Whole && !i.whole() {
		return // asked again
	}
	if a.Lane == Random && !i.draw(a) {
		return
	}
	if a.Start == Write {
		a.armed = true
		i.waiting.Add(1)
		return
	}
	i.enforce(a, now, nil)
}

// enforce does it to what is there, but for one stream, which sees to itself.
func (i *Injector) enforce(a *active, now time.Duration, but *stream) {
	a.inForce = true
	i.news = true
	a.until.Store(int64(now + a.For))
	a.strokes = append(a.strokes, Stroke{At: now})
	i.told(a, true, now)
	s := &a.strokes[len(a.strokes)-1]
	if a.Action.Outside() {
		i.outside(a, true)
	}
	for _, c := range i.conns {
		b, itself := c.base(), but != nil && c == member(but)
		if !a.hitsConn(b) || !itself && !c.begun(a) {
			continue
		}
		if a.Action == Cut {
			a.streams++
			a.hits.Add(1)
			i.spend(b)
		}
		s.Hit = append(s.Hit, Hit{b.slot, b.on, b.local, b.remote})
	}
}

// endStroke ends one time, and says whether it was the last.
func (i *Injector) endStroke(a *active, now time.Duration) (last bool) {
	i.lift(a, now)
	if a.Every == 0 || a.Count > 0 && len(a.strokes) >= a.Count {
		return true
	}
	a.due = a.strokes[len(a.strokes)-1].At + i.dice.around(a.Every, a.Spread)
	return false
}

// lift takes a rule out of force.
func (i *Injector) lift(a *active, now time.Duration) {
	if a.armed {
		a.armed = false
		i.waiting.Add(-1)
	}
	if !a.inForce {
		return
	}
	a.inForce = false
	i.news = true
	a.strokes[len(a.strokes)-1].End = now
	i.told(a, false, now)
	if a.Action.Outside() {
		i.outside(a, false)
	}
	for _, c := range i.conns {
		c.ended(a)
	}
	for _, s := range a.graves {
		_ = s.Close(true) // the rail works again: the peer learns that nobody is there
	}
	a.graves = nil
}

func (i *Injector) told(a *active, begin bool, at time.Duration) {
	if i.Told != nil {
		i.Told(a.Rule, begin, at)
	}
}

// outside has somebody do what can't be done to connections.
func (i *Injector) outside(a *active, begin bool) {
	if i.Outside == nil {
		a.failed = errNobody
		return
	}
	n, err := i.Outside(a.Rule, begin)
	a.hits.Add(uint64(max(n, 0)))
	if err != nil && a.failed == nil {
		a.failed = err
	}
}

// draw chooses a slot among those that stand.
func (i *Injector) draw(a *active) bool {
	var up []int
	for n, s := range i.slots {
		if s.stands() && a.Takes(s.user.on) {
			up = append(up, n)
		}
	}
	if len(up) == 0 {
		return false
	}
	a.drawn = up[i.dice.below(len(up))]
	return true
}

// next is when something is to be done; 0: never.
func (i *Injector) next(now time.Duration) (at time.Duration) {
	sooner := func(t time.Duration) {
		if t = max(t, now+1); at == 0 || t < at {
			at = t
		}
	}
	for _, a := range i.live {
		switch {
		case a.inForce && a.ticks():
			sooner(now + tick)
		case a.inForce && !a.forever():
			sooner(time.Duration(a.until.Load()))
		case a.inForce, a.armed:
		case a.due <= now: // waits for lanes
			sooner(now + tick)
		default:
			sooner(a.due)
		}
	}
	return at
}

// tick is how often is looked where nobody tells.
const tick = time.Millisecond

// ticks says whether what the rule holds back may go on at any moment.
func (r *Rule) ticks() bool { return r.Action == Delay || r.Action == Throttle }
