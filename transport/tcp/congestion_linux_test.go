package tcp

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestCongestion: connections within a host aren't paced by a default that is made for networks; a program can choose; a name that
// doesn't exist is said at once.
func TestCongestion(t *testing.T) {
	of := func(f *iface) string {
		name, err := unix.GetsockoptString(f.eps[0].stream.FD(), unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimRight(name, "\x00")
	}
	f, _ := crowd(t, 1)
	if got := of(f); got != withinHost {
		t.Errorf("within a host: %q, want %q", got, withinHost)
	}
	for _, c := range []struct {
		local, remote string
		want          bool
	}{
		{"127.0.0.1:1", "127.0.0.1:2", true}, {"10.0.0.1:1", "10.0.0.1:2", true}, {"[::1]:1", "[::1]:2", true},
		{"10.0.0.1:1", "10.0.0.2:2", false}, {"", "10.0.0.2:2", false}, {"10.0.0.1", "10.0.0.1:2", false},
	} {
		if got := oneHost(c.local, c.remote); got != c.want {
			t.Errorf("oneHost(%q, %q) = %v", c.local, c.remote, got)
		}
	}
	if _, err := New(Options{Congestion: "hope"}).Open(testEnv()); err == nil || !strings.Contains(err.Error(), `"hope"`) {
		t.Errorf("a congestion control that does not exist: %v", err)
	}
	g := openWith(t, Options{Congestion: "reno"})
	e := &crowdEnds{b: g}
	l, err := g.Listen("127.0.0.1:0", e)
	if err != nil {
		t.Fatal(err)
	}
	e.addr = l.Addr()
	e.dial(t, g)
	if got := of(g); got != "reno" {
		t.Errorf("asked for reno: %q", got)
	}
}
