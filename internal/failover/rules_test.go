package failover

import (
	"hash/maphash"
	"strings"
	"testing"
)

// rule is one of those that keep the dialogue right. R7 costs only time; R15 and R16 have tests of their own.
type rule uint8

const (
	everyRule rule = iota
	rule1
	rule2
	rule3
	visibleClose // R3: a quiesced lane is closed, so that the peer notices
	rule4
	rule5
	rule6
	carried // R6: by the lane that carried the last frame, and not only when a lane comes up
	rule8
	rule9
	rule9Proof // R9: only the answer to an own HELLO is a proof
	rule10
	rule11
	rule12
	rule13
	rule14
	executedIsAnswered // R14: "executed" is acknowledged, and not that the reply is in
)

// breaks takes the rule out of the machines. Those that are the engine's are looked at where it acts.
func (w rule) breaks(ms []*Machine) {
	for _, m := range ms {
		broken := *m.life
		ignore := cell{"drop", func(*Machine, *record, *Event) {}}
		switch w {
		case rule2:
			broken[Broke][Opening] = cell{"forget", (*Machine).end}
		case rule5:
			answer := cell{"answer and forget", func(m *Machine, r *record, e *Event) {
				if r.state == Up || r.state == Opening {
					m.lose(r, e.Own)
					m.wentDown(e)
				}
				m.asked(r, e)
				m.end(r, e)
			}}
			broken[LostArrived][Up], broken[LostArrived][Asking] = answer, answer
		case rule6:
			broken[carrierLost][Asking], broken[carrierLost][Telling] = ignore, ignore
			broken[turnCame][Asking], broken[turnCame][Telling] = ignore, ignore
		case carried:
			broken[carrierLost][Asking], broken[carrierLost][Telling] = ignore, ignore
		case rule8:
			broken[HelloArrived][Absent] = cell{"up", func(m *Machine, r *record, e *Event) {
				m.seen = watermark{}
				m.hello(r, e)
			}}
		case everyRule, rule1, rule3, visibleClose, rule4, rule9, rule9Proof, rule10, rule11, rule12, rule13, rule14, executedIsAnswered:
			continue
		}
		m.life = &broken
	}
}

// lax says that what is checked of the machine's books presumes the rule that isn't kept.
func (r *runner) lax() bool { return r.cfg.without == rule2 || r.cfg.without == rule5 }

// TestEachRule: in the same small world everything is right with all rules, and something is wrong without this one.
func TestEachRule(t *testing.T) {
	if raceEnabled {
		t.Skip("one goroutine, and ten times as slow")
	}
	one := [2]uint8{1, 0}
	states := 0
	for _, c := range []struct {
		name string
		rule rule
		config
	}{
		{"R1: a lane is named by its index", rule1, config{lanes: 1, ops: "P/", cuts: 2, opens: [2]uint8{2, 0}, limit: 1}},
		{"R2: an attempt that fails is forgotten", rule2, config{lanes: 1, ops: "/P", cuts: 1, opens: one, limit: 2}},
		{"R3: what arrives after the position was stated is executed", rule3, config{lanes: 2, ops: "P/", doubts: 1, limit: 2}},
		{"R3: a quiesced lane stays open", visibleClose, config{lanes: 2, ops: "P/", doubts: 2, limit: 2}},
		{"R4: nobody is told", rule4, config{lanes: 2, ops: "P/", cuts: 1, limit: 2}},
		{"R5: the record ends with the answer", rule5, config{lanes: 3, ops: "P/", cuts: 2, limit: 3}},
		{"R6: what went down with its lane is not said again", rule6, config{lanes: 3, cuts: 2, limit: 3}},
		{"R6: only what had no lane is said when one comes up", carried, config{lanes: 3, cuts: 2, limit: 3}},
		{"R8: any HELLO is let in", rule8, config{lanes: 1, doubts: 1, opens: one, limit: 2}},
		{"R9: whoever is there is the peer", rule9, config{lanes: 1, ops: "P/", restarts: 1, opens: one, limit: 1}},
		{"R9: a HELLO of long ago is a proof", rule9Proof, config{lanes: 1, ops: "P/", late: true, limit: 1}},
		{"R10: each message takes any lane", rule10, config{lanes: 2, ops: "MM/", cuts: 1, limit: 2, acks: true}},
		{"R11: a message is closed before its fragments are there", rule11, config{lanes: 2, ops: "fcM/", cuts: 1, limit: 2, acks: true}},
		{"R12: what is on no lane is not counted", rule12, config{lanes: 2, ops: "P|M/", cuts: 1, limit: 2, acks: true}},
		{"R13: replays go behind what waits", rule13, config{lanes: 2, ops: "P|P/", cuts: 1, limit: 2, acks: true}},
		{"R14: a fetch's reply has no room", rule14, config{lanes: 1, ops: "FF", ring: 2, credits: 2, limit: 1, acks: true}},
		{"R14: a fetch is executed when it is answered", executedIsAnswered, config{lanes: 1, ops: "F|P", credits: 2, limit: 1, acks: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, err := explore(c.config, 2_000_000)
			if err != nil {
				t.Fatalf("with all rules: %v\n%s", err, story(c.config, x.path))
			}
			states += x.states
			c.without = c.rule
			y, err := explore(c.config, 2_000_000)
			if err == nil || err == errTooMany {
				t.Fatalf("nothing is wrong without it in %d states: %v", y.states, err)
			}
			states += y.states
			t.Logf("%7d states with it; without it, after %d steps: %s", x.states, len(y.path), strings.SplitN(err.Error(), "\n", 2)[0])
		})
	}
	t.Logf("%d states", states)
}

// explore searches all of a small world.
func explore(cfg config, most int) (*search, error) {
	x := newSearch(cfg, most)
	return x, x.visit(x.key())
}

func newSearch(cfg config, most int) *search {
	x := &search{r: newRunner(cfg), hash: maphash.MakeSeed(), max: most}
	x.r.tidied = true
	return x
}
