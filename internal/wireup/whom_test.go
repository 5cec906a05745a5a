package wireup

import (
	"errors"
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/failover"
	"github.com/openbraid/braid/internal/outcome"
)

func TestWhom(t *testing.T) {
	mine, yours := failover.Identity{Incarnation: 1, Endpoint: 2}, failover.Identity{Incarnation: 3, Endpoint: 4}
	any, one := Whom{}, Whom{Incarnation: 3, Endpoint: 1<<63 | 9}
	if !any.Any() || one.Any() {
		t.Error("any")
	}
	if n := one.Names(failover.Names{Mine: mine}); n.Mine != mine || n.Yours != failover.Identity(one) {
		t.Errorf("the first Hello: %+v", n)
	}
	if n := one.Names(failover.Names{Mine: mine, Yours: yours}); n.Yours != yours {
		t.Errorf("a further one: %+v", n)
	}
	if n := any.Names(failover.Names{Mine: mine}); n.Yours != (failover.Identity{}) {
		t.Errorf("to anybody: %+v", n)
	}
	if err := any.Not(7); !errors.Is(err, errStranger) {
		t.Error(err)
	}
	if err := one.Not(3); !errors.Is(err, outcome.ErrPeerClosed) {
		t.Error(err)
	}
	if err := one.Not(7); !errors.Is(err, outcome.ErrPeerRestarted) {
		t.Error(err)
	}
	const hint = "if the peer was restarted or has closed this worker"
	for _, c := range []struct {
		whom Whom
		why  error
		want bool
	}{{any, errStranger, false}, {one, errStranger, true}, {one, one.Not(7), false}, {one, one.Not(3), false}} {
		if err := c.whom.Undialed(c.why); !errors.Is(err, outcome.ErrDial) || !errors.Is(err, c.why) || strings.Contains(err.Error(), hint) != c.want {
			t.Error(err)
		}
	}
}
