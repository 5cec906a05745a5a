package multiproc

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// pair is a server in the right namespace and a client in the left one that streams to it.
type pair struct {
	w              *world
	server, client *child
	port           string
}

// sides are what the two may be told besides.
type sides struct {
	listen, dial           string // hosts; 0.0.0.0 and 10.77.1.2
	port                   string // any
	listenRails, dialRails []string
	listenEnv, dialEnv     []string
}

func (w *world) pair(s sides) *pair {
	w.t.Helper()
	if s.listen == "" {
		s.listen = "0.0.0.0"
	}
	if s.dial == "" {
		s.dial = "10.77.1.2"
	}
	if s.port == "" {
		s.port = "0"
	}
	p := &pair{w: w}
	p.server = start(w.t, job{Role: "take", Netns: w.right, Addr: s.listen + ":" + s.port, Rails: s.listenRails, Size: streamSlots * streamBlock, Env: s.listenEnv})
	key, err := parseKey(p.server.expect("key"))
	if err != nil {
		w.t.Fatal(err)
	}
	addr := p.server.expect("addr")
	p.port = addr[strings.LastIndex(addr, ":"):]
	p.client = start(w.t, job{Role: "stream", Netns: w.left, Addr: s.dial + p.port, Rails: s.dialRails, Key: key.Bytes(), Env: s.dialEnv, Pause: time.Millisecond})
	return p
}

// lanes asks for the lanes that are up.
func (p *pair) lanes() []string {
	p.w.t.Helper()
	p.client.tell("lanes")
	return strings.Fields(p.client.expect("lanes"))
}

// becomes waits until the lanes that are up are those.
func (p *pair) becomes(want ...string) {
	p.w.t.Helper()
	slices.Sort(want)
	var got []string
	if !eventually(func() bool { got = p.lanes(); slices.Sort(got); return slices.Equal(got, want) }) {
		p.w.t.Fatalf("lanes %q, want %q", got, want)
	}
}

// dialed checks which lanes there are when the dial returns.
func (p *pair) dialed(want ...string) {
	p.w.t.Helper()
	p.client.expect("dialed")
	got := strings.Fields(p.client.expect("lanes"))
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		p.w.t.Errorf("lanes %q, want %q", got, want)
	}
}

// ends stops the stream, and checks that everything has come, once.
func (p *pair) ends() {
	p.w.t.Helper()
	p.client.tell("stop")
	sent := p.client.expect("sent")
	p.client.exits()
	p.server.tell("taken")
	if taken := p.server.expect("taken"); taken != sent {
		p.w.t.Errorf("sent %s (messages, checksum), taken %s", sent, taken)
	} else {
		p.w.t.Logf("%s messages", strings.Fields(sent)[0])
	}
}

// lost waits for the next lane that is lost, and checks which and why.
func (c *child) lost(lane, why string) {
	c.t.Helper()
	if got := c.expect("lanedown"); !strings.HasPrefix(got, lane) || !strings.Contains(got, why) {
		c.t.Errorf("%s lost %q, want %s... because %q", c.name, got, lane, why)
	}
}

// addr adds or deletes an address, at once, at one end: 0 is left.
func (w *world) addr(end int, verb, addr string, link int) {
	w.t.Helper()
	if _, err := fmt.Fprintf(w.batch[end], "addr %s %s dev %s\n", verb, addr, w.link(link)); err != nil {
		w.t.Fatal(err)
	}
}

// at runs ip in a namespace.
func (w *world) at(end int, args string, more ...any) {
	w.t.Helper()
	ns := []string{w.left, w.right}[end]
	w.ip(append([]string{"-n", ns}, strings.Fields(fmt.Sprintf(args, more...))...)...)
}

const (
	lane1 = "10.77.1.1->10.77.1.2"
	lane2 = "10.77.2.1->10.77.2.2"
)

// TestAllRails: nobody chooses anything, and each link that both sides have is a lane.
func TestAllRails(t *testing.T) {
	begin(t)
	w := newWorld(t, 3)
	p := w.pair(sides{})
	p.dialed(lane1, lane2, "10.77.3.1->10.77.3.2")
	p.ends()
}
