package fault

import (
	"slices"
	"sync"
	"time"
)

// Link is a socket of datagrams to which something may be done: whoever moves them asks for each. Its methods are of one
// owner; rules come from any goroutine.
type Link struct {
	conn

	mu     sync.Mutex
	rules  []*active // in force
	queue  [2]time.Duration
	closed bool
}

// Fate is what becomes of a datagram.
type Fate struct {
	Lost    bool
	Twice   bool
	Spoiled bool          // a bit of it changes
	Late    time.Duration // how much later it goes
}

// queued is how long a datagram may wait for a rate's sake; what would wait longer is lost.
const queued = 20 * time.Millisecond

// Link makes one with that address; a slot for each, as streams have.
func (i *Injector) Link(local string) *Link {
	l := &Link{conn: conn{inj: i, on: "rc", local: local, stood: true}}
	i.admit(l)
	return l
}

// Adapter makes one for a device that sends packets by itself, at this address: whoever posts to it asks Held.
func (i *Injector) Adapter(local string) *Link {
	l := &Link{conn: conn{inj: i, on: "verbs", local: local, stood: true}}
	i.admit(l)
	return l
}

// Held says what is done to an adapter now; Hidden is for who sends datagrams beside it.
func (l *Link) Held() (h Held) {
	l.expire()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.rules {
		switch {
		case a.Action == Cut && a.Kind == Reset:
			h.Reset = true
		case a.Action == Cut || a.Action == Pause:
			h.Tx, h.Rx = h.Tx || a.Dir.Sent(), h.Rx || a.Dir.Received()
			h.Hidden = h.Hidden || a.Dir.Sent()
		}
	}
	return h
}

// Stopped notes that something was held back: a hit of a pause.
func (l *Link) Stopped() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.rules {
		if a.Action == Pause {
			a.hits.Add(1)
		}
	}
}

// Close takes the link away.
func (l *Link) Close() {
	l.inj.mu.Lock()
	defer l.inj.mu.Unlock()
	if !l.closed {
		l.closed = true
		l.inj.leave(l)
	}
}

// begun implements member.
func (l *Link) begun(a *active) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rules = append(l.rules, a)
	return true
}

// ended implements member.
func (l *Link) ended(a *active) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, r := range l.rules {
		if r == a {
			l.rules = append(l.rules[:k:k], l.rules[k+1:]...)
			return
		}
	}
}

// expire ends rules whose time is over: a link outlives the connections over it, so nobody else may call for a long time.
func (l *Link) expire() {
	l.mu.Lock()
	over := slices.ContainsFunc(l.rules, l.inj.past)
	l.mu.Unlock()
	if over {
		l.inj.settle()
	}
}

// Down says whether the link is down, which its owner may know: a reset is in force.
func (l *Link) Down() bool {
	l.expire()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.rules {
		if a.Action == Cut && a.Kind == Reset {
			return true
		}
	}
	return false
}

// Judge decides what becomes of a datagram of so many bytes that is sent, or that was received.
func (l *Link) Judge(sent bool, size int) (f Fate) {
	l.expire()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.rules {
		if sent && !a.Dir.Sent() || !sent && !a.Dir.Received() {
			continue
		}
		l.judge(a, sent, size, &f)
	}
	return f
}

func (l *Link) judge(a *active, sent bool, size int, f *Fate) {
	hit := true
	switch a.Action {
	case Cut:
		f.Lost, hit = true, false // connections are what a cut counts
	case Drop:
		hit = l.inj.dice.hits(a.Percent)
		f.Lost = f.Lost || hit
	case Duplicate:
		hit = l.inj.dice.hits(a.Percent)
		f.Twice = f.Twice || hit
	case Corrupt:
		hit = !sent && l.inj.dice.hits(a.Percent) // who sends seals after this
		f.Spoiled = f.Spoiled || hit
	case Delay:
		f.Late += l.inj.dice.around(a.Delay, a.Jitter)
	case Pause:
		if a.forever() {
			f.Lost = true
		} else {
			f.Late += max(0, time.Duration(a.until.Load())-l.inj.now())
		}
	case Throttle:
		wait := l.wait(sent, time.Duration(float64(size)*8/float64(a.Rate)*1e9))
		f.Late += wait
		f.Lost = f.Lost || wait > queued
		hit = wait > 0
	case Kill, Iface:
		hit = false
	}
	if hit {
		a.hits.Add(1)
	}
}

// wait is how long a datagram stands in line that takes so long to go.
func (l *Link) wait(sent bool, takes time.Duration) time.Duration {
	q := &l.queue[0]
	if sent {
		q = &l.queue[1]
	}
	now := l.inj.now()
	wait := max(0, *q-now)
	if wait <= queued {
		*q = max(*q, now) + takes
	}
	return wait
}

// Luck is 64 random bits, of the injector's seed.
func (l *Link) Luck() uint64 { return l.inj.dice.bits() }
