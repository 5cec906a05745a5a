package verdict

import (
	"fmt"
	"net"
	"slices"
	"sort"
	"time"

	"github.com/openbraid/braid/fault"
)

// Span is a time without any completion.
type Span struct{ From, To time.Duration }

// Run is what is known of a run.
type Run struct {
	Rules  []fault.Status
	Events []Event
	Gaps   []Span // the longer ones, in their order
	Least  time.Duration
	Dead   error // why the injector did not live to the end
	Lanes  int   // that were up when it began
	Up     int   // and at the end
	End    time.Duration
	Err    error // of what ran
	Lost   bool  // that it says that the peer is gone
	Counts Counts
	Pauses Pauses
}

// Counts are what was found where data arrived.
type Counts struct {
	Verified                           bool
	Lost, Doubled, Corrupt, OutOfOrder uint64
}

// The verdicts.
const (
	OK       = "ok"
	Broken   = "failover broken"
	NoEffect = "injector had no effect"
	Failed   = "injector failed"
	Died     = "injector died"

	Inconclusive = "inconclusive" // what looks broken may be a process that had no processor
	Interrupted  = "interrupted"  // whoever ran it stopped it: nothing is judged
)

// Verdicts are all that there are. Programs read them, too.
var Verdicts = [...]string{OK, Broken, NoEffect, Failed, Died, Inconclusive, Interrupted}

// Report is the verdict and what it stands on. Its JSON is part of the command's interface.
type Report struct {
	Verdict  string     `json:"verdict"`
	Problems []string   `json:"problems,omitempty"`
	Hits     uint64     `json:"injector_hits"`
	Rules    []Rule     `json:"rules"`
	Cuts     []Cut      `json:"cuts"`
	Blackout *Quantiles `json:"blackout_ms,omitempty"` // from a cut until what was under way on the lane is executed
	Gap      *Quantiles `json:"gap_ms,omitempty"`      // longest time without any completion in the second after a cut or a pause began
	Replayed uint64     `json:"replayed_bytes"`        // all together
	Needed   uint64     `json:"needed_bytes"`          // that the peer lacked
	Idle     int        `json:"idle_cuts"`             // silences of lanes on which nothing was under way: found by the keepalive, and in no quantile
	Worst    *Pauses    `json:"worst_pauses_ms,omitempty"`
	Gone     *Gone      `json:"peer_gone,omitempty"` // after "kill peer"
}

// Gone is what became of a peer that was killed, or stopped without an end: how long from then until a lane was given up, and the endpoint. -1: never.
type Gone struct {
	NoticedMS float64 `json:"noticed_ms"`
	FailedMS  float64 `json:"failed_ms"`
}

// Rule is what became of one.
type Rule struct {
	Rule   string `json:"rule"`
	Times  int    `json:"times"`
	Hits   uint64 `json:"hits"`
	Error  string `json:"error,omitempty"`
	InSecs Secs   `json:"in_force_s"`
}

// Secs is a number of seconds.
type Secs float64

// Cut is one lane that was cut, as braid demo reports it.
type Cut struct {
	Lane       int     `json:"lane"`
	Name       string  `json:"name"`
	Kind       string  `json:"kind"`
	At         float64 `json:"at_s"`
	BlackoutMS float64 `json:"blackout_ms"` // -1: never
	GapMS      float64 `json:"gap_ms"`
	Replayed   uint64  `json:"replayed_bytes"`
	Needed     uint64  `json:"needed_bytes"`
	Idle       bool    `json:"idle,omitempty"`
}

// Quantiles are in milliseconds.
type Quantiles struct {
	N   int     `json:"n"`
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Pauses are the longest during the worst blackout: of the garbage collector, and of a goroutine that only wanted to run each millisecond.
type Pauses struct {
	GC   float64 `json:"gc"`
	Host float64 `json:"host"`

	At   func(from, to time.Duration) (gc, host time.Duration) `json:"-"`
	Peer func(from, to time.Duration) time.Duration            `json:"-"` // nil: nobody knows the peer's process
}

// Judge judges.
func Judge(r *Run) *Report {
	j := &judge{Run: r, rep: &Report{Cuts: []Cut{}}}
	j.injector()
	j.cuts()
	j.gone()
	j.lanes()
	j.data()
	j.figures()
	j.conclude()
	return j.rep
}

// Sum says what the rules of a run did that was stopped, and what the cuts cost, without any judgement.
func Sum(r *Run) *Report {
	j := &judge{Run: r, rep: &Report{Cuts: []Cut{}}}
	j.injector()
	j.cuts()
	j.gone()
	j.figures()
	j.rep.Verdict, j.rep.Problems = Interrupted, nil
	return j.rep
}

type judge struct {
	*Run
	rep    *Report
	silent []string // rules without effect
	failed []string
	killed time.Duration // when the peer was; 0: never
	doubts int           // problems that may be the machine's
}

func (j *judge) problem(format string, args ...any) {
	j.rep.Problems = append(j.rep.Problems, fmt.Sprintf(format, args...))
}

// injector looks what the rules did.
func (j *judge) injector() {
	for _, s := range j.Rules {
		x := Rule{Rule: s.String(), Times: len(s.Strokes), Hits: s.Hits}
		for _, k := range s.Strokes {
			end := k.End
			if end == 0 {
				end = j.End
			}
			x.InSecs += Secs((end - k.At).Seconds())
		}
		switch {
		case s.Err != nil:
			x.Error = s.Err.Error()
			j.failed = append(j.failed, fmt.Sprintf("%v: %v", s.Rule, s.Err))
		case s.Hits == 0:
			why := "it was in force and hit nothing"
			if len(s.Strokes) == 0 {
				why = "it never came into force"
			}
			j.silent = append(j.silent, fmt.Sprintf("%v: %s", s.Rule, why))
		case s.TakesPeer() && (!s.Stop || s.InForce):
			j.killed = s.At
		}
		j.rep.Hits += s.Hits
		j.rep.Rules = append(j.rep.Rules, x)
	}
	if len(j.Rules) == 0 {
		j.silent = append(j.silent, "there was no rule")
	}
}

// find is the first event of a kind that fits.
func (j *judge) find(kind string, fits func(e *Event) bool) *Event {
	for i := range j.Events {
		if e := &j.Events[i]; e.Event == kind && fits(e) {
			return e
		}
	}
	return nil
}

// is says whether an event is about a connection that a rule hit.
func is(e *Event, h fault.Hit) bool {
	if h.On == "rc" {
		return hostOf(e.Local) == hostOf(h.Local)
	}
	return e.Local == h.Local && e.Remote == h.Remote
}

func hostOf(addr string) string {
	if h, _, err := net.SplitHostPort(addr); err == nil {
		return h
	}
	return addr
}

// cuts finds out what each cut did to the lanes that stood.
func (j *judge) cuts() {
	for _, s := range j.Rules {
		if s.Action == fault.Iface {
			j.unplugged(&s)
		}
		if s.Action != fault.Cut {
			continue
		}
		for _, k := range s.Strokes {
			for _, h := range k.Hit {
				if up := j.standing(h, k.At); up != nil {
					j.cut(&s, k, h, up)
				}
			}
			j.moved(&s, k)
		}
	}
}

// standing is the birth of the lane that a hit found, nil if there was none: a connection that was still being made.
func (j *judge) standing(h fault.Hit, at time.Duration) (up *Event) {
	for i := range j.Events {
		e := &j.Events[i]
		switch {
		case e.At > at || !is(e, h):
		case e.Event == LaneUp:
			up = e
		case e.Event == LaneDown && up != nil && e.Instance == up.Instance:
			up = nil
		}
	}
	return up
}

func (j *judge) cut(s *fault.Status, k fault.Stroke, h fault.Hit, up *Event) {
	x := Cut{Lane: h.Slot, Name: up.Name, Kind: kindOf(s), At: up.T + (k.At - up.At).Seconds(), BlackoutMS: -1, GapMS: ms(j.gap(k.At, k.At+time.Second))}
	of := func(e *Event) bool { return e.Instance == up.Instance }
	down, over := j.find(LaneDown, of), j.find(HandedOver, of)
	switch {
	case j.killed > 0 && down == nil: // the peer's death may have come first
		return
	case h.On == "rc" && (down == nil || j.cutAgain(up, k.At, down.At)): // datagrams go again when the rule is over, and the device asks for what is lacking
		return
	case down == nil:
		j.problem("lane %d (%s) was cut by %v and not given up", h.Slot, up.Name, s.Kind)
	case over == nil && j.killed == 0:
		j.doubt(k.At, j.End, stalled, "lane %d (%s) was cut by %v, given up and not handed over", h.Slot, up.Name, x.Kind)
	case over != nil:
		x.BlackoutMS = ms(over.At - k.At)
		x.Replayed = over.Replayed
		switch {
		case over.Posted < over.PeerAccepted:
			j.problem("lane %d (%s): the peer accepted %d bytes of %d that were posted", h.Slot, up.Name, over.PeerAccepted, over.Posted)
		case over.Replayed != over.Posted-over.PeerAccepted: // of a put that is done twice in a row nothing else shows
			j.problem("lane %d (%s): %d bytes were posted again, and the peer lacked %d", h.Slot, up.Name, over.Replayed, over.Posted-over.PeerAccepted)
			fallthrough
		default:
			x.Needed = over.Posted - over.PeerAccepted
		}
		x.Idle = (s.Kind == fault.Silence || s.Action == fault.Iface) && x.Needed == 0 && x.Replayed == 0 && down.Posted == down.Acked
	}
	j.rep.Cuts = append(j.rep.Cuts, x)
}

// cutAgain says whether a lane that outlived a cut was cut another time before it went down: then it is that one's.
func (j *judge) cutAgain(up *Event, after, until time.Duration) bool {
	for _, s := range j.Rules {
		for _, k := range s.Strokes {
			if s.Action == fault.Cut && k.At > after && k.At <= until && slices.ContainsFunc(k.Hit, func(h fault.Hit) bool { return is(up, h) }) {
				return true
			}
		}
	}
	return false
}

// gap is the longest time without any completion that ends or begins between two moments.
func (j *judge) gap(from, to time.Duration) (most time.Duration) {
	for _, g := range j.during(from, to) {
		most = max(most, g.To-max(g.From, from))
	}
	return max(most, j.Least)
}

// during are the gaps that are in part between two moments. Of a long run there are millions, and this is asked of each cut.
func (j *judge) during(from, to time.Duration) []Span {
	first := sort.Search(len(j.Gaps), func(i int) bool { return j.Gaps[i].To > from })
	behind := sort.Search(len(j.Gaps), func(i int) bool { return j.Gaps[i].From >= to })
	return j.Gaps[min(first, behind):behind]
}

// least is how long a lane must be away before something must have been completed on others.
const least = 150 * time.Millisecond

// moved: while a lane is cut others carry on.
func (j *judge) moved(s *fault.Status, k fault.Stroke) {
	end := k.End
	if end == 0 {
		end = j.End
	}
	lanes := map[int]bool{}
	for _, h := range k.Hit {
		lanes[h.Slot] = true
	}
	if end-k.At < least || len(lanes) == 0 || !j.left(lanes, k.At, end) || s.Dir != fault.Both || j.killed > 0 || j.others(s, k.At, end) {
		return
	}
	if s.For > 0 && s.For < least || end-k.At-j.starved(k.At, end) < least {
		return // what was to be short and became long shows a machine that had no time for it
	}
	for _, g := range j.during(k.At, end) {
		if g.From <= k.At && g.To >= end {
			j.problem("nothing was completed in the %v for which %v was in force: the traffic did not move", (end - k.At).Round(time.Millisecond), s.Rule)
		}
	}
}

// left says whether a lane in another slot stood all the time.
func (j *judge) left(but map[int]bool, from, to time.Duration) bool {
	stood := map[string]bool{}
	for i := range j.Events {
		e := &j.Events[i]
		switch {
		case e.Event == LaneUp && e.At <= from && !but[e.Lane]:
			stood[e.Instance] = true
		case e.Event == LaneDown && e.At < to:
			delete(stood, e.Instance)
		}
	}
	return len(stood) > 0
}

// others says whether another rule was in force at that time.
func (j *judge) others(s *fault.Status, from, to time.Duration) bool {
	for i := range j.Rules {
		o := &j.Rules[i]
		if o.Rule == s.Rule {
			continue
		}
		for _, k := range o.Strokes {
			if k.At < to && (k.End == 0 || k.End > from) {
				return true
			}
		}
	}
	return false
}

// lanes: those went down that a rule hit, and no others; all are back.
func (j *judge) lanes() {
	for i := range j.Events {
		if e := &j.Events[i]; e.Event == LaneDown && !j.excused(e) {
			j.doubt(e.At-time.Second, e.At, silent, "lane %d (%s) went down, and no rule was about it: %s", e.Lane, e.Name, e.Error)
		}
	}
	for _, s := range j.Rules {
		for _, k := range s.Strokes {
			// One that was idle meanwhile may not have noticed.
			if s.Action == fault.Iface && s.Hits > 0 && j.find(LaneUp, func(e *Event) bool { return e.Device == s.Device && e.At <= k.At }) == nil {
				j.silent = append(j.silent, fmt.Sprintf("%v: no lane was on it", s.Rule))
				break
			}
		}
	}
	if j.killed == 0 && j.Up < j.Lanes {
		j.doubt(j.End-recent, j.End, stalled, "%d of %d lanes are up at the end", j.Up, j.Lanes)
	}
}

// slack is for how long a rule that is over excuses that a lane goes down: what was late then is noticed now.
const slack = 2 * time.Second

// excused says whether a rule explains that a lane went down.
func (j *judge) excused(e *Event) bool {
	if j.killed > 0 && e.At >= j.killed {
		return true
	}
	for _, s := range j.Rules {
		for _, k := range s.Strokes {
			in := e.At >= k.At && (k.End == 0 || e.At <= k.End+slack)
			switch {
			case s.Action == fault.Kill && s.Hits > 0 && in:
				return true
			case s.Action == fault.Iface && in && (e.Device == s.Device || e.Device == ""):
				return true
			}
			for _, h := range k.Hit {
				if is(e, h) && (in || s.Action == fault.Cut && e.At >= k.At) {
					return true
				}
			}
			// What came up while it was in force was hit, too.
			if in && s.Action != fault.Cut && (s.Lane == "" || s.Lane == fmt.Sprint(e.Lane) || s.Lane == e.Device) {
				return true
			}
		}
	}
	return false
}

// data: nothing lost, doubled, spoiled, or out of order, and an end as it should be.
func (j *judge) data() {
	c := j.Counts
	if !c.Verified && j.Err == nil {
		j.problem("nobody looked at the data")
	}
	for _, x := range []struct {
		n    uint64
		what string
	}{{c.Lost, "were lost"}, {c.Doubled, "were executed twice"}, {c.Corrupt, "have other bytes"}, {c.OutOfOrder, "are out of order"}} {
		if x.n > 0 {
			j.problem("%d operations %s", x.n, x.what)
		}
	}
	switch {
	case j.killed > 0 && j.Err == nil:
		j.problem("the peer was killed, and nobody noticed")
	case j.killed > 0 && !j.Lost:
		j.problem("the peer was killed, and the run ended with something else: %v", j.Err)
	case j.killed == 0 && j.Lost:
		j.doubt(j.End-recent, j.End, stalled, "the run broke off: %v", j.Err)
	case j.killed == 0 && j.Err != nil:
		j.problem("the run broke off: %v", j.Err)
	}
}

// conclude says what it was. What an injector did not do proves nothing.
func (j *judge) conclude() {
	r := j.rep
	switch {
	case j.Dead != nil:
		r.Verdict = Died
		r.Problems = append([]string{fmt.Sprintf("the injector died: %v", j.Dead)}, r.Problems...)
	case len(j.failed) > 0:
		r.Verdict = Failed
		r.Problems = append(j.failed, r.Problems...)
	case len(j.silent) > 0:
		r.Verdict = NoEffect
		r.Problems = append(j.silent, r.Problems...)
	case len(r.Problems) > 0 && j.doubts == len(r.Problems):
		r.Verdict = Inconclusive
	case len(r.Problems) > 0:
		r.Verdict = Broken
	default:
		r.Verdict = OK
	}
}
