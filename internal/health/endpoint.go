package health

import (
	"math"
	"time"
)

// Config is the limits.
type Config struct {
	ProbeAfter  time.Duration // silence of a lane that owes an answer, until it is asked
	LostAfter   time.Duration // silence until it is given up, if another lane answers
	Keepalive   time.Duration // an idle lane is asked this often; 0: never
	PeerTimeout time.Duration // silence of all lanes until all are given up; 0: never
}

// Never is the time of Due and Tick if nothing is to be done.
const Never = time.Duration(math.MaxInt64)

// Verb is what is to be done.
type Verb uint8

const (
	Probe      Verb = iota // send a ping with Nonce on Lane
	Condemn                // take Lane for lost; it is removed already
	CondemnAll             // take all lanes for lost; they are removed already
)

func (v Verb) String() string {
	switch v {
	case Probe:
		return "probe"
	case Condemn:
		return "condemn"
	case CondemnAll:
		return "condemn all"
	}
	return "Verb(?)"
}

// Action is one thing to do.
type Action struct {
	Do    Verb
	Lane  *Lane // nil for CondemnAll
	Nonce uint64
}

// Endpoint judges the lanes of one endpoint. In each call, now is a monotonic time and doesn't go back.
// New makes one.
type Endpoint struct {
	cfg   Config
	lanes []*Lane
	out   []Action
	nonce uint64

	last    time.Duration // when this side was last seen running
	due     time.Duration // when Tick wants to be called
	stopped time.Duration // how long this side wasn't running, all together
}

// New returns an endpoint without lanes.
func New(cfg Config) *Endpoint { return &Endpoint{cfg: cfg, due: Never} }

// advance turns a caller's time into running time, in which pauses of this side (stopped, or starved of the
// CPU) don't count: if it wasn't there to read the answer, that the answer wasn't read proves nothing.
func (e *Endpoint) advance(now time.Duration) time.Duration {
	asked := e.last
	if e.due != Never {
		asked = max(asked, e.due)
	}
	if late := now - asked; late > e.cfg.ProbeAfter && e.due != Never {
		e.stopped += late
	}
	e.last = max(e.last, now)
	return now - e.stopped
}

// wake asks for a tick not later than t, in running time.
func (e *Endpoint) wake(t time.Duration) { e.due = min(e.due, t+e.stopped) }

// Add takes a lane that just came up, by a handshake that took roundTrip. If that isn't known (0) the lane is asked at the
// next Tick, while it is idle: a first round trip under load would stretch its limits. trips is its count as of now.
func (e *Endpoint) Add(now time.Duration, l *Lane, trips uint64, roundTrip time.Duration) {
	t := e.advance(now)
	*l = Lane{Owner: l.Owner, trips: trips, shortest: roundTrip, heard: t, since: t}
	e.lanes = append(e.lanes, l)
	if e.cfg.Keepalive > 0 {
		if roundTrip == 0 {
			l.heard -= e.cfg.Keepalive
		}
		e.wake(l.heard + e.cfg.Keepalive)
	}
}

// Remove forgets a lane. One that isn't there is no mistake.
func (e *Endpoint) Remove(l *Lane) {
	for i, other := range e.lanes {
		if other == l {
			copy(e.lanes[i:], e.lanes[i+1:])
			e.lanes[len(e.lanes)-1] = nil
			e.lanes = e.lanes[:len(e.lanes)-1]
			return
		}
	}
}

// Note takes a lane's books: how often its acknowledgements have moved, and whether it has work that isn't
// acknowledged. The silence of new work begins when it is noted: call it in each turn in which something was
// posted on the lane or acknowledged, and look at Due after it.
func (e *Endpoint) Note(now time.Duration, l *Lane, trips uint64, busy bool) {
	t := e.advance(now)
	waited := l.waits()
	if trips != l.trips {
		l.trips = trips
		l.alive(t)
	}
	l.busy = busy
	switch {
	case !busy && l.waits():
		l.since = max(l.since, l.askedAt)
	case busy && !waited:
		l.since = t
		e.wake(t + e.probeAfter(l))
	}
}

// Reached takes what the peer's system has of a lane that is suspect (transport.Endpoint.Reached). More of it than before is a round trip of
// the path: work that is slow, or behind a gap, is on its way. It does not make the peer alive. 0 says nothing, and no more does it when nothing
// was answered for PeerTimeout, however much is taken: who takes it need not be the peer.
func (e *Endpoint) Reached(now time.Duration, l *Lane, reached uint64) {
	t := e.advance(now)
	if !l.Suspect() || reached == 0 || e.cfg.PeerTimeout > 0 && t-l.since >= e.cfg.PeerTimeout {
		return
	}
	if l.known && reached != l.reached {
		l.carries(t)
		e.wake(t + e.probeAfter(l))
		return
	}
	l.reached, l.known = reached, true
}

// Pong takes the answer to a probe, and says whether it is one: not twice, and not one that was never sent.
func (e *Endpoint) Pong(now time.Duration, l *Lane, nonce uint64) bool {
	t := e.advance(now)
	if nonce <= l.answered || nonce > l.sent {
		return false
	}
	l.answered = nonce
	if trip := t - l.probedAt; nonce == l.sent {
		l.trials++
		if l.shortest == 0 || trip < l.shortest {
			l.shortest = max(trip, 1)
		}
	}
	l.alive(t)
	for _, other := range e.lanes { // l itself isn't suspect any more
		if nonce >= other.round {
			e.witness(t, other)
		}
	}
	return true
}

// witness: the peer has answered on another lane what it was asked for the sake of a doubt.
func (e *Endpoint) witness(t time.Duration, l *Lane) {
	switch l.doubt {
	case asked:
		l.doubt = answered
		e.wake(max(t, e.again(l)))
	case askedAgain:
		l.doubt, l.witnessed = seconded, t
		e.wake(e.verdict(l))
	case trusted, answered, seconded:
	}
}

// Due is when Tick wants to be called; Never if there is no lane to look after.
func (e *Endpoint) Due() time.Duration { return e.due }

// Tick decides, and says when it wants to be called again. Call it when all that has arrived is read
// and noted. The actions are valid until the next call.
func (e *Endpoint) Tick(now time.Duration) ([]Action, time.Duration) {
	t := e.advance(now)
	e.out = e.out[:0]
	if e.allSilent(t) {
		clear(e.lanes)
		e.lanes = e.lanes[:0]
		e.out = append(e.out, Action{Do: CondemnAll})
	}
	e.condemn(t)
	if e.suspicion(t) {
		for _, l := range e.lanes {
			e.probe(t, l)
		}
	} else {
		e.keepalive(t)
	}
	e.schedule(t)
	return e.out, e.due
}

func (e *Endpoint) allSilent(t time.Duration) bool {
	for _, l := range e.lanes {
		if !l.waits() || t-l.since < e.cfg.PeerTimeout {
			return false
		}
	}
	return len(e.lanes) > 0 && e.cfg.PeerTimeout > 0
}

// condemn gives up the lanes that stayed silent though the peer answers elsewhere.
func (e *Endpoint) condemn(t time.Duration) {
	kept := e.lanes[:0]
	for _, l := range e.lanes {
		if l.doubt == seconded && t >= e.verdict(l) {
			e.out = append(e.out, Action{Do: Condemn, Lane: l})
			continue
		}
		kept = append(kept, l)
	}
	clear(e.lanes[len(kept):])
	e.lanes = kept
}

// suspicion begins for lanes that owe an answer for too long, and is looked into a second time; it says whether one did: then all lanes are
// asked, the silent ones whether they live, and the others whether the peer does.
func (e *Endpoint) suspicion(t time.Duration) (ask bool) {
	for _, l := range e.lanes {
		switch {
		case l.doubt == trusted && l.waits() && t-l.silent() >= e.probeAfter(l):
			l.doubt, l.doubted = asked, t
		case l.doubt == answered && t >= e.again(l):
			l.doubt = askedAgain
		default:
			continue
		}
		l.round, ask = e.nonce+1, true
	}
	return ask
}

func (e *Endpoint) keepalive(t time.Duration) {
	if e.cfg.Keepalive == 0 {
		return
	}
	for _, l := range e.lanes {
		if !l.waits() && t-l.heard >= e.cfg.Keepalive {
			e.probe(t, l)
		}
	}
}

func (e *Endpoint) probe(t time.Duration, l *Lane) {
	if !l.waits() {
		l.since = t
	}
	if l.sent == l.answered {
		l.askedAt = t // and not with each further one: it is silent since then
	}
	e.nonce++
	l.sent, l.probedAt = e.nonce, t
	e.out = append(e.out, Action{Do: Probe, Lane: l, Nonce: e.nonce})
}

// schedule sets when to look again.
func (e *Endpoint) schedule(t time.Duration) {
	e.due = Never
	for _, l := range e.lanes {
		switch {
		case !l.waits():
			if e.cfg.Keepalive > 0 {
				e.wake(l.heard + e.cfg.Keepalive)
			}
		case l.doubt == trusted:
			e.wake(l.silent() + e.probeAfter(l))
		case l.doubt == answered:
			e.wake(e.again(l))
		case l.doubt == seconded:
			e.wake(e.verdict(l))
		default:
			// Nothing to decide but for the peer's time-out; yet who sleeps long doesn't see that he was stopped.
			e.wake(t + e.cfg.LostAfter)
		}
	}
}

// verdict is when a suspect for which there are two witnesses is given up, if it goes on like this.
func (e *Endpoint) verdict(l *Lane) time.Duration {
	return max(l.silent()+max(e.cfg.LostAfter, 4*l.slow()), l.witnessed+max(e.grace(), l.slow()))
}

// again is when the peer is asked a second time: when the first question has had the time to come to him on the silent lane, and early enough to leave
// grace after his answer.
func (e *Endpoint) again(l *Lane) time.Duration { return l.doubted + max(e.grace()/2, l.slow()) }

// grace is what a suspect has after a witness: so much slower may it be.
func (e *Endpoint) grace() time.Duration { return (e.cfg.LostAfter - e.cfg.ProbeAfter) / 2 }

func (e *Endpoint) probeAfter(l *Lane) time.Duration { return max(e.cfg.ProbeAfter, 2*l.slow()) }
