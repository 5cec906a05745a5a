package multiproc

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// knock dials once and says what came of it.
func knock(s *self, j job) {
	o, err := braid.FromEnv()
	if err == nil {
		if j.Rails != nil {
			o.Rails = j.Rails
		}
		o.Times = brisk(j)
		o.Times.Handshake = max(j.Peer, o.Times.Handshake)
		var n *braid.Node
		if n, err = braid.Open(o); err == nil {
			defer n.Close()
			ctx, cancel := context.WithTimeout(context.Background(), lifetime)
			defer cancel()
			w, e := n.NewWorker()
			s.must(e)
			var ep *braid.Endpoint
			if ep, err = w.Dial(ctx, j.Addr); err == nil {
				s.say("lanes %s", lanesOf(ep))
				s.must(ep.Close(ctx))
				return
			}
		}
	}
	s.say("error %v", strings.ReplaceAll(err.Error(), "\n", "; "))
}

// trap is somebody else's listener, who says how many have come.
func trap(s *self, j job) {
	ln, err := net.Listen("tcp", j.Addr)
	s.must(err)
	var visits atomic.Int64
	go func() {
		for {
			if _, err := ln.Accept(); err != nil { // nothing is said to them
				return
			}
			visits.Add(1)
		}
	}()
	s.say("addr %s", ln.Addr())
	<-s.heard
	s.say("visits %d", visits.Load())
}

// unvisited checks that nobody has come to a trap.
func (c *child) unvisited() {
	c.t.Helper()
	c.tell("end")
	if n := c.number("visits"); n != 0 {
		c.t.Errorf("%d connections went to somebody else", n)
	}
	c.exits()
}

// fails runs a process that is to say an error with all of these in it.
func (w *world) fails(j job, want ...string) {
	w.t.Helper()
	c := start(w.t, j)
	text := c.expect("error")
	for _, s := range want {
		if !strings.Contains(text, s) {
			w.t.Errorf("no %q in the error %q", s, text)
		}
	}
	c.exits()
}

// TestD1_Docker: both hosts have a docker0 with the same address, a virbr0 without a link, and the listener listens everywhere. Only what joins the two is a
// lane, and the dial waits for nothing else.
func TestD1_Docker(t *testing.T) {
	begin(t)
	w := newWorld(t, 1)
	for end := range 2 {
		w.at(end, "link add docker0 type bridge")
		w.at(end, "addr add 172.17.0.1/16 dev docker0")
		w.at(end, "link add guest type veth peer name guest1")
		w.at(end, "link set guest master docker0 up")
		w.at(end, "link set guest1 up")
		w.at(end, "link set docker0 up")
		w.at(end, "link add virbr0 type bridge")
		w.at(end, "addr add 192.168.122.%d/24 dev virbr0", end+1)
		w.at(end, "link set virbr0 up")
	}
	trap := start(t, job{Role: "trap", Netns: w.left, Addr: "172.17.0.1:40404"})
	trap.expect("addr")
	p := w.pair(sides{port: "40404"})
	p.dialed(lane1)
	p.ends()
	trap.unvisited()
}

// TestD1_ForeignBridge: the listener tells of a bridge that is no guests' one and that only it has; the dialer has another one with an address on
// the same network, where somebody else listens.
func TestD1_ForeignBridge(t *testing.T) {
	begin(t)
	w := newWorld(t, 1)
	for end := range 2 {
		w.at(end, "link add port0 type veth peer name port1")
		w.at(end, "addr add 172.18.0.%d/16 dev port0", end+1)
		w.at(end, "addr add 172.18.0.%d/16 dev port1", 2-end) // the other's address: here it is somebody else
		w.at(end, "link set port0 up")
		w.at(end, "link set port1 up")
	}
	trap := start(t, job{Role: "trap", Netns: w.left, Addr: "172.18.0.2:40404"})
	trap.expect("addr")
	p := w.pair(sides{port: "40404"})
	p.dialed(lane1)
	p.ends()
	trap.unvisited()
}

// TestD3_BadLane: of two links one carries nothing, though both ends think it does. The dial succeeds on the other one, also if the bad one is tried first,
// and no lane is on the bad one until it is mended.
func TestD3_BadLane(t *testing.T) {
	begin(t)
	w := newWorld(t, 2)
	w.at(0, "neigh replace 10.77.2.2 lladdr 02:00:00:00:00:99 dev lane2 nud permanent") // nobody has that card
	server := start(t, job{Role: "serve", Netns: w.right, Addr: "0.0.0.0:0", Size: 8})
	key := parsed(t, server)
	addr := server.expect("addr")
	port := addr[strings.LastIndex(addr, ":"):]
	dialer := start(t, job{Role: "put", Netns: w.left, Addr: "10.77.1.2" + port, Key: key, Size: 8})
	if n := dialer.number("lanes"); n != 1 {
		t.Errorf("%d lanes", n)
	}
	dialer.expect("round")
	dialer.tell("enough")
	dialer.expect("sent")
	w.at(0, "neigh del 10.77.2.2 dev lane2")
	if !eventually(func() bool { dialer.tell("lanes"); return dialer.number("lanes") == 2 }) {
		t.Error("the mended link gets no lane")
	}
	dialer.tell("close")
	dialer.exits()

	w.at(0, "neigh replace 10.77.2.2 lladdr 02:00:00:00:00:99 dev lane2 nud permanent")
	w.hosts(0, "10.77.2.2 peer", "10.77.1.2 peer") // two addresses, the bad one first
	second := start(t, job{Role: "knock", Netns: w.left, Addr: "peer" + port, Env: []string{"GODEBUG=netdns=go"}})
	if got := second.expect("lanes"); got != lane1 {
		t.Errorf("lanes %q", got)
	}
	second.exits()
}

// parsed is the key that a server says.
func parsed(t *testing.T, server *child) []byte {
	t.Helper()
	key, err := parseKey(server.expect("key"))
	if err != nil {
		t.Fatal(err)
	}
	return key.Bytes()
}

// hosts makes a file of names for a namespace.
func (w *world) hosts(end int, lines ...string) {
	w.t.Helper()
	dir := filepath.Join("/etc/netns", []string{w.left, w.right}[end])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		skip(w.t, "needs to write in /etc/netns: %v", err)
	}
	w.t.Cleanup(func() { os.RemoveAll(dir); os.Remove("/etc/netns") })
	text := "127.0.0.1 localhost\n" + strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(filepath.Join(dir, "hosts"), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// TestD3_ReasonForEach: if no way works, the error has a line for each that was tried.
func TestD3_ReasonForEach(t *testing.T) {
	begin(t)
	w := newWorld(t, 2)
	w.hosts(0, "10.77.1.2 peer", "10.77.2.2 peer", "10.99.0.1 peer")
	w.fails(job{Role: "knock", Netns: w.left, Addr: "peer:40405", Peer: patience, Env: []string{"GODEBUG=netdns=go"}},
		"10.77.1.2:40405: tcp: dial", "10.77.2.2:40405: tcp: dial", "nobody listens there", "10.99.0.1:40405", "no route")
	w.fails(job{Role: "knock", Netns: w.left, Addr: "10.77.1.2:40405", Rails: []string{"lane2"}},
		"no way", "lane2 10.77.2.1/24", "leaves by lane1", "an address of the peer on lane2's own network (10.77.2.0/24)", "ip rule")
	w.fails(job{Role: "knock", Netns: w.left, Addr: "10.77.1.2:40405", Rails: []string{"ib*", "eth0"}},
		"no rail matches ib*,eth0; this host has", "lane1 10.77.1.1/24", "lane2 10.77.2.1/24")
	w.at(0, "link set lane2 down")
	w.fails(job{Role: "knock", Netns: w.left, Addr: "10.77.2.2:40405", Rails: []string{"lane2"}},
		"no rail of lane2 can be used", "lane2 is down")
}

// TestD4_Tunnel: both hosts have a tunnel with an address of its own, one to a network of hosts that is routed through it, as flannel does. It works, and no lane is in
// it: it goes over the wire that has one.
func TestD4_Tunnel(t *testing.T) {
	begin(t)
	w := newWorld(t, 1)
	for end := range 2 {
		w.at(end, "link add flannel.1 type vxlan id 1 dev lane1 dstport 8472 local 10.77.1.%d remote 10.77.1.%d", end+1, 2-end)
		w.at(end, "addr add 10.244.%d.0/32 dev flannel.1", end+1)
		w.at(end, "link set flannel.1 up")
		w.at(end, "route add 10.244.%d.0/24 dev flannel.1 scope link", 2-end)
	}
	p := w.pair(sides{})
	p.dialed(lane1)
	p.ends()
}

// TestD4_HostAddress: an address without a network on an interface that is no tunnel.
func TestD4_HostAddress(t *testing.T) {
	begin(t)
	w := newWorld(t, 1)
	for end := range 2 {
		w.at(end, "link add spare type veth peer name spare1")
		w.at(end, "addr add 10.244.%d.0/32 dev spare", end+1)
		w.at(end, "link set spare up")
		w.at(end, "link set spare1 up")
	}
	p := w.pair(sides{})
	p.dialed(lane1)
	p.ends()
}

// TestD4_OtherNetworks: a second link has addresses at both ends that don't match, and each host has a default route by the first: what is told of the second is
// not dialed, though there is a way. Named, it is tried, does not work, and hurts nobody.
func TestD4_OtherNetworks(t *testing.T) {
	begin(t)
	w := newWorld(t, 2)
	for end := range 2 {
		w.at(end, "addr flush dev lane2 scope global")
		w.at(end, "addr add 10.5%d.0.1/24 dev lane2", end)
		w.at(end, "route add default via 10.77.1.%d", 2-end)
	}
	p := w.pair(sides{})
	p.dialed(lane1)
	p.ends()
	p = w.pair(sides{dialRails: []string{"lane1", "lane2"}})
	p.dialed(lane1)
	p.ends()
}

// TestD5_ListenOnExcluded: a listener's address is of an interface that the rails leave out. The error names both, and what to do; without the rails it works.
func TestD5_ListenOnExcluded(t *testing.T) {
	begin(t)
	w := newWorld(t, 1)
	w.at(1, "link add br-vsw-1 type bridge")
	w.at(1, "addr add 192.168.7.1/24 dev br-vsw-1")
	w.at(1, "link set br-vsw-1 up")
	w.fails(job{Role: "take", Netns: w.right, Addr: "192.168.7.1:0", Rails: []string{"lane*"}},
		"192.168.7.1 is the address of br-vsw-1, which is not among the rails chosen (lane*)", "add br-vsw-1 to the rails, or listen on 10.77.1.2")
	start(t, job{Role: "take", Netns: w.right, Addr: "192.168.7.1:0"}).expect("addr")
	start(t, job{Role: "take", Netns: w.right, Addr: "192.168.7.1:0", Rails: []string{"lane*", "br-vsw-1"}}).expect("addr")
}

// TestD6_ManyInterfaces: a host with twenty interfaces, on networks that are there twice, dials itself: one lane over the network and one through shared memory, at once, and both sides idle.
func TestD6_ManyInterfaces(t *testing.T) {
	begin(t)
	w := newWorld(t, 0)
	for i := range 10 {
		w.at(0, "link add v%d type veth peer name w%d", i, i)
		for k, name := range []string{"v", "w"} {
			w.at(0, "addr add 10.88.%d.%d/24 dev %s%d", i, k+1, name, i)
			w.at(0, "link set %s%d up", name, i)
		}
	}
	server := start(t, job{Role: "take", Netns: w.left, Addr: "0.0.0.0:0", Size: streamSlots * streamBlock, Alive: time.Second})
	key := parsed(t, server)
	addr := server.expect("addr")
	client := start(t, job{Role: "stream", Netns: w.left, Addr: "10.88.3.1" + addr[strings.LastIndex(addr, ":"):], Key: key, Pause: time.Hour, Alive: time.Second})
	client.expect("dialed") // its wait for further lanes is a minute
	if got := strings.Fields(client.expect("lanes")); len(got) != 2 || strings.HasPrefix(got[0], "shm") || !strings.HasPrefix(got[1], "shm->shm.") {
		t.Errorf("lanes %q", got)
	}
	// Nobody spins. Some thirty rails, ways to try and keepalives of a second take 1 % themselves.
	server.idles("the server", 3*idleShare)
	client.idles("the client", 3*idleShare)
}

// TestD9_RailPerProcess: two processes of one host use different interfaces, each as its variable says.
func TestD9_RailPerProcess(t *testing.T) {
	begin(t)
	w := newWorld(t, 2)
	server := start(t, job{Role: "serve", Netns: w.right, Addr: "0.0.0.0:0", Size: 8})
	addr := server.expect("addr")
	port := addr[strings.LastIndex(addr, ":"):]
	for i, lane := range []string{lane1, lane2} {
		for _, rails := range []string{fmt.Sprintf("lane%d", i+1), fmt.Sprintf("10.77.%d.0/24", i+1), fmt.Sprintf("!lane%d", 2-i)} {
			c := start(t, job{Role: "knock", Netns: w.left, Addr: fmt.Sprintf("10.77.%d.2", i+1) + port, Env: []string{"BRAID_RAILS=" + rails}})
			if got := c.expect("lanes"); got != lane {
				t.Errorf("BRAID_RAILS=%s: lanes %q", rails, got)
			}
			c.exits()
		}
	}
}

// TestD11_FirstConnectionStays: a list of transports or of rails that leaves out what the first connection needs does not break it in silence: TCP stays, and a rail that
// leads nowhere is an error that says so.
func TestD11_FirstConnectionStays(t *testing.T) {
	begin(t)
	w := newWorld(t, 2)
	server := start(t, job{Role: "serve", Netns: w.right, Addr: "0.0.0.0:0", Size: 8})
	addr := server.expect("addr")
	port := addr[strings.LastIndex(addr, ":"):]
	c := start(t, job{Role: "knock", Netns: w.left, Addr: "10.77.1.2" + port, Env: []string{"BRAID_TRANSPORTS=self"}})
	if got := strings.Fields(c.expect("lanes")); len(got) != 2 {
		t.Errorf("lanes %q", got)
	}
	c.exits()
	w.fails(job{Role: "knock", Netns: w.left, Addr: "10.77.1.2" + port, Env: []string{"BRAID_RAILS=lane2"}}, "no way", "10.77.2.1", "leaves by lane1")
}

// TestD12_BadValue: a value that can't be is an error that names the key, the value, what may be there, and where it was said; other processes go on.
func TestD12_BadValue(t *testing.T) {
	begin(t)
	w := newWorld(t, 1)
	server := start(t, job{Role: "serve", Netns: w.right, Addr: "0.0.0.0:0", Size: 8})
	addr := server.expect("addr")
	there := "10.77.1.2" + addr[strings.LastIndex(addr, ":"):]
	w.fails(job{Role: "knock", Netns: w.left, Addr: there, Env: []string{"BRAID_RAILS=10.77.1.0/33"}}, "BRAID_RAILS", `"10.77.1.0/33"`, "write an interface (eth0), an address")
	w.fails(job{Role: "knock", Netns: w.left, Addr: there, Env: []string{"BRAID_KEEPALIVE=soon"}}, "BRAID_KEEPALIVE", `"soon"`, "want a time")
	c := start(t, job{Role: "knock", Netns: w.left, Addr: there})
	c.expect("lanes")
	c.exits()
}

// TestLinkLocal: two hosts without any address but link-local ones: they are dialed with the interface, and by a rail of it.
func TestLinkLocal(t *testing.T) {
	begin(t)
	w := newWorld(t, 1)
	for end := range 2 {
		w.at(end, "addr flush dev lane1 scope global")
		w.at(end, "addr add fe80::%d/64 dev lane1 nodad", end+1)
	}
	server := start(t, job{Role: "take", Netns: w.right, Addr: "[::]:0", Size: 8})
	addr := server.expect("addr")
	port := addr[strings.LastIndex(addr, ":"):]
	for _, rails := range [][]string{nil, {"lane1"}, {"fe80::1%lane1"}} {
		c := start(t, job{Role: "knock", Netns: w.left, Addr: "[fe80::2%lane1]" + port, Rails: rails})
		if got := c.expect("lanes"); strings.Count(got, "->") != 1 || !strings.Contains(got, "->[fe80::2") {
			t.Errorf("rails %q: lanes %q", rails, got)
		}
		c.exits()
	}
	w.fails(job{Role: "knock", Netns: w.left, Addr: "[fe80::2]" + port}, "[fe80::2]"+port, "needs its interface, as in [fe80::1%eth0]")
}

// TestTwoFamilies: each wire that both hosts have gets one lane, whichever family is dialed and however many addresses the wire has.
func TestTwoFamilies(t *testing.T) {
	begin(t)
	w := newWorld(t, 2)
	for end := range 2 {
		w.at(end, "addr add fd70:1::%d/64 dev lane1 nodad", end+1)
		w.at(end, "addr add fe80::%d/64 dev lane1 nodad", end+1)
	}
	w.at(1, "addr add fd70:2::2/64 dev lane2 nodad") // the other end has IPv4 only
	for _, rails := range [][]string{nil, {"lane*"}} {
		server := start(t, job{Role: "take", Netns: w.right, Addr: "[::]:0", Size: 8, Rails: rails})
		addr := server.expect("addr")
		port := addr[strings.LastIndex(addr, ":"):]
		for _, host := range []string{"[fd70:1::2]", "10.77.1.2", "[fe80::2%lane1]"} {
			c := start(t, job{Role: "knock", Netns: w.left, Addr: host + port})
			if got := strings.Fields(c.expect("lanes")); len(got) != 2 || !strings.HasSuffix(got[0], "->"+host) || !strings.HasSuffix(got[1], "->10.77.2.2") {
				t.Errorf("rails %q: dialed %s: lanes %q", rails, host, got)
			}
			c.exits()
		}
	}
	server := start(t, job{Role: "take", Netns: w.right, Addr: "10.77.1.2:0", Size: 8, Rails: []string{"lane*"}})
	c := start(t, job{Role: "knock", Netns: w.left, Addr: server.expect("addr")})
	if got := strings.Fields(c.expect("lanes")); len(got) != 2 || !strings.HasSuffix(got[1], "->10.77.2.2") {
		t.Errorf("bound one by one: lanes %q", got)
	}
	c.exits()
}
