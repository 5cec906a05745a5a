package health

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// net is a peer with lanes, in steps of 0.1 ms: each lane takes half of its delay to bring a probe to the peer, who answers while it runs, and half of it
// back, and acknowledges after its delay; but for the dead ones. The peer may be stopped; so may this side.
type net struct {
	e        *Endpoint
	now      time.Duration
	resume   time.Duration // the peer answers nothing before
	lanes    []*lane
	late     func() time.Duration // how late a tick is
	condemns []*lane
	all      bool
}

type lane struct {
	Lane
	delay   time.Duration
	dead    bool
	busy    bool
	acks    bool // progress can be seen
	trips   uint64
	pings   []answer // on their way to the peer
	pongs   []answer
	ackAt   time.Duration
	removed bool
}

type answer struct {
	nonce uint64
	at    time.Duration // when it arrives
}

const grain = 100 * time.Microsecond

// luck draws even numbers from a seed: rapid's own ranges prefer small ones, and times would be too short.
type luck struct{ *rand.Rand }

func draw(t *rapid.T) luck {
	return luck{rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))}
}

func (l luck) span(limit time.Duration) time.Duration {
	return grain * time.Duration(l.Int64N(int64(limit/grain)+1))
}

func newNet(n int) *net {
	w := &net{e: New(someConfig()), late: func() time.Duration { return 0 }}
	for range n {
		l := &lane{acks: true}
		l.Owner = l
		w.lanes = append(w.lanes, l)
		w.e.Add(0, &l.Lane, 0, 1)
	}
	return w
}

// work makes a lane busy or idle.
func (w *net) work(l *lane, busy bool) {
	if l.busy = busy; busy {
		l.ackAt = max(w.now, w.resume) + l.delay
	}
	w.e.Note(w.now, &l.Lane, l.trips, busy)
}

// read takes what arrived.
func (w *net) read() {
	for _, l := range w.lanes {
		if l.removed || l.dead {
			continue
		}
		for len(l.pings) > 0 && l.pings[0].at <= w.now && w.now >= w.resume {
			l.pongs = append(l.pongs, answer{l.pings[0].nonce, w.now + l.delay/2})
			l.pings = l.pings[1:]
		}
		if l.busy && l.acks && l.ackAt <= w.now {
			l.trips++
			l.ackAt = max(w.now, w.resume) + l.delay
			w.e.Note(w.now, &l.Lane, l.trips, true)
		}
		for len(l.pongs) > 0 && l.pongs[0].at <= w.now {
			w.e.Pong(w.now, &l.Lane, l.pongs[0].nonce)
			l.pongs = l.pongs[1:]
		}
	}
}

// run goes on for d, in which this side reads and ticks as it is asked to, or late.
func (w *net) run(d time.Duration) {
	tick := w.e.Due()
	if tick != Never {
		tick += w.late()
	}
	for end := w.now + d; w.now < end; w.now += grain {
		w.read()
		if w.now < min(tick, w.e.Due()+w.late()) {
			continue
		}
		actions, due := w.e.Tick(w.now)
		for _, a := range actions {
			w.act(a)
		}
		if tick = due; due != Never {
			tick += w.late()
		}
	}
}

func (w *net) act(a Action) {
	switch a.Do {
	case Probe:
		l := a.Lane.Owner.(*lane)
		l.pings = append(l.pings, answer{a.Nonce, w.now + l.delay - l.delay/2})
	case Condemn:
		l := a.Lane.Owner.(*lane)
		l.removed = true
		w.condemns = append(w.condemns, l)
	case CondemnAll:
		w.all = true
	}
}

// tolerated is what a lane may take to answer: (LostAfter-ProbeAfter)/2, and some steps less.
const tolerated = 9500 * time.Microsecond

// TestAnswering: a lane that answers within (LostAfter-ProbeAfter)/2 is never condemned, whatever the
// other lanes do, and however often the peer, or this side, is stopped in between.
func TestAnswering(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		luck := draw(t)
		w := newNet(rapid.IntRange(1, 4).Draw(t, "lanes"))
		for _, l := range w.lanes {
			l.delay = luck.span(tolerated)
			l.acks = rapid.Bool().Draw(t, "acks")
		}
		w.late = func() time.Duration { return luck.span(20 * time.Millisecond) }
		for range rapid.IntRange(1, 12).Draw(t, "events") {
			l := w.lanes[rapid.IntRange(0, len(w.lanes)-1).Draw(t, "lane")]
			switch rapid.SampledFrom([]string{"busy", "idle", "dead", "stop peer", "stop here", ""}).Draw(t, "event") {
			case "busy":
				w.work(l, true)
			case "idle":
				w.work(l, false)
			case "dead":
				l.dead = true
			case "stop peer":
				w.resume = w.now + luck.span(500*time.Millisecond)
			case "stop here":
				w.now += luck.span(9 * time.Second)
			}
			w.run(luck.span(300 * time.Millisecond))
		}
		for _, l := range w.condemns {
			if !l.dead {
				t.Fatalf("a lane that answers after %v was condemned", l.delay)
			}
		}
		if w.all {
			t.Fatal("condemned all within less than the peer time-out of silence")
		}
	})
}

// TestStutter: a peer that runs for moments only, with stops of up to twice LostAfter in between, loses none of its lanes, which acknowledge nothing
// in all that time: whoever answers on one lane when he was asked a second time has long had the first question on the other.
func TestStutter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		luck := draw(t)
		w := newNet(2 + int(luck.Uint64()%3))
		for _, l := range w.lanes {
			l.delay, l.acks = luck.span(tolerated), false
			w.work(l, luck.Uint64()%2 == 0)
		}
		if luck.Uint64()%2 == 0 {
			w.late = func() time.Duration { return luck.span(9 * time.Millisecond) }
		}
		for range 300 {
			w.resume = w.now + luck.span(2*someConfig().LostAfter)
			w.run(w.resume - w.now + luck.span(3*time.Millisecond) + grain)
		}
		if len(w.condemns) > 0 || w.all {
			t.Fatalf("%d lanes were condemned, of a peer that stutters", len(w.condemns))
		}
	})
}

// TestSilent: a silent lane with work, beside one that answers, is condemned within LostAfter and one
// tick, and no other one is; an idle one within Keepalive more.
func TestSilent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, luck := someConfig(), draw(t)
		w := newNet(rapid.IntRange(2, 4).Draw(t, "lanes"))
		late := luck.span(4 * time.Millisecond)
		w.late = func() time.Duration { return late }
		for _, l := range w.lanes {
			l.delay = luck.span(4 * time.Millisecond)
			w.work(l, rapid.Bool().Draw(t, "busy"))
		}
		w.run(luck.span(2 * time.Second))
		victim := w.lanes[0]
		victim.dead = true
		limit := cfg.LostAfter + 3*late + 3*grain
		if rapid.Bool().Draw(t, "victim busy") {
			w.work(victim, true)
		} else {
			w.work(victim, false)
			limit += cfg.Keepalive + late
		}
		w.run(limit)
		if len(w.condemns) != 1 || w.condemns[0] != victim {
			t.Fatalf("%d condemned after %v, the silent one: %v", len(w.condemns), limit, victim.removed)
		}
	})
}

// TestAllSilent: the peer time-out decides if nobody answers, not before and not long after.
func TestAllSilent(t *testing.T) {
	for n := 1; n <= 3; n++ {
		w := newNet(n)
		w.run(2500 * time.Millisecond)
		for _, l := range w.lanes {
			l.dead = true
		}
		w.work(w.lanes[0], true)
		w.run(someConfig().PeerTimeout - grain)
		if w.all || len(w.condemns) > 0 {
			t.Fatalf("%d lanes: condemned too early", n)
		}
		w.run(someConfig().Keepalive + 100*time.Millisecond)
		if !w.all || len(w.condemns) > 0 || w.e.Due() != Never {
			t.Fatalf("%d lanes: not condemned: %v, one by one: %d", n, w.all, len(w.condemns))
		}
	}
}

// TestOff: without keepalive an idle endpoint never asks to be called.
func TestOff(t *testing.T) {
	e := New(Config{ProbeAfter: 10 * time.Millisecond, LostAfter: 30 * time.Millisecond, PeerTimeout: 10 * time.Second})
	var l Lane
	e.Add(0, &l, 3, 0)
	if actions, due := e.Tick(time.Hour); due != Never || len(actions) > 0 {
		t.Errorf("due %v, %d actions", due, len(actions))
	}
	e.Note(2*time.Hour, &l, 3, true)
	if due := e.Due(); due != 2*time.Hour+10*time.Millisecond {
		t.Errorf("busy: due %v", due)
	}
	if actions, _ := e.Tick(2*time.Hour + 10*time.Millisecond); len(actions) != 1 || !l.Suspect() {
		t.Errorf("%d actions", len(actions))
	}
	if e.Pong(2*time.Hour+11*time.Millisecond, &l, 1); l.Suspect() || l.RoundTrip() != time.Millisecond {
		t.Errorf("after the answer: suspect %v, round trip %v", l.Suspect(), l.RoundTrip())
	}
}

// TestOldCount: what was acknowledged before Add is no sign of life.
func TestOldCount(t *testing.T) {
	e := New(someConfig())
	var l Lane
	e.Add(0, &l, 7, 0)
	e.Note(900*time.Millisecond, &l, 7, false)
	if actions, _ := e.Tick(time.Second); len(actions) != 1 || actions[0].Do != Probe {
		t.Errorf("%d actions, want a probe", len(actions))
	}
}

func TestAllocations(t *testing.T) {
	e := New(someConfig())
	lanes := make([]Lane, 4)
	for i := range lanes {
		e.Add(0, &lanes[i], 0, 1)
	}
	now, trips := time.Duration(0), uint64(0)
	turn := func() {
		now += 7 * time.Millisecond
		trips++
		for i := range lanes {
			e.Note(now, &lanes[i], trips/4, trips%9 > 0)
		}
		actions, _ := e.Tick(now)
		for _, a := range actions {
			if a.Do == Probe {
				e.Pong(now, a.Lane, a.Nonce)
			}
		}
	}
	for range 100 {
		turn()
	}
	if n := testing.AllocsPerRun(1000, turn); n != 0 {
		t.Errorf("%v allocations a turn", n)
	}
}

func TestBackoff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := someBackoff()
		step := b.Min
		for range rapid.IntRange(1, 40).Draw(t, "attempts") {
			if rapid.IntRange(0, 9).Draw(t, "success") == 0 {
				b.Lived(time.Minute)
				step = b.Min
			}
			if d := b.Next(rapid.Uint64().Draw(t, "luck")); d < step/2 || d > step {
				t.Fatalf("%v, want %v to %v", d, step/2, step)
			}
			step = min(2*step, b.Max)
		}
	})
}

func someBackoff() Backoff { return Backoff{Min: 20 * time.Millisecond, Max: 5 * time.Second} }

// TestFlapsAreDamped: a lane that comes up only to go down again is tried less and less often; one that dies each second is tried at once, and
// one that was so for long, and then lives, is forgiven.
func TestFlapsAreDamped(t *testing.T) {
	flaps := func(b *Backoff, life time.Duration, n int) (wait time.Duration) {
		for range n {
			b.Lived(life)
			wait = b.Next(0)
		}
		return wait
	}
	for _, c := range []struct {
		life     time.Duration
		min, max time.Duration // after 100 of them
	}{
		{0, 5 * time.Second, 5 * time.Second},
		{30 * time.Millisecond, 5 * time.Second, 5 * time.Second},
		{80 * time.Millisecond, 5 * time.Second, 5 * time.Second},
		{150 * time.Millisecond, 20 * time.Millisecond, 40 * time.Millisecond},
		{time.Second, 20 * time.Millisecond, 20 * time.Millisecond},
	} {
		b := someBackoff()
		if wait := flaps(&b, c.life, 100); wait < c.min || wait > c.max {
			t.Errorf("lives of %v: waits %v, want %v to %v", c.life, wait, c.min, c.max)
		}
	}
	b := someBackoff()
	flaps(&b, 0, 100)
	if wait := flaps(&b, 500*time.Millisecond, 1); wait > 400*time.Millisecond {
		t.Errorf("after half a second of life it waits %v", wait)
	}
	if wait := flaps(&b, time.Second, 1); wait != b.Min {
		t.Errorf("after a second of life more it waits %v", wait)
	}
}

// someConfig has the limits that the library's settings have.
func someConfig() Config {
	return Config{
		ProbeAfter:  10 * time.Millisecond,
		LostAfter:   30 * time.Millisecond,
		Keepalive:   time.Second,
		PeerTimeout: 10 * time.Second,
	}
}
