package failover

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/openbraid/braid/internal/wire"
)

// TestScripts plays the dialogues in testdata/scripts. The commands, with d or a for a side and d1, a2, … for an instance:
//
//	world lanes=N ops=N|program=P [window=N] [replies] [acks] [confirm]   a new world, in which each side has ops operations to post, or these
//	post SIDE INSTANCE                     the side posts its next operation there
//	take SIDE INSTANCE [n=N]               the side takes N frames (1) that came there
//	cut INSTANCE [from=SIDE]               it breaks, both directions or what one side sends
//	lose SIDE INSTANCE                     what is on its way to the side there never arrives
//	broke|drop SIDE INSTANCE               the side finds it broken, or destroys it
//	open SIDE                              the side opens an instance
//	event SIDE WHAT INSTANCE [on=INSTANCE] [pos=N] [own=N] [have] [echo] [restarted] [unconfirmed]   any event
//	run                                    whatever happens by itself, until nothing does
//	dump                                   who waits for what
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		s := &script{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return s.run(t, d)
		})
	})
}

type script struct {
	r   *runner
	out strings.Builder
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	s.out.Reset()
	if d.Cmd == "world" {
		cfg := config{acks: d.HasArg("acks"), confirm: d.HasArg("confirm"), limit: maxInst}
		d.MaybeScanArgs(t, "lanes", &cfg.lanes)
		n, kind := 0, "P"
		if d.HasArg("replies") {
			kind = "F"
		}
		d.MaybeScanArgs(t, "ops", &n)
		cfg.ops = strings.Repeat(kind, n)
		d.MaybeScanArgs(t, "program", &cfg.ops)
		d.MaybeScanArgs(t, "window", &cfg.window)
		cfg.opens = [2]uint8{3, 3}
		s.r = newRunner(cfg)
		s.r.log = func(format string, a ...any) { fmt.Fprintf(&s.out, format+"\n", a...) }
		return ""
	}
	side, id := 0, none
	for _, a := range d.CmdArgs {
		switch {
		case a.Key == "d" || a.Key == "a":
			side = strings.Index("da", a.Key)
		case len(a.Vals) == 0 && len(a.Key) > 1 && a.Key[1] >= '0' && a.Key[1] <= '9':
			id = parseID(t, a.Key)
		}
	}
	s.command(t, d, side, id)
	if err := s.r.fail; err != nil {
		fmt.Fprintf(&s.out, "VIOLATION: %v\n", err)
		s.r.fail = nil
	}
	return s.out.String()
}

func (s *script) command(t *testing.T, d *datadriven.TestData, side int, id wire.Instance) {
	r := s.r
	i := uint8(0)
	if id != none {
		i = r.index(id)
	}
	switch d.Cmd {
	case "post":
		for q := range queues {
			if w := &r.node[side].queue[q]; w.n > 0 && r.mayPost(side, w.ops[0], i) {
				r.post(side, i, uint8(q))
				return
			}
		}
		r.tracef("nothing may be posted on %s", id)
	case "take":
		n := 1
		d.MaybeScanArgs(t, "n", &n)
		for range n {
			r.deliver(side, i)
		}
	case "cut":
		r.cut(t, d, i)
	case "lose":
		r.apply(move{mvLose, uint8(side), i, 0})
	case "broke":
		r.broke(side, i, Broke)
	case "drop":
		r.broke(side, i, Dropped)
	case "open":
		r.open(side)
	case "event":
		r.raw(t, d, side, id)
	case "run":
		r.drain()
	case "dump":
		s.dump()
	default:
		t.Fatalf("%s: no command %q", d.Pos, d.Cmd)
	}
}

func (s *script) dump() {
	for side, m := range s.r.m {
		nd := &s.r.node[side]
		fmt.Fprintf(&s.out, "%s\n  waiting operations %d, those of the peer executed %v\n", m.Dump(), nd.waiting(), nd.ran[:len(s.r.ops[1-side])])
	}
}

func (r *runner) cut(t *testing.T, d *datadriven.TestData, i uint8) {
	from := ""
	d.MaybeScanArgs(t, "from", &from)
	if from == "" {
		r.pipe[0][i].broken, r.pipe[1][i].broken = true, true
		return
	}
	r.pipe[strings.Index("da", from)][i].broken = true
}

// raw gives a machine an event that the peer or the engine has not to do with, and prints the actions.
func (r *runner) raw(t *testing.T, d *datadriven.TestData, side int, id wire.Instance) {
	e := Event{ID: id, What: whats, Have: d.HasArg("have"), Echo: d.HasArg("echo"), Restarted: d.HasArg("restarted"), Unconfirmed: d.HasArg("unconfirmed")}
	for w := range whats {
		if w.String() == d.CmdArgs[1].Key {
			e.What = w
		}
	}
	on := ""
	if d.MaybeScanArgs(t, "on", &on); on != "" {
		e.On = parseID(t, on)
	}
	d.MaybeScanArgs(t, "pos", &e.Position)
	d.MaybeScanArgs(t, "own", &e.Own)
	for _, a := range r.m[side].Step(e) {
		r.tracef("   %s", show(a))
	}
	r.store(side)
}

// drain lets happen what happens by itself.
func (r *runner) drain() {
	for range 500 {
		moves, owed := r.moves(nil)
		k := 0
		for k < owed && moves[k].kind == mvLose {
			k++
		}
		if k == owed {
			if r.settled(); r.fail == nil {
				r.tracef("settled")
			}
			return
		}
		if r.apply(moves[k]); r.fail != nil {
			return
		}
	}
	r.violated("this goes on for ever")
}

func parseID(t *testing.T, s string) wire.Instance {
	n, err := strconv.ParseUint(s[1:], 10, 64)
	side := strings.Index("da", s[:1])
	if err != nil || side < 0 {
		t.Fatalf("not an instance: %q", s)
	}
	return wire.Instance{Opener: wire.Side(side), N: n}
}
