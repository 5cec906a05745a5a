package fault_test

import (
	"testing"
	"time"

	"github.com/openbraid/braid/fault"
)

// TestAdapter: what rules do to an adapter, which whoever posts to it has to ask for. It outlives its cuts, and a pause that held something back counts that.
func TestAdapter(t *testing.T) {
	now := time.Duration(1)
	inj := fault.New(func() time.Duration { return now })
	l := inj.Adapter("10.0.0.1")
	defer l.Close()
	for _, c := range []struct {
		rule string
		want fault.Held
	}{
		{"cut kind=reset for=1ms", fault.Held{Reset: true}},
		{"cut kind=silence for=1ms on=verbs", fault.Held{Tx: true, Rx: true, Hidden: true}},
		{"cut kind=silence dir=rx for=1ms rail=10.0.0.1", fault.Held{Rx: true}},
		{"pause dir=tx for=1ms lane=0", fault.Held{Tx: true, Hidden: true}},
		{"pause for=1ms on=rc", fault.Held{}},
		{"cut kind=reset for=1ms rail=10.0.0.2", fault.Held{}},
	} {
		r, err := fault.Parse(c.rule)
		if err != nil {
			t.Fatal(err)
		}
		b := inj.Apply(r)
		if got := l.Held(); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.rule, got, c.want)
		}
		l.Stopped()
		hits := inj.Given(b)[0].Hits
		if paused := r.Action == fault.Pause && c.want.Tx; paused != (hits == 1) && r.Action == fault.Pause {
			t.Errorf("%s: %d hits", c.rule, hits)
		}
		now += time.Millisecond
		if got := l.Held(); got != (fault.Held{}) {
			t.Errorf("%s: it is over, and %+v", c.rule, got)
		}
	}
}
