package paths

import (
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/openbraid/braid/internal/health"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/timer"
	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/transport"
)

// Ground is what the sets of one worker share.
type Ground struct {
	View   topo.View // of this host's rails
	Views  uint64    // how many there were
	Turns  *timer.Set
	Now    func() time.Duration
	Rand   func() uint64
	Ifaces []transport.Iface // all, that of the network first
	Near   []transport.Iface // of them, those that lead to other processes of this host only

	Most, Want           int           // lanes per endpoint; Want 0: one for each interface that reaches the peer
	Handshake            time.Duration // of an attempt
	DialWait             time.Duration // of a dial for the lanes after the first
	RedialMin, RedialMax time.Duration
	RedialFor            time.Duration // how long a path without a lane is dialed, while there is another lane; 0: for ever
	Log                  *slog.Logger
}

// Host is the endpoint whose paths they are.
type Host interface {
	// Attempt opens a lane on the path; it calls Path.Began if that could be begun, else Retry.
	Attempt(p *Path)
	// Stranded says that there is no lane at all.
	Stranded() bool
	// GivenUp hears that the path is not dialed any more.
	GivenUp(p *Path)
}

// Path is where one lane runs, or should.
type Path struct {
	topo.Path
	Iface  transport.Iface
	Index  int
	Reason error         // why its first attempt failed
	Wait   time.Duration // before the attempt that is under way

	settled bool // its first attempt came to an end, good or bad
	proven  bool // the peer has answered on it
	near    bool // within this host: no matter of rails
	busy    bool // it has a lane, or one is being opened
	view    uint64
	redial  *timer.Timer
	backoff health.Backoff
	late    int           // attempts in a row on which the peer was not heard in time, though they stood
	since   time.Duration // when its lane was lost, or did not come; 0: it has one, or never was tried
	gaveUp  bool          // it is not dialed any more
}

// Began: an attempt is under way.
func (p *Path) Began() { p.busy = true }

// Failed: an attempt came to nothing. stood: its connection did, and the peer has not answered on it in time.
func (p *Path) Failed(why error, stood bool) {
	p.settled, p.busy, p.Reason = true, false, why
	if p.late++; !stood {
		p.late = 0
	}
}

// CameUp: it has a lane.
func (p *Path) CameUp() {
	p.settled, p.proven, p.Reason, p.since, p.late = true, true, nil, 0, 0
}

// Lost: it has no lane any more. life is how long that was up.
func (p *Path) Lost(life time.Duration) {
	p.busy = false
	p.backoff.Lived(life)
}

// Proven says whether the peer has ever answered on it. Else somebody else may have.
func (p *Path) Proven() bool { return p.proven }

// Set is the paths of one endpoint.
type Set struct {
	g     *Ground
	host  Host
	iface transport.Iface // of the network

	all  []*Path
	ways []*Path // for the first lane, not tried yet
	made int
	why  []error // ways for the first lane led nowhere

	began      time.Duration
	share      int // how many ways there were: each has its share of the time
	dialed     string
	told       []string
	near       []string // told, within this host
	ever       []string // told at any time: what may be left when all else is gone
	translated bool

	mayBeNear bool
	plan      []topo.Candidate
}

// Ways are the paths on which a first lane to one of the addresses is tried: without a network where own knows one, then as topo says.
//
// Errors: topo's, if there is none.
func Ways(g *Ground, iface transport.Iface, own func(addr string) *Path, addrs []string) (ways []*Path, err error) {
	var others []string
	for _, addr := range addrs {
		if p := own(addr); p != nil {
			ways = append(ways, p)
		} else {
			others = append(others, addr)
		}
	}
	if len(others) == 0 {
		return ways, nil
	}
	all, err := topo.Dials(g.View, others)
	for _, c := range all {
		if c.Chosen {
			ways = append(ways, &Path{Path: c.Path, Iface: iface})
		}
	}
	if len(ways) > 0 {
		err = nil
	}
	return ways, err
}

// Begin makes the set of an endpoint that dials: on one of the ways, the first that leads to the peer.
func Begin(g *Ground, host Host, ways []*Path) *Set {
	return &Set{g: g, host: host, ways: ways, share: len(ways), began: g.Now()}
}

// Next is the next way to be tried for the first lane, nil if there is none.
func (s *Set) Next() *Path {
	if len(s.ways) == 0 {
		return nil
	}
	p := s.ways[0]
	s.ways = s.ways[1:]
	p.view = s.g.Views
	s.all, s.made, s.dialed, s.iface = []*Path{p}, 1, p.Remote, p.Iface
	return p
}

// leastShare of the time for a dial is what each of several ways has.
const leastShare = 300 * time.Millisecond

// Limit is how long an attempt on a path may take: a way that leads nowhere must not keep others from being tried, nor a
// path that has healed. But where connections come to stand and the peer is not heard, he is slow, as on a busy host: then each attempt has twice as
// long as the one before, or none would ever be long enough. first: it is for the endpoint's first lane.
func (s *Set) Limit(p *Path, first bool) time.Duration {
	g := s.g
	if first {
		left := s.began + g.Handshake - g.Now()
		return min(g.Handshake, max(min(left, g.Handshake/time.Duration(s.share)), leastShare))
	}
	if !p.settled { // a dial may be waiting for it
		return min(g.Handshake, max(10*g.RedialMin, g.DialWait))
	}
	return min(g.Handshake, max(10*g.RedialMin<<min(p.late, mostLate), 4*p.Wait))
}

// mostLate doublings make hours of any time.
const mostLate = 16

// mostAgain is the longest wait before a listener that hung up is tried again.
const mostAgain = 500 * time.Millisecond

// Again says whether a way is to be tried once more, and after which wait: the listener hung up without a word. It does so if more dial it than it lets wait;
// they come back at different times, for as long as a dial may take.
func (s *Set) Again(p *Path) (wait time.Duration, ok bool) {
	if p.backoff.Min == 0 {
		p.backoff = health.Backoff{Min: s.g.RedialMin, Max: mostAgain}
	}
	wait = p.backoff.Next(s.g.Rand())
	return wait, s.g.Now()+wait < s.began+s.g.Handshake
}

// Answered: the first lane is up, and the peer has said where it listens. near: lanes within this host may be added. Where a lost
// lane is the end, one more is one more that can be lost.
func (s *Set) Answered(told []string, near bool) {
	s.mayBeNear = near
	told = s.hear(told)
	s.translated = topo.Translated(s.dialed, told)
	s.take(topo.Dialable(s.dialed, told))
	s.Replan()
}

// Heard takes where the peer listens now.
func (s *Set) Heard(told []string) {
	was := s.near
	if told = s.hear(told); !slices.Equal(was, s.near) {
		s.openNear()
	}
	if told = topo.Dialable(s.dialed, told); len(told) == 0 || topo.SameAddrs(told, s.told) {
		return
	}
	s.take(told)
	s.Replan()
	s.RedialAll()
}

// mostEver bounds what is remembered of a peer that tells ever new addresses: what it told last stays.
const mostEver = 32

func (s *Set) take(told []string) {
	s.told = told
	for _, a := range told {
		if i := slices.Index(s.ever, a); i >= 0 {
			s.ever = slices.Delete(s.ever, i, i+1)
		} else if len(s.ever) == mostEver {
			s.ever = slices.Delete(s.ever, 0, 1)
		}
		s.ever = append(s.ever, a)
	}
}

// Changed: this host's rails are others than they were.
func (s *Set) Changed(was topo.View) {
	s.Replan()
	s.revive()
	for _, p := range s.all {
		if p.redial.Pending() && was.Came(s.g.View, p.Local) {
			s.g.Turns.Set(p.redial, s.g.Now())
		}
	}
}

// Pin notes on which rail the system has put a path's lane.
func (s *Set) Pin(p *Path, local string) {
	if p.Local == "" && !p.near {
		p.Local = s.g.View.Pin(local, p.Remote)
	}
}

// Replan asks which lanes there should be, and has those opened that there aren't. Those that stand are left alone.
func (s *Set) Replan() {
	if len(s.all) == 0 || s.iface.Attr().Local {
		return // a lane without a network is all there is, and it does not fail
	}
	g := s.g
	q := topo.Query{View: g.View, Dialed: s.dialed, Told: s.told, Translated: s.translated, Most: g.Most, Want: g.Want}
	if q.Want > 0 {
		q.Want = max(1, q.Want-len(s.near))
	}
	if q.Spare = s.host.Stranded(); q.Spare { // nobody can tell that an address is back
		q.Told = s.ever
	}
	for _, p := range s.all {
		if p.busy && !p.near {
			q.Standing = append(q.Standing, p.Path)
		}
	}
	s.plan = topo.Plan(q)
	var want []topo.Path
	for _, c := range s.plan[len(q.Standing):] {
		if c.Chosen {
			want = append(want, c.Path)
		}
	}
	s.keep(&want, len(want)+len(q.Standing) > 0)
	for _, t := range want {
		p := &Path{Path: t, Iface: s.iface, Index: s.made, view: g.Views}
		s.made++
		s.all = append(s.all, p)
		s.host.Attempt(p)
	}
	s.openNear()
}

// keep takes the paths that there are out of what is wanted, and forgets those that are not. some: there is a plan at all.
func (s *Set) keep(want *[]topo.Path, some bool) {
	var all []*Path
	for _, p := range s.all {
		i := slices.Index(*want, p.Path)
		switch {
		case p.busy, p.near:
		case i >= 0:
			*want = slices.Delete(*want, i, i+1)
			p.view = s.g.Views
		case some:
			s.g.Turns.Stop(p.redial)
			continue
		}
		all = append(all, p)
	}
	s.all = all
}

// Retry gives a path without a lane another attempt, later each time that it fails.
func (s *Set) Retry(p *Path) {
	g := s.g
	p.busy = false
	if p.redial == nil {
		p.redial = timer.New(func() { s.redial(p) })
		p.backoff = health.Backoff{Min: g.RedialMin, Max: g.RedialMax}
	}
	if p.since == 0 {
		p.since = g.Now()
	}
	left := p.since + g.RedialFor - g.Now()
	bounded := g.RedialFor > 0 && !s.host.Stranded()
	switch {
	case p.redial.Pending():
		return
	case bounded && left <= 0:
		p.gaveUp = true
		g.Log.Warn("a lane is given up: it is not dialed any more while another one carries on", "path", p.String(), "after", g.RedialFor, "setting", "redial-for")
		s.host.GivenUp(p)
		return
	}
	p.Wait = p.backoff.Next(g.Rand())
	if bounded {
		p.Wait = min(p.Wait, left) // once more when its time is over
	}
	g.Turns.Set(p.redial, g.Now()+p.Wait)
	if s.host.Stranded() {
		s.revive()
	}
}

// revive has those dialed again that were given up: something is new.
func (s *Set) revive() {
	for _, p := range s.all {
		if p.gaveUp {
			p.gaveUp, p.since = false, s.g.Now()
			s.g.Turns.Set(p.redial, s.g.Now())
		}
	}
}

func (s *Set) redial(p *Path) {
	if p.view != s.g.Views {
		s.Replan()
	} else if p.near {
		s.openNear()
	}
	if !p.busy && !p.redial.Pending() && slices.Contains(s.all, p) {
		s.host.Attempt(p)
	}
}

// RedialAll dials at once what waits to be, or was given up.
func (s *Set) RedialAll() {
	s.revive()
	for _, p := range s.all {
		if p.redial.Pending() {
			s.g.Turns.Set(p.redial, s.g.Now())
		}
	}
}

// Tried notes that a way for the first lane led nowhere, Why says of all of them why.
func (s *Set) Tried(p *Path) {
	s.why = append(s.why, &outcome.LaneError{Lane: p.String(), Err: p.Reason})
}
func (s *Set) Why() error { return errors.Join(s.why...) }

// Settled says whether each path came up once, or did not.
func (s *Set) Settled() bool {
	return !slices.ContainsFunc(s.all, func(p *Path) bool { return !p.settled })
}

// Plan is the last plan.
func (s *Set) Plan() []topo.Candidate { return slices.Clone(s.plan) }

// Stop ends all waiting. The set may be nil.
func (s *Set) Stop() {
	if s == nil {
		return
	}
	for _, p := range s.all {
		s.g.Turns.Stop(p.redial)
	}
}
