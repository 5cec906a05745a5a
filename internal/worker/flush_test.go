package worker_test

import (
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/wire"
)

// inOrder looks for what a log must have, each behind the one before.
func inOrder(t *testing.T, log string, want []string) {
	t.Helper()
	rest := log
	for _, w := range want {
		_, behind, ok := strings.Cut(rest, w)
		if !ok {
			t.Fatalf("%q is missing, or not in its place:\n%s", w, log)
		}
		rest = behind
	}
}

// flushCase is a story in the words of the stage, what must be told in this order, and what never.
type flushCase struct {
	name  string
	lanes int
	do    string
	want  []string
	never string
}

var flushCases = []flushCase{
	{"lane replaced, nothing of the flush on it", 2, "put a 0; flush a f; break d2 reset; settle",
		[]string{"written 8 bytes at 0", "a: f ended: <nil>"}, ""},
	{"lane replaced after its operations were posted", 1, "put a 0; break d1 reset; flush a f; settle",
		[]string{"LaneUp d2", "written 8 bytes at 0", "a: f ended: <nil>"}, ""},
	{"lane replaced, its frames executed and not acknowledged", 1, "put a 0; send a; time 10us; turn b; break d1 reset; flush a f; settle",
		[]string{"written 8 bytes at 0", "LaneUp d2", "a: f ended: <nil>"}, ""},
	{"lane replaced while others are in progress", 2, "rate 100; put2 a 0; break d1 reset; flush a f; settle",
		[]string{"at 65504", "at 0", "a: f ended: <nil>"}, ""},
	{"lane died, nothing on it", 2, "cut a1 silence; put a 0; flush a f; time 100us; settle",
		[]string{"written 8 bytes at 0", "a: f ended: <nil>"}, ""},
	{"lane added while it runs", 2, "cut a1 reset; settle; rate 1; put2 a 0; put2 a 200000; flush a f; heal a1; settle; settle",
		[]string{"LaneUp d", "at 265504", "a: f ended: <nil>"}, ""},
	{"none selected", 2, "put a 0; flush a f lanes", []string{"a: f ended at once"}, "Put"},
	{"one lane selected, the other silent", 2, "put2 a 0 p; cut a1 silence; flush a f lanes d1; settle",
		[]string{"at 0", "a: f ended: <nil>", "LaneDown d2", "at 65504"}, ""},
	{"the selected lane dies", 2, "rate 100; put2 a 0; flush a f lanes d1; break d1 reset; settle",
		[]string{"LaneDown d1", "at 0", "a: f ended: <nil>"}, ""},
	{"the selected lane dies, and the one that took over", 3, "rate 100; put2 a 0; flush a f lanes d1; break d1 reset; time 100us; turn a; turn b; time 100us; turn a; turn b; break d3 reset; settle",
		[]string{"LaneDown d1", "at 0", "a: f ended: <nil>"}, ""},
	{"the selected lane dies, and the two that took over, and then it is canceled", 3, "break d1 silence out; putz a 0 p; send a; flush a f lanes d1; suspect a d1; turn a; time 100us; turn b; " +
		"break d2 silence out; time 100us; turn a; send a; suspect a d2; turn a; time 100us; turn b; break d3 silence out; time 100us; turn a; send a; cancel a p; suspect a d3; settle",
		[]string{"LOST d3 position=0 have=1", "HandedOver d1", "a: f ended: <nil>", "a: p ended: put b0:7: canceled"}, "written"},
	{"a lane is selected that is gone", 2, "rate 100; put2 a 0; break d1 reset; time 10us; turn a; flush a f lanes d1; settle",
		[]string{"LaneDown d1", "at 0", "a: f ended: <nil>"}, ""},
	{"a lane is selected that never was", 1, "put a 0; flush a f lanes d1 d2; settle", []string{`a: f: flush b0:7: the endpoint has, and had, no such lane: "d2"; there are: d1`}, "f ended at once"},
	{"a lane of the other side is selected that never was", 1, "put a 0; flush b f lanes d1; flush b g lanes d2; settle", []string{"b: f ended at once", "b: g: flush", "there are: d1"}, ""},
	{"a lane is selected that is being opened", 2, "put a 0; break d1 reset; time 10us; turn a; time 100ms; turn a; flush a f lanes d3; lanes; settle", []string{"a: f ended at once", "d3 opening", "written 8 bytes at 0"}, ""},
	{"one region selected, a message waits for a lane", 2, "put a 0; cut a0 silence; am a; am a; flush a f memory; settle",
		[]string{"a: f ended: <nil>"}, ""},
	{"one region selected, a change of it is posted again", 2, "break d1 silence out; add a; send a; suspect a d1; turn a; time 100us; turn b; time 100us; turn a; flush a f memory; settle",
		[]string{"LOST d1 position=0 have=1", "written 8 bytes at 0", "a: f ended: <nil>"}, ""},
	{"a fetch is executed, and its value is lost with its lane", 2, "fadd a v; send a; break d1 silence in; time 100us; turn b; flush a f; suspect a d1; settle",
		[]string{"written 8 bytes at 0", "LOST d1 position=1 have=1", "GetData", "a: f ended: <nil>"}, ""},
	{"a fetch is executed, and its value is not here", 1, "fadd a v; send a; time 100us; turn b; flush a f; settle",
		[]string{"written 8 bytes at 0", "GetData", "a: f ended: <nil>", "a: v ended: <nil>, it was 0"}, ""},
	{"sent: it ends with the last buffer", 1, "putz a 0 e; flush a f sent; settle",
		[]string{"a: e ended: <nil>", "a: f ended: <nil>"}, ""},
	{"sent, of a lane that is gone: nothing is waited for that has no buffer", 2, "put a 0; break d1 reset; time 10us; turn a; flush a f sent d1",
		[]string{"LaneDown d1", "a: f ended at once"}, ""},
	{"one region selected, and a lane that is gone: a message is not waited for", 2, "am a; break d1 reset; time 10us; turn a; flush a f memory d1",
		[]string{"LaneDown d1", "a: f ended at once"}, ""},
	{"canceled: what waits ends, what is on lanes is waited for", 2, "put2 a 0; fence a; put a 200000 p; am a m; flush a f cancel; settle",
		[]string{"a: m ended: am b0:7: canceled", "a: p ended: put b0:7: canceled", "a: f ended: <nil>"}, "at 200000"},
	{"of the worker", 2, "put2 a 0; break d1 reset; wflush a f; settle", []string{"at 0", "a: f ended: <nil>"}, ""},
	{"posted behind a fence", 2, "put2 a 0; fence a; am a m; flush a f; break d2 reset; settle", []string{"at 65504", "handled message 0", "a: f ended: <nil>"}, ""},
}

// What a flush waits for while lanes change under it. UCX counts lanes here and needs a rule for each row (ucp_ep_flush_progress);
// a flush that counts operations needs none, and must end as if it had.
func TestFlushWhileLanesChange(t *testing.T) {
	for _, c := range flushCases {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, c.lanes, wire.ModeFailover)
			for _, line := range strings.Split(c.do, ";") {
				s.do(t, strings.Fields(line))
			}
			log := s.log.String()
			inOrder(t, log, c.want)
			if c.never != "" && strings.Contains(log, c.never) {
				t.Fatalf("%q must not be there:\n%s", c.never, log)
			}
			s.do(t, []string{"settle"})
			for _, a := range []*actor{s.a, s.b} {
				if err := a.ep.Idle(); err != nil {
					t.Errorf("%s: %v", a.name, err)
				}
			}
		})
	}
}
