package health

import "testing"

func TestBlame(t *testing.T) {
	for _, c := range []struct {
		name string
		Clues
		want Fault
	}{
		{"one of two lanes", Clues{Left: 1}, Path},
		{"the only lane", Clues{}, Peer},
		{"the only lane, and other peers are reached from its port", Clues{Here: Others{Up: 2, Lost: 1}}, Peer},
		{"the only lane, and nobody is reached from its port", Clues{Here: Others{Lost: 2}}, LocalPort},
		{"the link is down", Clues{Down: true, Left: 1, Here: Others{Up: 1}}, LocalPort},
		{"one of two, and nobody is reached from its port", Clues{Left: 1, Here: Others{Lost: 1}}, LocalPort},
		{"one of two, and others are reached from its port", Clues{Left: 1, Here: Others{Up: 1}}, Path},
		{"all to one address of the peer", Clues{Left: 1, There: Others{Lost: 1}}, RemotePort},
		{"all to one address, and nobody is reached from the port", Clues{Left: 1, There: Others{Lost: 1}, Here: Others{Lost: 1}}, LocalPort},
		{"one of two to one address", Clues{Left: 1, There: Others{Up: 1}}, Path},
	} {
		if got := c.Blame(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
