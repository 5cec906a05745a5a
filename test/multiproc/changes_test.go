package multiproc

import "testing"

// unhurried is the environment of who takes no silence of a busy machine for a loss, before the system has said what happened.
var unhurried = []string{"BRAID_PROBE_AFTER=300ms", "BRAID_LOST_AFTER=700ms"}

// TestRailsComeAndGo: addresses and links come and go under a stream, at either end. Each time the lane goes at once and for that reason, not for
// silence, comes back when it can, and nothing is lost or done twice.
func TestRailsComeAndGo(t *testing.T) {
	for end, name := range []string{"dialer", "listener"} {
		t.Run(name, func(t *testing.T) {
			begin(t)
			w := newWorld(t, 2)
			p := w.pair(sides{listenEnv: unhurried, dialEnv: unhurried})
			p.dialed(lane1, lane2)
			side := []*child{p.client, p.server}[end]
			gone := []string{"10.77.2.1", "10.77.2.2"}[end]

			w.addr(end, "del", gone+"/24", 2)
			side.lost(gone, "lane2 does not have the address any more")
			p.becomes(lane1)
			w.addr(end, "add", gone+"/24", 2)
			p.becomes(lane1, lane2)

			w.set(end, 2, "down")
			side.lost(gone, "lane2 is down")
			p.becomes(lane1)
			w.set(end, 2, "up")
			p.becomes(lane1, lane2)

			w.set(end, 1, "down") // the lane that was the first
			side.lost([]string{"10.77.1.1", "10.77.1.2"}[end], "lane1 is down")
			p.becomes(lane2)
			w.set(end, 1, "up")
			p.becomes(lane1, lane2)
			p.ends()
		})
	}
}

// TestB16_OtherAddress: an address comes back as another one, at either end: the lane is built anew on that.
func TestB16_OtherAddress(t *testing.T) {
	begin(t)
	w := newWorld(t, 2)
	p := w.pair(sides{})
	p.dialed(lane1, lane2)
	w.addr(1, "del", "10.77.2.2/24", 2)
	p.becomes(lane1)
	w.addr(1, "add", "10.77.2.77/24", 2)
	p.becomes(lane1, "10.77.2.1->10.77.2.77")
	w.addr(0, "del", "10.77.2.1/24", 2)
	w.addr(0, "add", "10.77.2.11/24", 2)
	p.becomes(lane1, "10.77.2.11->10.77.2.77")
	p.ends()
}

// TestRailComes: a link that did not have addresses gets some, on both sides, while an endpoint lives: it gets a lane. Also where the
// rails were chosen, so that the listener has to listen there first.
func TestRailComes(t *testing.T) {
	for _, c := range []struct {
		name string
		s    sides
	}{
		{"all rails", sides{}},
		{"chosen rails", sides{listen: "10.77.1.2", listenRails: []string{"lane*"}, dialRails: []string{"lane1", "lane2"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			begin(t)
			w := newWorld(t, 2)
			w.at(0, "addr flush dev lane2 scope global")
			w.at(1, "addr flush dev lane2 scope global")
			p := w.pair(c.s)
			p.dialed(lane1)
			w.addr(0, "add", "10.77.2.1/24", 2)
			w.addr(1, "add", "10.77.2.2/24", 2)
			p.becomes(lane1, lane2)
			p.ends()
		})
	}
}

// TestAllRailsGo: one link goes down, then the other, and the first one comes back: the endpoint goes on over that.
func TestAllRailsGo(t *testing.T) {
	begin(t)
	w := newWorld(t, 2)
	p := w.pair(sides{})
	p.dialed(lane1, lane2)
	w.set(0, 2, "down")
	p.becomes(lane1)
	w.set(0, 1, "down")
	p.client.expect("suspended")
	w.set(0, 2, "up")
	p.client.expect("resumed")
	p.becomes(lane2)
	w.set(0, 1, "up")
	p.becomes(lane1, lane2)
	p.ends()
}

// TestManyFlaps: links go down and up again and again, one after the other, at both ends.
func TestManyFlaps(t *testing.T) {
	begin(t)
	w := newWorld(t, 2)
	p := w.pair(sides{})
	p.dialed(lane1, lane2)
	times := 12
	if testing.Short() {
		times = 4
	}
	for i := range times {
		end, link := i/2%2, 1+i%2
		w.set(end, link, "down")
		p.becomes([]string{lane2, lane1}[i%2])
		w.set(end, link, "up")
		p.becomes(lane1, lane2)
	}
	p.ends()
}

// TestIPv6: the same over IPv6, on addresses that are there, and on one that comes.
func TestIPv6(t *testing.T) {
	begin(t)
	w := newWorld(t, 2)
	const six1, six2 = "[fd77:1::1]->[fd77:1::2]", "[fd77:2::1]->[fd77:2::2]"
	for end := range 2 {
		w.at(end, "addr flush dev lane1 scope global")
		w.at(end, "addr flush dev lane2 scope global")
		w.at(end, "addr add fd77:1::%d/64 dev lane1 nodad", end+1)
	}
	p := w.pair(sides{listen: "[::]", dial: "[fd77:1::2]", listenEnv: unhurried, dialEnv: unhurried})
	p.dialed(six1)
	for end := range 2 {
		w.addr(end, "add", []string{"fd77:2::1/64", "fd77:2::2/64"}[end], 2) // is checked for duplicates first
	}
	p.becomes(six1, six2)
	w.addr(0, "del", "fd77:1::1/64", 1)
	p.client.lost("[fd77:1::1]", "lane1 does not have the address any more")
	p.becomes(six2)
	p.ends()
}
