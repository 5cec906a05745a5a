package failover

import "testing"

func TestNames(t *testing.T) {
	me, you := Identity{11, 1}, Identity{22, 5}
	known, fresh := Names{Mine: me, Yours: you}, Names{Mine: me}
	for _, c := range []struct {
		name      string
		n         Names
		my, yours Identity
		want      What
	}{
		{"first of an endpoint", fresh, you, Identity{}, HelloArrived},
		{"first, late: the peer is known", known, you, Identity{}, HelloArrived},
		{"next lane", known, you, me, HelloArrived},
		{"from a dead incarnation", known, Identity{21, 5}, me, StrangerArrived},
		{"from another endpoint of the peer's process", known, Identity{22, 4}, me, StrangerArrived},
		{"first of a restarted peer", known, Identity{23, 1}, Identity{}, StrangerArrived},
		{"for a dead incarnation", known, you, Identity{10, 1}, MisaddressedArrived},
		{"for an endpoint of before in this process", known, you, Identity{11, 0}, MisaddressedArrived},
		{"both wrong", known, Identity{21, 5}, Identity{10, 1}, MisaddressedArrived},
		{"for another, and the peer isn't known", fresh, you, Identity{10, 1}, MisaddressedArrived},
	} {
		if got := c.n.Hello(c.my, c.yours); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if known.Restarted(22) || !known.Restarted(23) || fresh.Restarted(23) {
		t.Error("only another incarnation than the known one is a restart")
	}
}
