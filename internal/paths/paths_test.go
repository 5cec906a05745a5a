package paths

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/timer"
	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/transport"
)

// net0 is an interface of a network.
type net0 struct{ transport.Iface }

func (net0) Attr() transport.Attr { return transport.Attr{Name: "net0"} }

// host is an endpoint that opens what it is asked for, or can't.
type host struct {
	t        *testing.T
	g        *Ground
	s        *Set
	turns    timer.Set
	now      time.Duration
	bad      []string // addresses that can't even be begun with
	opened   []string
	up       []*Path
	stranded bool
	gone     []string      // given up
	life     time.Duration // of lanes that are lost
}

func (h *host) Stranded() bool { return h.stranded }

func (h *host) GivenUp(p *Path) { h.gone = append(h.gone, p.String()) }

func (h *host) Attempt(p *Path) {
	h.opened = append(h.opened, p.String())
	if slices.Contains(h.bad, topo.HostOf(p.Remote)) {
		p.Failed(errors.New("bad"), false)
		h.s.Retry(p)
		return
	}
	p.Began()
	h.up = append(h.up, p)
}

func rails(texts ...string) (table []topo.Rail) {
	for i, s := range texts {
		p := netip.MustParsePrefix(s)
		table = append(table, topo.Rail{Name: "eth" + string(rune('0'+i)), Index: i + 1, Addr: p.Addr(), Bits: p.Bits(), Traits: topo.Ready})
	}
	return table
}

// dialed is a set whose first lane is up, on one of two rails.
func dialed(t *testing.T) *host {
	h := &host{t: t}
	h.g = &Ground{
		View: topo.View{Rails: rails("10.0.0.1/24", "10.1.0.1/24")}, Turns: &h.turns, Now: func() time.Duration { return h.now },
		Rand: func() uint64 { return 0 }, Most: 16, Handshake: 5 * time.Second, RedialMin: 20 * time.Millisecond, RedialMax: time.Second,
		Log: slog.New(slog.DiscardHandler),
	}
	ways, err := Ways(h.g, net0{}, func(string) *Path { return nil }, []string{"10.0.0.9:7"})
	if err != nil {
		t.Fatal(err)
	}
	h.s = Begin(h.g, h, ways)
	p := h.s.Next()
	h.Attempt(p)
	p.CameUp()
	h.s.Pin(p, "10.0.0.1")
	if h.s.Next() != nil {
		t.Error("a second way")
	}
	return h
}

// expect checks what was opened since it was last asked.
func (h *host) expect(want ...string) {
	h.t.Helper()
	if !slices.Equal(h.opened, want) {
		h.t.Errorf("opened %q, want %q", h.opened, want)
	}
	h.opened = nil
}

// lost is the end of the lane on a path.
func (h *host) lost(i int) {
	h.up[i].Lost(h.life)
	h.s.Retry(h.up[i])
}

// wait lets time pass.
func (h *host) wait(d time.Duration) {
	for end := h.now + d; ; {
		at := h.turns.Next()
		if at == 0 || at > end {
			h.now = end
			return
		}
		h.now = at
		h.turns.Run(at)
	}
}

// change hands in a new table, as the engine does.
func (h *host) change(table []topo.Rail) {
	was := h.g.View
	h.g.View.Rails = table
	h.g.Views++
	h.s.Changed(was)
}

func TestRedial(t *testing.T) {
	h := dialed(t)
	h.expect("10.0.0.9:7")
	h.s.Answered([]string{"10.0.0.9:7", "10.1.0.9:7"}, true)
	h.expect("10.1.0.1->10.1.0.9:7")
	h.up[1].CameUp()
	if !h.s.Settled() {
		t.Error("not settled")
	}

	h.lost(1)
	h.wait(19 * time.Millisecond)
	h.expect()
	h.wait(time.Millisecond)
	h.expect("10.1.0.1->10.1.0.9:7")
	h.lost(2)
	h.wait(39 * time.Millisecond) // twice as long
	h.expect()
	h.wait(time.Millisecond)
	h.expect("10.1.0.1->10.1.0.9:7")

	// It is lost, and its rail goes: nobody dials it any more, until it is back.
	h.lost(3)
	h.change(rails("10.0.0.1/24"))
	h.wait(time.Minute)
	h.expect()
	h.change(rails("10.0.0.1/24", "10.1.0.1/24"))
	h.expect("10.1.0.1->10.1.0.9:7")
}

// TestRedialAsksThePresent: a path whose lane stood when the table changed is planned anew before it is dialed.
func TestRedialAsksThePresent(t *testing.T) {
	h := dialed(t)
	h.s.Answered([]string{"10.0.0.9:7", "10.1.0.9:7"}, true)
	h.change(rails("10.0.0.1/24", "10.1.0.77/24"))
	h.opened = nil
	h.lost(1) // on 10.1.0.1, which is gone
	h.wait(time.Minute)
	h.expect()
}

func TestHeard(t *testing.T) {
	h := dialed(t)
	h.bad = []string{"10.1.0.9"}
	h.s.Answered([]string{"10.0.0.9:7", "10.1.0.9:7"}, true)
	h.expect("10.0.0.9:7", "10.1.0.1->10.1.0.9:7")
	h.s.Heard([]string{"10.1.0.9:7", "10.0.0.9:7"}) // the same
	h.expect()
	h.s.Heard([]string{"10.0.0.9:7", "10.1.0.8:7"})
	h.expect("10.1.0.1->10.1.0.8:7")
	h.wait(time.Minute) // the old one is forgotten
	h.expect()
}

// TestStranded: without any lane what the peer ever told is tried.
func TestStranded(t *testing.T) {
	h := dialed(t)
	h.s.Answered([]string{"10.0.0.9:7", "10.1.0.9:7"}, true)
	h.s.Heard([]string{"10.0.0.9:7"})
	h.lost(1)
	h.opened, h.stranded = nil, true
	h.lost(0)
	h.change(rails("10.1.0.1/24", "10.0.0.1/24"))
	h.wait(20 * time.Millisecond)
	slices.Sort(h.opened)
	h.expect("10.0.0.1->10.0.0.9:7", "10.1.0.1->10.1.0.9:7")
}

// TestEver: of a peer that tells ever new addresses a bounded number is remembered, and among them those that it told last, though it had told one of them long ago.
func TestEver(t *testing.T) {
	h := dialed(t)
	h.s.Answered([]string{"10.0.0.9:7"}, true)
	for i := range 3 * mostEver {
		told := []string{"10.0.0.9:7", fmt.Sprintf("10.2.0.9:%d", 1+2*i), fmt.Sprintf("10.2.0.9:%d", 2+2*i)}
		h.s.Heard(told)
		if n := len(h.s.ever); n > mostEver {
			t.Fatalf("%d addresses are remembered", n)
		}
		for _, a := range told {
			if !slices.Contains(h.s.ever, a) {
				t.Fatalf("round %d: %s is forgotten", i, a)
			}
		}
	}
	if len(h.s.ever) != mostEver || !slices.Contains(h.s.ever, fmt.Sprintf("10.2.0.9:%d", 6*mostEver-20)) {
		t.Errorf("%d are remembered: %q", len(h.s.ever), h.s.ever)
	}
}

// TestNeverDialed: what leads to this host itself, to many, or to nobody is not dialed when a peer names it.
func TestNeverDialed(t *testing.T) {
	never := []string{"0.0.0.0:22", "[::]:22", ":22", "[::ffff:0.0.0.0]:22", "0.1.2.3:22", "255.255.255.255:7", "240.0.0.1:7", "224.0.0.1:7", "[ff02::1%eth0]:7", "10.0.0.8:0", "10.0.0.8", "localhost:7", "10.0.0.8:x", "eth0:7"}
	h := dialed(t)
	h.g.View = topo.View{} // the system picks where lanes leave, so that no rail stands against anything
	h.opened = nil
	h.s.Answered(append(never, "10.0.0.9:7"), true)
	h.expect()
	h.s.Heard(append([]string{"10.0.0.9:7"}, never...))
	h.stranded = true
	h.s.Replan()
	for _, a := range h.opened {
		for _, n := range never {
			if strings.HasSuffix(a, n) {
				t.Errorf("%s is dialed", n)
			}
		}
	}
	named := topo.Dialable("a0:7", []string{"a1:7", ":7", "a1", "a1:", "0.0.0.0:7"})
	if !slices.Equal(named, []string{"a1:7"}) {
		t.Errorf("of a simulated network: %q", named)
	}
	if good := []string{"10.1.0.9:7", "[fe80::1%eth0]:7", "127.0.0.1:7", "[fd00::5]:7", "[::ffff:10.0.0.1]:7"}; !slices.Equal(topo.Dialable("10.0.0.9:7", append(never, good...)), good) {
		t.Errorf("what can be dialed is not: %q", topo.Dialable("10.0.0.9:7", good))
	}
	if got := topo.Dialable("10.0.0.9:7", never); got != nil {
		t.Errorf("dialable: %q", got)
	}
}

// TestNoPlan: without a rail that will do the paths that there were are dialed on.
func TestNoPlan(t *testing.T) {
	h := dialed(t)
	h.s.Answered([]string{"10.0.0.9:7"}, true)
	h.opened, h.stranded = nil, true
	down := rails("10.0.0.1/24")
	down[0].Traits = 0
	h.change(down)
	h.lost(0)
	h.wait(20 * time.Millisecond)
	h.expect("10.0.0.1->10.0.0.9:7")
}

// TestRailIsBack: what waits to be dialed again, ever longer, is dialed at once when its rail comes back.
func TestRailIsBack(t *testing.T) {
	h := dialed(t)
	h.s.Answered([]string{"10.0.0.9:7"}, true)
	down := rails("10.0.0.1/24")
	down[0].Traits = 0
	h.stranded, h.bad = true, []string{"10.0.0.9"}
	h.change(down)
	h.lost(0)
	h.wait(10 * time.Second) // it fails as often as it may
	h.opened, h.bad = nil, nil
	h.change(rails("10.0.0.1/24"))
	h.wait(0)
	h.expect("10.0.0.1->10.0.0.9:7")
}

// TestLimit: several ways share the time.
func TestLimit(t *testing.T) {
	h := dialed(t)
	for n, want := range map[int]time.Duration{1: 5 * time.Second, 2: 2500 * time.Millisecond, 100: leastShare} {
		s := Begin(h.g, h, make([]*Path, n))
		if got := s.Limit(&Path{}, true); got != want {
			t.Errorf("%d ways: %v each, want %v", n, got, want)
		}
	}
	h.g.DialWait = time.Second
	p := &Path{}
	if got := h.s.Limit(p, false); got != time.Second {
		t.Errorf("a dial waits for it: %v", got)
	}
	if p.Failed(nil, false); h.s.Limit(p, false) != 200*time.Millisecond {
		t.Errorf("nobody waits for it: %v", h.s.Limit(p, false))
	}
}

// TestFlapsAreDamped: a lane that comes up and dies at once is dialed less and less often, and never given up; one that lived comes back at once.
func TestFlapsAreDamped(t *testing.T) {
	for _, c := range []struct {
		life     time.Duration
		min, max int // dials of ten seconds
	}{{0, 13, 25}, {time.Second, 9, 12}} {
		h := dialed(t)
		h.s.Answered([]string{"10.0.0.9:7", "10.1.0.9:7"}, true)
		h.life, h.opened = c.life, nil
		dials := 0
		for end := h.now + 10*time.Second; h.now < end; dials++ {
			p := h.up[len(h.up)-1]
			p.CameUp()
			h.now += c.life
			h.lost(len(h.up) - 1)
			for n := len(h.up); len(h.up) == n; {
				h.wait(10 * time.Millisecond)
			}
		}
		if dials < c.min || dials > c.max {
			t.Errorf("lives of %v: %d dials, want %d to %d", c.life, dials, c.min, c.max)
		}
	}
}

// shm0 is an interface within this host.
type shm0 struct{ transport.Iface }

func (shm0) Attr() transport.Attr { return transport.Attr{Name: "shm", Here: "shm.here."} }

// TestNear: an address within this host gets a lane besides those over networks; one of another host none.
func TestNear(t *testing.T) {
	const a, b = "shm.here.a:1", "shm.here.b:1"
	h := dialed(t)
	h.g.Near = []transport.Iface{shm0{}}
	h.s.Answered([]string{"10.0.0.9:7", a, "shm.there.a:1", a}, true)
	h.expect("10.0.0.9:7", a)
	if near := h.up[1]; near.Iface != (shm0{}) || h.s.translated {
		t.Errorf("%+v, translated: %v", near, h.s.translated)
	}
	h.lost(1)
	h.wait(20 * time.Millisecond)
	h.expect(a)
	h.s.Heard([]string{"10.0.0.9:7", b}) // the peer listens elsewhere
	h.expect(b)
	h.lost(2)
	h.wait(time.Minute)
	h.expect() // it stood, and was lost; nobody wants it any more
}

// TestNearIsCounted: it is one of the lanes that are wanted, and who wants one, or named rails within this host, gets none.
func TestNearIsCounted(t *testing.T) {
	for want, opened := range map[int][]string{1: nil, 2: {"shm.here.a:1"}, 3: {"10.0.0.1->10.0.0.9:7", "shm.here.a:1"}} {
		h := dialed(t)
		h.g.Near, h.g.Want = []transport.Iface{shm0{}}, want
		h.opened = nil
		h.s.Answered([]string{"10.0.0.9:7", "shm.here.a:1"}, true)
		h.expect(opened...)
	}
	h := dialed(t)
	h.g.Near, h.opened = []transport.Iface{shm0{}}, nil
	h.s.Answered([]string{"10.0.0.9:7", "shm.here.a:1"}, false)
	h.expect()
	h = dialed(t)
	h.g.Near = []transport.Iface{shm0{}}
	h.g.View.Rails = append(h.g.View.Rails, topo.Rail{Name: "lo", Index: 9, Addr: netip.MustParseAddr("127.0.0.1"), Bits: 8, Traits: topo.Ready | topo.Loopback})
	var err error
	if h.g.View.Chosen, err = topo.Select([]string{"127.0.0.1", "eth*"}); err != nil {
		t.Fatal(err)
	}
	h.opened = nil
	h.s.Answered([]string{"10.0.0.9:7", "shm.here.a:1"}, true)
	h.expect()
}

// givenUp is a set of two paths, the second of which was dialed for RedialFor, and in vain.
func givenUp(t *testing.T) *host {
	t.Helper()
	h := dialed(t)
	h.g.RedialFor = 3 * time.Second
	h.s.Answered([]string{"10.0.0.9:7", "10.1.0.9:7"}, true)
	h.up[1].CameUp()
	h.wait(time.Minute)
	h.bad = []string{"10.1.0.9"}
	h.opened = nil
	h.lost(1)
	h.wait(3*time.Second - time.Millisecond)
	n := len(h.opened)
	if n < 5 || len(h.gone) > 0 || h.s.Inspect()[1].State != "waits to be dialed again" {
		t.Errorf("dialed %d times in 3 s, and %+v", n, h.s.Inspect()[1])
	}
	h.wait(time.Millisecond)
	if len(h.opened) != n+1 {
		t.Errorf("not dialed once more at the end: %d times, then %d", n, len(h.opened))
	}
	h.opened = nil
	h.wait(time.Hour)
	h.expect()
	if p := h.s.Inspect()[1]; p.State != "given up (redial-for)" || !slices.Equal(h.gone, []string{"10.1.0.1->10.1.0.9:7"}) {
		t.Errorf("%+v, told of %q", p, h.gone)
	}
	h.bad = nil
	return h
}

// TestGiveUp: with RedialFor a path without a lane is dialed for so long, and then not any more, until there is news: of rails, of addresses, or that
// no lane is left. Its time begins anew with each lane that it had.
func TestGiveUp(t *testing.T) {
	const second = "10.1.0.1->10.1.0.9:7"
	h := givenUp(t)
	h.change(rails("10.0.0.1/24", "10.1.0.1/24", "10.2.0.1/24"))
	h.wait(0)
	h.expect(second)

	h = givenUp(t)
	h.s.Heard([]string{"10.0.0.9:7", "10.1.0.9:7", "10.0.0.10:7"})
	h.wait(0)
	if !slices.Contains(h.opened, second) {
		t.Errorf("the peer told of other addresses: %q", h.opened)
	}

	h = givenUp(t)
	h.stranded = true
	h.lost(0)
	h.wait(0)
	if !slices.Contains(h.opened, second) {
		t.Errorf("no lane is left: %q", h.opened)
	}

	h = givenUp(t)
	h.s.RedialAll()
	h.wait(0)
	h.expect(second)
	h.up[2].CameUp()
	h.bad = []string{"10.1.0.9"}
	h.wait(time.Minute)
	h.life = time.Minute
	h.lost(2)
	h.opened = nil
	h.wait(2 * time.Second)
	if len(h.opened) < 5 {
		t.Errorf("after a lane it is dialed %d times in 2 s", len(h.opened))
	}
}

// TestNotGivenUp: without a lane elsewhere a path is dialed beyond RedialFor, and so it is without that setting.
func TestNotGivenUp(t *testing.T) {
	for _, stranded := range []bool{true, false} {
		h := dialed(t)
		if h.stranded = stranded; stranded {
			h.g.RedialFor = time.Second
		}
		h.bad = []string{"10.0.0.9"}
		h.lost(0)
		h.wait(time.Hour)
		h.opened = nil
		h.wait(10 * time.Second)
		if len(h.opened) < 5 {
			t.Errorf("stranded %v: dialed %d times in 10 s", stranded, len(h.opened))
		}
	}
}

// TestLatePeer: attempts that stand and are not answered in time get longer and longer ones, up to the handshake's time; one that does not stand, or a lane, begins anew.
func TestLatePeer(t *testing.T) {
	h := dialed(t)
	p := h.up[0]
	why := errors.New("not heard")
	limits := func(stood ...bool) (list []time.Duration) {
		for _, s := range stood {
			p.Failed(why, s)
			list = append(list, h.s.Limit(p, false))
		}
		return list
	}
	const ms = time.Millisecond
	if got, want := limits(true, true, true, true, true, true), []time.Duration{400 * ms, 800 * ms, 1600 * ms, 3200 * ms, 5000 * ms, 5000 * ms}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := limits(false, false, true), []time.Duration{200 * ms, 200 * ms, 400 * ms}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	p.CameUp()
	if got := h.s.Limit(p, false); got != 200*ms {
		t.Errorf("after a lane: %v", got)
	}
	if limits(slices.Repeat([]bool{true}, 1000)...)[999] != h.g.Handshake {
		t.Error("after a thousand of them it is not the handshake's time")
	}
}
