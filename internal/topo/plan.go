package topo

import "slices"

// Query is what a plan is made from.
type Query struct {
	View
	Dialed     string   // where the first lane went: host:port
	Told       []string // where the peer says that it listens; empty: nothing is known but what was dialed
	Translated bool     // see Translated; decided when the first lane came up
	Standing   []Path   // lanes that there are: they stay, and what they join needs no other
	Most       int      // lanes; 0: no limit
	Want       int      // lanes; 0: one for each interface that reaches the peer
	Spare      bool     // there is nothing better: also rails that are slow beside others
}

// Candidate is a path, chosen or not, and why.
type Candidate struct {
	Path          // Remote is "" if the rail as such is not used
	Rail   string // the rail here, for people
	Speed  int    // of the rail, Mbit/s; 0: not known
	Chosen bool
	Reason string
}

// slow: a rail that has less than this share of the fastest one's speed is not used beside it unless it was asked for: what is
// striped over both would wait for it.
const slow = 4

// pair is a rail here and an address there.
type pair struct {
	c      *Choice
	remote string
	verdict
	taken bool
}

// planner makes one plan.
type planner struct {
	Query
	locals  []Choice
	remotes []string
	pairs   []pair
	local   map[string]start // lanes by what they cover here
	ends    []end            // and there
	out     []Candidate
}

// start is how many lanes what they cover here has, and to addresses of which kind.
type start struct {
	lanes int
	kind  kind
}

// end is an address of the peer, and how many lanes end there.
type end struct {
	addr  string
	lanes int
}

// Plan says which lanes there should be: first those that stand, in the order given, then those to be added, the most useful first, then what
// is not to be used, with reasons.
func Plan(q Query) []Candidate {
	p := &planner{Query: q, local: map[string]start{}}
	p.findEnds()
	p.judgeAll()
	p.rejectLesser()
	p.stand()
	for p.room() && p.choose() {
	}
	p.repeat()
	p.rest()
	return p.out
}

// findEnds finds the rails and the addresses that may be joined.
func (p *planner) findEnds() {
	here := p.Here(p.Dialed)
	p.locals = p.usable(here)
	if to, ok := ipOf(p.Dialed); ok && here {
		p.locals = slices.DeleteFunc(p.locals, func(c Choice) bool { return c.has(Loopback) != to.IsLoopback() })
	}
	if !p.Chosen.positive && (here || len(p.Rails) == 0) || here && len(p.locals) == 0 {
		p.locals = []Choice{{}} // the system picks
	}
	p.remotes = p.Told
	if len(p.Told) == 0 || p.Translated {
		p.remotes = append([]string{p.Dialed}, p.Told...)
	}
}

func (p *planner) judgeAll() {
	first, isIP := ipOf(p.Dialed)
	here := p.Here(p.Dialed)
	for i := range p.locals {
		for j, r := range p.remotes {
			if contains(p.remotes[:j], r) {
				continue
			}
			if same(r, p.Dialed) {
				r = p.Dialed // with its zone
			}
			x := pair{c: &p.locals[i], remote: r, verdict: p.judge(&p.locals[i], r, here)}
			if to, ok := ipOf(r); ok && isIP && x.reason == "" && to.IsLoopback() != first.IsLoopback() {
				x.verdict = no("of the two addresses of the peer one is a loopback address")
			}
			if x.reason == "" && p.Translated && r != p.Dialed && !x.direct {
				x.verdict = no("the peer was dialed at %s and does not know that address: what it tells need not lead to it", p.Dialed)
			}
			p.pairs = append(p.pairs, x)
		}
	}
}

// rejectLesser leaves out what works and is not wanted beside better.
func (p *planner) rejectLesser() {
	direct, fastest := map[*Choice]bool{}, 0 // rails that share a network with the peer
	for i := range p.pairs {
		if x := &p.pairs[i]; x.reason == "" && x.direct {
			direct[x.c] = true
		}
	}
	for i := range p.pairs {
		x := &p.pairs[i]
		if x.reason == "" && len(direct) > 0 && !x.direct && (x.c.how < byName || direct[x.c]) {
			x.verdict = no("only by a router, while others of the peer's addresses are on networks of this host")
		}
		if x.reason == "" {
			fastest = max(fastest, x.c.Speed)
		}
	}
	for i := range p.pairs {
		x := &p.pairs[i]
		if x.reason == "" && !p.Spare && x.c.how == byNobody && x.c.Speed > 0 && slow*x.c.Speed < fastest {
			x.verdict = no("%s beside %s: kept for when nothing faster is left", speedName(x.c.Speed), speedName(fastest))
		}
	}
}

// covers is what a rail's lanes stand for: its interface, or the address alone if that was asked for.
func covers(c *Choice) string {
	if c.Name == "" || c.how == byAddress {
		return c.Host()
	}
	return c.Name
}

// count notes a lane.
func (p *planner) count(local, remote string) {
	p.local[local] = start{p.local[local].lanes + 1, kindOf(remote)}
	for i := range p.ends {
		if same(p.ends[i].addr, remote) {
			p.ends[i].lanes++
			return
		}
	}
	p.ends = append(p.ends, end{remote, 1})
}

// uses is how many lanes end at an address of the peer.
func (p *planner) uses(remote string) int {
	for _, e := range p.ends {
		if same(e.addr, remote) {
			return e.lanes
		}
	}
	return 0
}

// again says whether an address there is one more of an interface that has a lane from this rail's already: nothing says which addresses are of one
// interface, but each mostly has one of each kind.
func (p *planner) again(x *pair) bool {
	l := p.local[covers(x.c)]
	return l.lanes > 0 && l.kind != kindOf(x.remote) && !p.Here(p.Dialed)
}

// stand notes the lanes that there are, also those from rails that would not be used again.
func (p *planner) stand() {
	all := p.choices()
	for _, s := range p.Standing {
		c := Candidate{Path: s, Rail: s.Local, Chosen: true, Reason: "it is there"}
		key := s.Local
		for i := range all {
			if l := &all[i]; l.at(s.Local) {
				key = covers(l)
				c.Rail, c.Speed = l.String(), l.Speed
			}
		}
		p.count(key, s.Remote)
		p.out = append(p.out, c)
		for i := range p.pairs {
			if x := &p.pairs[i]; (x.c.Host() == s.Local || x.c.at(s.Local)) && same(x.remote, s.Remote) {
				x.taken = true
			}
		}
	}
}

// room says whether there may be one more lane.
func (p *planner) room() bool {
	n := len(p.out)
	return (p.Most == 0 || n < p.Most) && (p.Want == 0 || n < p.Want)
}

// choose adds the lane that is of most use: one that joins two ends without lanes, then one of a single such end; without a router
// between before others, and of equals in the family that was dialed. False: each end that can have a lane has one.
func (p *planner) choose() bool {
	best, least := -1, 0
	dialed := kindOf(p.Dialed)
	for i := range p.pairs {
		x := &p.pairs[i]
		here, there := p.local[covers(x.c)].lanes, p.uses(x.remote)
		if x.taken || x.reason != "" || there > 0 && (here > 0 || x.c.Host() == "") || p.again(x) {
			continue
		}
		cost := 4 * (here + there)
		if !x.direct {
			cost += 2
		}
		if (kindOf(x.remote) == ip4) != (dialed == ip4) {
			cost++
		}
		if best < 0 || cost < least {
			best, least = i, cost
		}
	}
	if best < 0 {
		return false
	}
	x := &p.pairs[best]
	x.taken = true
	p.count(covers(x.c), x.remote)
	p.add(x, true, x.way)
	return true
}

func (p *planner) add(x *pair, chosen bool, why string) {
	p.out = append(p.out, Candidate{Path{x.c.Host(), x.remote}, x.c.String(), x.c.Speed, chosen, why})
}

// repeat uses paths again until there are as many lanes as are wanted.
func (p *planner) repeat() {
	for i, n := 0, len(p.out); n > 0 && p.Want > 0 && p.room(); i++ {
		c := p.out[i%n]
		c.Reason = "once more: more lanes are wanted than there are ways"
		p.out = append(p.out, c)
	}
}

// rest says why not.
func (p *planner) rest() {
	for i := range p.pairs {
		switch x := &p.pairs[i]; {
		case x.taken:
		case x.reason != "":
			p.add(x, false, x.reason)
		case !p.room():
			p.add(x, false, "there are as many lanes as may be")
		case p.again(x) && p.uses(x.remote) == 0:
			p.add(x, false, "the interface has a lane already, to an address of another kind")
		default:
			p.add(x, false, "both ends have a lane already")
		}
	}
	for _, c := range Usable(p.View) {
		why := c.Reason
		if why == "" && c.has(Loopback) && !p.Here(p.Dialed) {
			why = c.Name + " leads to this host only"
		}
		if why != "" {
			p.out = append(p.out, Candidate{Path{Local: c.Host()}, c.String(), c.Speed, false, why})
		}
	}
}
