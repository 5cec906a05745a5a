package fault

import (
	"errors"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openbraid/braid/transport"
)

// errNobody: rules about processes and interfaces need somebody who can do that.
var errNobody = errors.New("nobody here can do that: it is for braid fault, and for perftest --fault")

// Injector stands in front of connections (tcp.Options.Wrapper, Link) and does to them what rules say. It is safe for
// concurrent use. It starts nothing: what is due is done by the next call, so somebody calls
// Advance: package fault/drive. What connections carry is no call.
type Injector struct {
	// Outside does what rules say that are not about connections, and undoes it; it says how many things it changed. Nil: nobody does. Set it, and the
	// others, before the first rule.
	Outside func(r Rule, begin bool) (hits int, err error)
	// Stands says whether all lanes stand, and how many were lost so far, for rules that wait for that: once nothing is cut that nobody has noticed,
	// and each loss has been told. Nil: every slot has a connection.
	Stands func() (all bool, lost int)
	// Told is told when a rule comes into force, and when it is over. It must not call the injector. Nil: nobody.
	Told func(r Rule, begin bool, at time.Duration)
	// Wake is called by Advance when rules come into force or end, and while something that was held back may go on: who sleeps on descriptors does
	// not see that. Nil: nobody sleeps.
	Wake func()

	now     func() time.Duration
	dice    dice
	waiting atomic.Int32 // rules that wait for a write: the only thing that a healthy write asks for

	mu        sync.Mutex
	rules     []*active // all, for the report
	live      []*active // those that aren't over
	conns     []member
	slots     []*slot
	abandoned error
	news      bool          // rules came into force or ended since Advance looked
	known     int           // losses that were told when all stood last
	owed      int           // connections that were cut and given up since: as many losses are told, or will be
	noticed   time.Duration // when the last of them was given up
}

// New makes an injector without rules; now is the clock that its stamps are of.
func New(now func() time.Duration) *Injector { return NewSeeded(now, 1) }

// NewSeeded is New with the seed of what rules leave to luck.
func NewSeeded(now func() time.Duration, seed uint64) *Injector {
	return &Injector{now: now, dice: dice{rand: rand.New(rand.NewPCG(seed, 0x6272616964))}}
}

// Cut brings a rule into force at once: all connections whose local address is rail.
func (i *Injector) Cut(rail string, kind Kind, d time.Duration) {
	i.Apply(Rule{Rail: rail, Kind: kind, For: d})
}

// Batch are rules that were applied together.
type Batch struct{ from, to int }

// Apply adds rules. Their times count from now.
func (i *Injector) Apply(rules ...Rule) Batch {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := i.now()
	b := Batch{len(i.rules), len(i.rules) + len(rules)}
	for _, r := range rules {
		if ip, err := netip.ParseAddr(r.Rail); err == nil {
			r.Rail = ip.String() // as addresses of streams are written
		}
		a := &active{Rule: r, due: now + r.After}
		i.rules = append(i.rules, a)
		i.live = append(i.live, a)
	}
	i.advance()
	return b
}

// Ended says whether all rules of a batch are over.
func (i *Injector) Ended(b Batch) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.advance()
	for _, a := range i.rules[b.from:b.to] {
		if !a.over {
			return false
		}
	}
	return true
}

// Withdraw ends the rules of a batch. why says that whoever gave them did not live to see them end, and is nil otherwise: see Abandoned.
func (i *Injector) Withdraw(b Batch, why error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	mine := i.rules[b.from:b.to]
	early := false
	i.endIf(func(a *active) bool {
		own := slices.Contains(mine, a)
		early = early || own
		return own
	})
	if early && i.abandoned == nil {
		i.abandoned = why
	}
}

// Abandoned says why rules were withdrawn before they were over: then what they did not do proves nothing. Nil: none was.
func (i *Injector) Abandoned() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.abandoned
}

// Given says what became of the rules of a batch.
func (i *Injector) Given(b Batch) []Status {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.advance()
	var out []Status
	for _, a := range i.rules[b.from:b.to] {
		out = append(out, a.status())
	}
	return out
}

// Advance does what is due, and says when it wants to be called again; 0: when something changes.
func (i *Injector) Advance() time.Duration {
	next, news := i.step()
	if news && i.Wake != nil {
		i.Wake()
	}
	return next
}

// step also says whether there is something to see: rules came or went, or hold back what is soon due.
func (i *Injector) step() (next time.Duration, news bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.advance()
	news, i.news = i.news, false
	for _, a := range i.live {
		news = news || a.inForce && a.ticks()
	}
	return i.next(i.now()), news
}

// Whole says whether every lane that there was stands: none is cut, and not replaced yet.
func (i *Injector) Whole() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.advance()
	return i.whole()
}

// Any says whether there was a rule at any time.
func (i *Injector) Any() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.rules) > 0
}

// InForce says whether some rule is.
func (i *Injector) InForce() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.advance()
	return slices.ContainsFunc(i.live, func(a *active) bool { return a.inForce })
}

// Over says whether no rule has anything left to do.
func (i *Injector) Over() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.advance()
	return len(i.live) == 0
}

// Spent says whether no rule is left that ends by itself: what else is in force stays so until Heal.
func (i *Injector) Spent() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.advance()
	return !slices.ContainsFunc(i.live, func(a *active) bool { return a.Ends() })
}

// Where says in which slot a connection is, and of which device its local address is.
func (i *Injector) Where(local, remote string) (slot int, device string, ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, m := range i.conns {
		c := m.base()
		if !c.shared() && c.local == local && c.remote == remote || c.shared() && host(c.local) == host(local) {
			return c.slot, c.device, true
		}
	}
	return -1, "", false
}

// Lanes are the connections that there are, as rules would find them now: in the order of their slots.
func (i *Injector) Lanes() []Hit {
	i.mu.Lock()
	defer i.mu.Unlock()
	var out []Hit
	for _, m := range i.conns {
		if c := m.base(); !c.gone {
			out = append(out, Hit{c.slot, c.on, c.local, c.remote})
		}
	}
	slices.SortFunc(out, func(a, b Hit) int { return a.Slot - b.Slot })
	return out
}

// Heal ends the rules about rail, those in force and those that wait; "" ends all.
func (i *Injector) Heal(rail string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.endIf(func(a *active) bool { return rail == "" || a.Rail == rail })
}

// endIf ends rules, however that came.
func (i *Injector) endIf(over func(a *active) bool) {
	i.live = slices.DeleteFunc(i.live, func(a *active) bool {
		if !over(a) {
			return false
		}
		i.lift(a, i.now())
		a.over = true
		return true
	})
}

// Report says what became of each rule, in the order in which they came.
func (i *Injector) Report() []Status {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.advance()
	out := make([]Status, len(i.rules))
	for k, a := range i.rules {
		out[k] = a.status()
	}
	return out
}

// Close ends all rules and gives back what they hold. Connections that are cut stay so.
func (i *Injector) Close() error {
	i.Heal("")
	return nil
}

// Wrapper is the injector as what stands in front of streams; nothing if it is nil.
func (i *Injector) Wrapper() transport.Wrapper {
	if i == nil {
		return nil
	}
	return i
}

// Wrap implements transport.Wrapper.
func (i *Injector) Wrap(s transport.Stream, local, remote string) transport.Stream {
	w := &stream{conn: conn{inj: i, on: "tcp", local: local, remote: remote}, under: s}
	i.admit(w)
	return w
}

// admit gives a new connection its slot, and has it find the rules that are in force.
func (i *Injector) admit(m member) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.advance()
	i.enter(m)
	if c := m.base(); c.stood {
		i.slots[c.slot].used = true
	}
	i.meet(m)
}

// meet has a new connection find the rules that are in force.
func (i *Injector) meet(m member) {
	for _, a := range i.live {
		if a.inForce && a.hitsConn(m.base()) && m.begun(a) && a.Action == Cut {
			a.refused++
			a.hits.Add(1)
			i.spend(m.base())
		}
	}
}

// triggered: s writes. If a rule waited for that it comes into force, for s as well; a stream sees to itself.
func (i *Injector) triggered(s writer) *active {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.advance()
	if s.isCut() {
		return nil
	}
	for _, a := range i.live {
		if a.armed && a.hitsConn(s.base()) {
			a.armed = false
			i.waiting.Add(-1)
			but, _ := s.(*stream)
			i.enforce(a, i.now(), but)
			return a
		}
	}
	return nil
}

// forget takes a closed stream off the list. If a rule in force hides that it closed, its connection stays.
func (i *Injector) forget(s *stream, by *active) (keep bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.advance()
	i.leave(s)
	if by != nil && by.Kind == Silence && by.inForce {
		by.graves = append(by.graves, s.under)
		return true
	}
	return false
}
