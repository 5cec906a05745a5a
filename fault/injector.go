package fault

import (
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openbraid/braid/transport"
)

// Injector stands in front of the streams of a transport (tcp.Options.Wrapper) and cuts them by rules. It is safe for
// concurrent use. It starts nothing: that a rule is over is found by the next call.
type Injector struct {
	now     func() time.Duration
	waiting atomic.Int32 // rules that wait for a write: the only thing that a healthy write asks for

	mu      sync.Mutex
	rules   []*active // all, for the report
	live    []*active // those that aren't over
	streams []*stream
}

// active is a rule and what became of it.
type active struct {
	Rule
	at       time.Duration
	inForce  bool
	over     bool
	streams  int
	refused  int
	graves   []transport.Stream // closed by their owners while the rule hides it
	triggers bool               // waits for a write
}

// Cut is what became of one rule.
type Cut struct {
	Rule
	At      time.Duration // when it came into force; 0 if it has not
	InForce bool          // now
	Over    bool
	Streams int // streams that stood and were cut
	Refused int // new streams that were refused or kept from standing
}

// New makes an injector without rules; now is the clock that its stamps are of.
func New(now func() time.Duration) *Injector { return &Injector{now: now} }

// Cut brings a rule into force at once: all streams whose local address is rail.
func (i *Injector) Cut(rail string, kind Kind, d time.Duration) {
	i.Apply(Rule{Rail: rail, Kind: kind, For: d})
}

// Apply adds a rule.
func (i *Injector) Apply(r Rule) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.expire()
	if ip, err := netip.ParseAddr(r.Rail); err == nil {
		r.Rail = ip.String() // as addresses of streams are written
	}
	a := &active{Rule: r, triggers: r.AtWrite}
	i.rules = append(i.rules, a)
	i.live = append(i.live, a)
	if r.AtWrite {
		i.waiting.Add(1)
		return
	}
	i.enforce(a, nil)
}

// enforce cuts what is there, but for one stream, which sees to itself.
func (i *Injector) enforce(a *active, but *stream) {
	a.at, a.inForce = i.now(), true
	for _, s := range i.streams {
		if s != but && a.hits(s.local, s.remote) && s.sever(a) {
			a.streams++
		}
	}
}

// Heal ends the rules about rail, those in force and those that wait; "" ends all.
func (i *Injector) Heal(rail string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.endIf(func(a *active) bool { return rail == "" || a.Rail == rail })
}

func (i *Injector) endIf(over func(a *active) bool) {
	i.live = slices.DeleteFunc(i.live, func(a *active) bool {
		if !over(a) {
			return false
		}
		i.end(a)
		return true
	})
}

// end is the end of a rule, however it came.
func (i *Injector) end(a *active) {
	if a.triggers {
		a.triggers = false
		i.waiting.Add(-1)
	}
	a.inForce, a.over = false, true
	for _, s := range a.graves {
		_ = s.Close(true) // the rail works again: the peer learns that nobody is there
	}
	a.graves = nil
}

// expire ends rules whose time is over.
func (i *Injector) expire() {
	if len(i.live) > 0 {
		now := i.now()
		i.endIf(func(a *active) bool { return a.inForce && a.For > 0 && now-a.at >= a.For })
	}
}

// Report says what became of each rule, in the order in which they came.
func (i *Injector) Report() []Cut {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.expire()
	out := make([]Cut, len(i.rules))
	for k, a := range i.rules {
		out[k] = Cut{Rule: a.Rule, At: a.at, InForce: a.inForce, Over: a.over, Streams: a.streams, Refused: a.refused}
	}
	return out
}

// Close ends all rules and gives back what they hold. Streams that are cut stay so.
func (i *Injector) Close() error {
	i.Heal("")
	return nil
}

// Wrap implements transport.Wrapper.
func (i *Injector) Wrap(s transport.Stream, local, remote string) transport.Stream {
	w := &stream{inj: i, under: s, local: local, remote: remote}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.expire()
	w.index = len(i.streams)
	i.streams = append(i.streams, w)
	for _, a := range i.live {
		if a.inForce && a.hits(local, remote) && w.sever(a) {
			a.refused++
		}
	}
	return w
}

// triggered: s is about to write. If a rule waited for that it comes into force, for s as well.
func (i *Injector) triggered(s *stream) *active {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.expire()
	if s.isCut() {
		return nil
	}
	for _, a := range i.live {
		if a.triggers && a.hits(s.local, s.remote) {
			a.triggers = false
			i.waiting.Add(-1)
			i.enforce(a, s)
			a.streams++
			return a
		}
	}
	return nil
}

// forget takes a closed stream off the list. If a rule in force hides that it closed, its connection stays.
func (i *Injector) forget(s *stream, by *active) (keep bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.expire()
	last := len(i.streams) - 1
	i.streams[last].index = s.index
	i.streams[s.index] = i.streams[last]
	i.streams[last] = nil
	i.streams = i.streams[:last]
	if by != nil && by.Kind == Silence && by.inForce {
		by.graves = append(by.graves, s.under)
		return true
	}
	return false
}
