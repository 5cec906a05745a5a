package failover

import "testing"

func TestNames(t *testing.T) {
	me, you := Identity{11, 1}, Identity{22, 5}
	known, fresh := Names{Mine: me, Yours: you}, Names{Mine: me}
	for _, c := range []struct {
		name string
		n    Names
		my   Identity
		want What
	}{
		{"first of an endpoint", fresh, you, HelloArrived},
		{"next lane", known, you, HelloArrived},
		{"from a dead incarnation", known, Identity{21, 5}, StrangerArrived},
		{"from another endpoint of the peer's process", known, Identity{22, 4}, StrangerArrived},
		{"of a restarted peer", known, Identity{23, 1}, StrangerArrived},
	} {
		if got := c.n.Hello(c.my); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if known.Restarted(22) || !known.Restarted(23) || fresh.Restarted(23) {
		t.Error("only another incarnation than the known one is a restart")
	}
}
