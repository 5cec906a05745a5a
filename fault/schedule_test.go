package fault_test

import (
	"errors"
	"io"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/transport"
)

const ms = time.Millisecond

func rules(t *testing.T, text string) []fault.Rule {
	t.Helper()
	p, err := fault.ParsePlan(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// lane is a connection through an injector.
type lane struct {
	transport.Stream
	far *pipe
}

func dial(t *testing.T, inj *fault.Injector, local, remote string) *lane {
	t.Helper()
	a, b := pair(t)
	l := &lane{inj.Wrap(a, local, remote), b}
	t.Cleanup(func() { l.Close(false); b.Close(false) })
	if err := l.Connected(); err != nil && err != transport.ErrAgain && !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatal(err)
	}
	return l
}

func (l *lane) cut() bool {
	_, err := read(l)
	return errors.Is(err, syscall.ECONNRESET)
}

// TestSchedule: a rule comes into force after its time, for its time, again and again, and so often; each time it is stamped.
func TestSchedule(t *testing.T) {
	c := &clock{t: time.Second}
	inj := fault.New(c.now)
	inj.Apply(rules(t, "cut lane=0 kind=reset after=100ms for=20ms every=50ms count=3")...)
	if d := inj.Advance(); d != time.Second+100*ms {
		t.Errorf("to be asked at %v", d)
	}
	l := dial(t, inj, "1.1.1.1:1", "2.2.2.2:2")
	for ; c.t < time.Second+400*ms; c.t += ms {
		inj.Advance()
		if l.cut() {
			l = dial(t, inj, "1.1.1.1:1", "2.2.2.2:2")
		}
	}
	r := inj.Report()[0]
	var at, end []time.Duration
	for _, s := range r.Strokes {
		at, end = append(at, s.At-time.Second), append(end, s.End-time.Second)
	}
	if !slices.Equal(at, []time.Duration{100 * ms, 150 * ms, 200 * ms}) || !slices.Equal(end, []time.Duration{120 * ms, 170 * ms, 220 * ms}) {
		t.Errorf("in force at %v until %v", at, end)
	}
	if r.Streams != 3 || r.Refused != 60 || r.Hits != 63 || !r.Over || r.InForce || !inj.Over() {
		t.Errorf("%+v", r)
	}
	if d := inj.Advance(); d != 0 {
		t.Errorf("nothing is left, and it wants to be asked at %v", d)
	}
}

// TestSlots: a slot is a lane's, whoever is in it; a connection that never stood has none.
func TestSlots(t *testing.T) {
	inj := fault.New(new(clock).now)
	a, b := pair(t)
	refused := inj.Wrap(a, "9.9.9.9:1", "2.2.2.2:2") // an address that was tried first
	refused.Close(false)
	b.Close(false)
	one, two := dial(t, inj, "1.1.1.1:1", "2.2.2.2:2"), dial(t, inj, "1.1.1.1:2", "2.2.2.2:2")
	three := dial(t, inj, "3.3.3.3:1", "2.2.2.2:2")
	inj.Apply(rules(t, "cut lane=1 kind=reset for=1ns")...)
	if one.cut() || !two.cut() || three.cut() {
		t.Error("lane 1 is the second of the first pair of hosts")
	}
	two.Shutdown() // given up, and not closed yet
	inj.Heal("")
	again := dial(t, inj, "1.1.1.1:3", "2.2.2.2:2")
	inj.Apply(rules(t, "pause lane=1")...)
	write(t, again.far, "x")
	write(t, one.far, "x")
	if _, err := read(again); err != transport.ErrAgain {
		t.Error("what came in place of lane 1 is lane 1")
	}
	if _, err := read(one); err != nil {
		t.Error("lane 0 is none of it")
	}
	r := inj.Report()[1]
	if len(r.Strokes) != 1 || len(r.Strokes[0].Hit) != 1 || r.Strokes[0].Hit[0] != (fault.Hit{Slot: 1, On: "tcp", Local: "1.1.1.1:3", Remote: "2.2.2.2:2"}) {
		t.Errorf("what it found: %+v", r.Strokes)
	}
	if r.Hits != 1 {
		t.Errorf("%d hits, one read was held back", r.Hits)
	}
}

// TestWholeAndRandom: a rule that waits for all lanes comes into force when all stand; who is drawn is one that stands, and all are in the end.
func TestWholeAndRandom(t *testing.T) {
	c := &clock{t: 1}
	inj := fault.New(c.now)
	lanes := []*lane{dial(t, inj, "1.1.1.1:1", "2.2.2.2:2"), dial(t, inj, "1.1.1.2:1", "2.2.2.2:2")}
	inj.Apply(rules(t, "cut lane=random kind=reset when=whole for=1ms every=10ms±5ms")...)
	seen := [2]int{}
	for range 2000 {
		inj.Advance()
		c.t += ms
		for k, l := range lanes {
			if !l.cut() {
				continue
			}
			if seen[k]++; lanes[1-k].cut() {
				t.Fatal("a second lane was cut before the first was back")
			}
			for range 30 { // it stays away for longer than the rule's own time
				inj.Advance()
				c.t += ms
			}
			l.Close(false)
			lanes[k] = dial(t, inj, []string{"1.1.1.1:1", "1.1.1.2:1"}[k], "2.2.2.2:2")
		}
	}
	if seen[0] < 5 || seen[1] < 5 {
		t.Errorf("cut %v times", seen)
	}
}

// TestWholeIsTold: a lane that was cut and given up is not whole again because its owner has not told so yet.
func TestWholeIsTold(t *testing.T) {
	c := &clock{t: time.Second}
	inj := fault.New(c.now)
	stands, lost := true, 0
	inj.Stands = func() (bool, int) { return stands, lost }
	one, other := dial(t, inj, "1.1.1.1:1", "2.2.2.2:2"), dial(t, inj, "1.1.1.2:1", "2.2.2.2:2")
	inj.Apply(rules(t, "cut lane=0 kind=silence for=1ms; cut lane=1 kind=reset when=whole after=5ms for=1ms")...)
	c.t += 10 * ms
	for _, x := range []struct {
		what string
		do   func()
		cut  bool
	}{
		{"nobody has noticed", func() {}, false},
		{"it is given up, and its owner is not done with that", func() { one.Shutdown() }, false},
		{"nor is he when it is closed", func() { one.Close(true) }, false},
		{"there is another one, of which he has not told either", func() { dial(t, inj, "1.1.1.1:2", "2.2.2.2:2") }, false},
		{"he has told that it is lost", func() { stands, lost = false, 1 }, false},
		{"and that there is another one", func() { stands = true }, true},
	} {
		x.do()
		c.t += ms
		inj.Advance()
		if other.cut() != x.cut {
			t.Errorf("%s: the other lane is cut: %v", x.what, !x.cut)
		}
	}
	// One of which nobody ever tells anything was no lane: that is waited for no longer than for a while.
	other.Close(true)
	if c.t += 10 * ms; inj.Whole() {
		t.Error("whole, with one that was given up just now")
	}
	if c.t += 2 * time.Second; !inj.Whole() {
		t.Error("not whole after two seconds")
	}
	// What was dialed into a cut was no lane either, and nobody waits for that: it never stood.
	inj.Apply(rules(t, "cut rail=1.1.1.3 kind=silence for=1ms")...)
	dial(t, inj, "1.1.1.3:3", "2.2.2.2:2").Close(true)
	if !inj.Whole() {
		t.Error("a dial that failed is waited for as if a lane had been lost")
	}
}

// TestPauseRateDelay: bytes come later, and all of them in order.
func TestPauseRateDelay(t *testing.T) {
	c := &clock{t: 1}
	inj := fault.New(c.now)
	l := dial(t, inj, "1.1.1.1:1", "2.2.2.2:2")
	inj.Apply(rules(t, "pause for=10ms; delay 5ms dir=tx after=10ms for=20ms; rate 800kbit dir=tx after=40ms for=1s; delay 3ms dir=rx after=2s for=1s")...)
	if n, err := write(t, l, "paused"); n != 0 || err != transport.ErrAgain {
		t.Errorf("write while paused: %d, %v", n, err)
	}
	c.t += 12 * ms
	inj.Advance()
	write(t, l, "one")
	c.t += 4 * ms
	write(t, l, "two")
	if s, err := read(l.far); err != transport.ErrAgain {
		t.Errorf("%q arrived before its time: %v", s, err)
	}
	c.t += ms
	read(l) // whoever is polled looks at what is due
	if s, _ := read(l.far); s != "one" {
		t.Errorf("arrived %q", s)
	}
	c.t += 16 * ms // the rule is over, and what is on its way stays in order
	inj.Advance()
	write(t, l, "three")
	read(l)
	first, _ := read(l.far)
	rest, _ := read(l.far)
	if first+rest != "twothree" {
		t.Errorf("arrived %q, %q", first, rest)
	}
	c.t = 41 * ms
	inj.Advance()
	sent := 0
	for range 500 { // half a second of 100 kB a second
		n, _ := l.Writev([][]byte{make([]byte, 1000)})
		sent += max(n, 0)
		read(l.far)
		c.t += ms
	}
	if sent < 48e3 || sent > 56e3 {
		t.Errorf("%d bytes in half a second of 100 kB/s", sent)
	}
	c.t = 2*time.Second + 100*ms
	inj.Advance()
	write(t, l.far, "back")
	l.far.Shutdown()
	read(l)
	c.t += 2 * ms
	if s, err := read(l); err != transport.ErrAgain {
		t.Errorf("read %q, %v before its time", s, err)
	}
	c.t += ms
	if s, err := read(l); s != "back" || err != nil {
		t.Errorf("read %q, %v", s, err)
	}
	read(l)
	if _, err := read(l); err != io.EOF {
		t.Errorf("the end: %v", err)
	}
	for _, r := range inj.Report() {
		if r.Hits == 0 {
			t.Errorf("%v did nothing", r.Rule)
		}
	}
}

// TestNothingToHold: a connection on which nothing happens is asked for more all the time. What would have been held back is nothing, and no hit.
func TestNothingToHold(t *testing.T) {
	for _, text := range []string{"pause for=10ms", "pause dir=rx for=10ms", "delay 2ms for=10ms", "rate 8kbit for=10ms"} {
		c := &clock{t: 1}
		inj := fault.New(c.now)
		l := dial(t, inj, "1.1.1.1:1", "2.2.2.2:2")
		inj.Apply(rules(t, text)...)
		for range 3 {
			c.t += ms
			if s, err := read(l); err != transport.ErrAgain {
				t.Errorf("%s: read %q, %v", text, s, err)
			}
		}
		if n := inj.Report()[0].Hits; n != 0 {
			t.Errorf("%s: %d hits, and nothing was there", text, n)
		}
		for range 8 { // of 100 bytes that a read takes, and more than a rate lets through at once
			write(t, l.far, string(make([]byte, 1000)))
		}
		for range 100 {
			read(l)
		}
		if n := inj.Report()[0].Hits; n == 0 {
			t.Errorf("%s: no hit, and something was there", text)
		}
	}
}

// TestLink: each kind of fault of datagrams happens as often as it should, and is counted.
func TestLink(t *testing.T) {
	c := &clock{t: 1}
	inj := fault.New(c.now)
	l := inj.Link("1.1.1.1:4791")
	defer l.Close()
	inj.Apply(rules(t, "drop 10% dir=tx; duplicate 20% on=rc; corrupt 30%; delay 5ms±2ms; rate 8Mbit dir=rx")...)
	var lost, twice, spoiled int
	for range 10000 {
		c.t += ms
		f := l.Judge(true, 1000)
		lost, twice, spoiled = lost+num(f.Lost), twice+num(f.Twice), spoiled+num(l.Judge(false, 1).Spoiled)
		if f.Late < 3*ms || f.Late > 7*ms {
			t.Fatalf("late by %v", f.Late)
		}
	}
	for _, x := range [][3]int{{lost, 900, 1100}, {twice, 1850, 2150}, {spoiled, 2800, 3200}} {
		if x[0] < x[1] || x[0] > x[2] {
			t.Errorf("lost %d, twice %d, spoiled %d of 10000", lost, twice, spoiled)
		}
	}
	lost = 0
	for range 100 { // at once, over 1 MB a second: a millisecond each, and 20 ms of them may wait
		lost += num(l.Judge(false, 1000).Lost)
	}
	if lost < 70 || lost > 80 {
		t.Errorf("%d of 100 found the queue full", lost)
	}
	inj.Heal("")
	inj.Apply(rules(t, "cut kind=reset dir=both for=5ms")...)
	if !l.Down() || !l.Judge(true, 1).Lost || !l.Judge(false, 1).Lost {
		t.Error("a cut link carries something")
	}
	c.t += 6 * ms // nobody else calls: the link is there for as long as its device, whatever is dialed over it
	if l.Down() || l.Judge(true, 1).Lost {
		t.Error("a link does not work again when the cut is over")
	}
	inj.Apply(rules(t, "drop 100% for=5ms")...)
	if lost := l.Judge(true, 1).Lost; !lost {
		t.Error("nothing was dropped")
	}
	if c.t += 6 * ms; l.Judge(true, 1).Lost {
		t.Error("a link drops what is sent after the rule is over")
	}
	inj.Apply(rules(t, "cut on=tcp kind=reset; drop 100% lane=1; pause lane=lo")...)
	if f := l.Judge(true, 1); f != (fault.Fate{}) {
		t.Errorf("rules about others: %+v", f)
	}
	for _, r := range inj.Report()[:6] {
		if r.Hits == 0 {
			t.Errorf("%v did nothing", r.Rule)
		}
	}
}

func num(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestOutside: what is not done to connections is done by whoever can, and undone; that nobody can is said.
func TestOutside(t *testing.T) {
	c := &clock{t: 1}
	inj := fault.New(c.now)
	var did []string
	inj.Outside = func(r fault.Rule, begin bool) (int, error) {
		did = append(did, map[bool]string{true: "begin ", false: "end "}[begin]+r.Action.String())
		if r.Action == fault.Kill {
			return 0, errors.New("not allowed")
		}
		return num(begin), nil
	}
	inj.Apply(rules(t, "iface veth0 down for=5ms; kill peer after=2ms")...)
	for range 10 {
		c.t += ms
		inj.Advance()
	}
	if want := []string{"begin iface", "begin kill", "end kill", "end iface"}; !slices.Equal(did, want) {
		t.Errorf("%v", did)
	}
	if r := inj.Report(); r[0].Hits != 1 || r[1].Hits != 0 || r[1].Err == nil || !r[1].Over {
		t.Errorf("%+v", r)
	}
	did = nil
	inj.Apply(rules(t, "kill peer signal=stop")...) // stays stopped until somebody ends that
	for range 10 {
		c.t += time.Hour
		inj.Advance()
	}
	if r := inj.Report()[2]; !slices.Equal(did, []string{"begin kill"}) || !r.InForce || r.Over || !inj.Spent() || inj.Over() {
		t.Errorf("stopped without an end: %v, %+v", did, r)
	}
	if inj.Heal(""); !slices.Equal(did, []string{"begin kill", "end kill"}) {
		t.Errorf("stopped without an end, and ended: %v", did)
	}
	alone := fault.New(c.now)
	alone.Apply(rules(t, "kill peer")...)
	if r := alone.Report()[0]; r.Err == nil || r.Hits != 0 {
		t.Errorf("%+v", r)
	}
}
