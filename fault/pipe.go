package fault

import (
	"slices"
	"sync"
)

// Pipe is a connection through memory to which something may be done: whoever moves its frames asks in each turn. Its methods are of one
// owner; rules come from any goroutine. Delay is not done to it.
type Pipe struct {
	conn

	mu     sync.Mutex // as a stream's
	by     *active    // the rule that cut it
	gates  gates
	closed bool
	lively bool // something was received since a rule came into force
}

// Held is what is done to a pipe now.
type Held struct {
	Reset  bool // it is broken, and both sides are told
	Tx, Rx bool // nothing leaves; nothing is taken
	Hidden bool // the peer is not told if it ends here
	Ruled  bool // a rule is in force on it, whatever that does now: what could go around it would go around the rule
}

// Pipe makes one between these addresses.
func (i *Injector) Pipe(local, remote string) *Pipe {
	p := &Pipe{conn: conn{inj: i, on: "shm", local: local, remote: remote}}
	i.admit(p)
	return p
}

// Stands notes that it is seen to work.
func (p *Pipe) Stands() { p.inj.stands(&p.conn) }

// Given notes that its owner has given it up: another one may take its slot.
func (p *Pipe) Given() {
	p.inj.mu.Lock()
	defer p.inj.mu.Unlock()
	p.inj.givenUp(&p.conn)
}

// Close takes it away.
func (p *Pipe) Close() {
	p.mu.Lock()
	was := p.closed
	p.closed = true // from here on no rule touches it
	p.mu.Unlock()
	if was {
		return
	}
	p.inj.mu.Lock()
	defer p.inj.mu.Unlock()
	p.inj.leave(p)
}

// Buried says whether nobody may learn yet that it was closed: the silence that cut it is in force.
func (p *Pipe) Buried() bool {
	p.inj.mu.Lock()
	defer p.inj.mu.Unlock()
	p.inj.advance()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.by != nil && p.by.Kind == Silence && p.by.inForce
}

// begun implements member.
func (p *Pipe) begun(a *active) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return false
	case a.Action != Cut:
		p.gates.add(a)
		p.gates[len(p.gates)-1].lively, p.lively = p.lively, false
	case p.by != nil:
		return false
	default:
		p.by = a
	}
	return true
}

// ended implements member. A cut pipe stays cut.
func (p *Pipe) ended(a *active) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gates.remove(a)
}

// expire ends rules whose time is over, as a link does.
func (p *Pipe) expire() {
	p.mu.Lock()
	over := slices.ContainsFunc(p.gates, func(g *gate) bool { return p.inj.past(g.active) })
	p.mu.Unlock()
	if over {
		p.inj.settle()
	}
}

// Held says what is done to it in this turn. busy says that something is under way, which is then held back: a hit.
func (p *Pipe) Held(busy bool) (h Held) {
	p.expire()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch by := p.by; {
	case by == nil:
	case by.Kind == Reset:
		return Held{Reset: true, Ruled: true}
	default:
		h = Held{Tx: by.Dir.Sent(), Rx: by.Dir.Received(), Hidden: by.Dir.Sent()}
	}
	h.Ruled = p.by != nil || len(p.gates) > 0
	for _, g := range p.gates {
		tx := g.Action == Pause && g.Dir.Sent()
		rate := g.Dir.Received() && g.full(p.inj, false)
		rx := rate || g.Action == Pause && g.Dir.Received()
		if tx && busy || rx && (busy || g.lively || rate) {
			g.hits.Add(1)
		}
		h.Tx, h.Rx = h.Tx || tx, h.Rx || rx
	}
	return h
}

// May says whether a frame may be sent now, as far as rates are concerned.
func (p *Pipe) May() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, g := range p.gates {
		if g.Dir.Sent() && g.full(p.inj, true) {
			g.hits.Add(1)
			return false
		}
	}
	return true
}

// Wrote notes that something was written, of which a part may be under way: a cut that waited for that begins.
func (p *Pipe) Wrote() {
	if p.inj.waiting.Load() > 0 {
		p.inj.triggered(p)
	}
}

func (p *Pipe) isCut() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.by != nil
}

// Passed takes from the rates what was sent, or received.
func (p *Pipe) Passed(sent bool, bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gates.passed(sent, bytes)
	p.lively = p.lively || !sent
}

// full says whether a rate has nothing left for that way: it pays back what the last frame took too much.
func (g *gate) full(i *Injector, sent bool) bool {
	return g.Action == Throttle && g.bucket(sent).level(i.now(), g.Rate) <= 0
}
