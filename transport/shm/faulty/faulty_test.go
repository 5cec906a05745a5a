//go:build linux

package faulty_test

import (
	"testing"
	"time"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/transport"
)

const ms = time.Millisecond

// end is a sink and a completer that count.
type end struct {
	ep        transport.Endpoint
	up        bool
	bytes     int
	executed  int
	err       error
	full      bool
	roomAgain int
	lent      transport.Export
}

func (e *end) Connected()                    { e.up = true }
func (*end) Place(uint8, []byte, int) []byte { return nil }
func (e *end) Frame(in *transport.Incoming)  { e.bytes += len(in.Head) + len(in.Payload) }
func (e *end) Room()                         { e.full = false; e.roomAgain++ }
func (e *end) Sent(uint64)                   {}
func (e *end) Executed(uint64, error)        { e.executed++ }
func (e *end) Lend(transport.MemKey) transport.Loan {
	return transport.Loan{Export: e.lent, Rights: 1, Write: true}
}
func (e *end) OnError(err error) (d transport.Decision) { e.err = err; return transport.Hold }
func (e *end) Accepted(ep transport.Endpoint) (transport.Sink, transport.Options) {
	e.ep = ep
	return e, transport.Options{}
}

// couple is a connection whose clock stands still between steps.
type couple struct {
	*world
	now  time.Duration
	x, y *end
}

func newCouple(t *testing.T) *couple {
	t.Helper()
	c := &couple{now: time.Second, x: &end{}, y: &end{}}
	c.world = newWorld(t, func() time.Duration { return c.now })
	l, err := c.server.Listen("shm:0", c.y)
	if err != nil {
		t.Fatal(err)
	}
	if c.x.ep, err = c.client.Dial("", l.Addr(), transport.Options{}, c.x); err != nil {
		t.Fatal(err)
	}
	for stop := time.Now().Add(20 * time.Second); !c.x.up || c.y.ep == nil; c.turn() {
		if time.Now().After(stop) {
			t.Fatal("the connection does not come to stand")
		}
	}
	for _, e := range []*end{c.x, c.y} {
		e.ep.Admit(c.client.Attr().MaxFrame, true)
	}
	return c
}

// step is how far the clock goes with each turn.
const step = 100 * time.Microsecond

func (c *couple) turn() {
	for _, f := range []transport.Iface{c.client, c.server} {
		f.Progress()
		f.Flush()
	}
	c.now += step
	c.inj.Advance()
}

// run lets so much time pass.
func (c *couple) run(d time.Duration) {
	for end := c.now + d; c.now < end; {
		c.turn()
	}
}

func (c *couple) rule(t *testing.T, text string) {
	t.Helper()
	r, err := fault.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	c.inj.Apply(r)
}

// post posts one frame, and says whether it was taken.
func (e *end) post(size int) bool {
	s := e.ep.Post(&transport.Frame{ID: 1, Head: []byte{1}, Payload: make([]byte, size-1), Done: e})
	e.full = s == transport.NoResource
	return s == transport.Done
}

func (c *couple) hits(t *testing.T, want bool) {
	t.Helper()
	if r := c.inj.Report()[0]; r.Hits > 0 != want {
		t.Errorf("%d hits: %v", r.Hits, r.Rule)
	}
}

// TestPause: what is under way waits, and nothing is lost.
func TestPause(t *testing.T) {
	for text, want := range map[string][2]int{"pause for=20ms": {0, 0}, "pause dir=tx for=20ms": {300, 0}, "pause dir=rx for=20ms": {0, 500}} {
		c := newCouple(t)
		c.rule(t, text)
		c.run(ms)
		c.x.post(500)
		c.y.post(300)
		c.run(10 * ms)
		if got := [2]int{c.x.bytes, c.y.bytes}; got != want {
			t.Errorf("%s: %d bytes arrived meanwhile, want %d", text, got, want)
		}
		c.run(20 * ms)
		if c.x.bytes != 300 || c.y.bytes != 500 || c.x.executed != 1 || c.y.executed != 1 {
			t.Errorf("%s: %d and %d bytes arrived, %d and %d frames are acknowledged", text, c.x.bytes, c.y.bytes, c.x.executed, c.y.executed)
		}
		c.hits(t, true)
	}
}

// TestPauseOfNothing: a pause in which nothing was under way did nothing, and that shows.
func TestPauseOfNothing(t *testing.T) {
	c := newCouple(t)
	c.rule(t, "pause for=20ms")
	c.run(30 * ms)
	c.hits(t, false)
}

// TestSilence: nobody is told of it, nor of the end while it lasts; what is dialed later works.
func TestSilence(t *testing.T) {
	for text, want := range map[string][2]int{
		"cut kind=silence for=50ms": {0, 0}, "cut kind=silence dir=tx for=50ms": {300, 0}, "cut kind=silence dir=rx for=50ms": {0, 500},
	} {
		c := newCouple(t)
		c.rule(t, text)
		c.turn() // in each turn it is asked
		c.x.post(500)
		c.y.post(300)
		c.run(10 * ms)
		if got := [2]int{c.x.bytes, c.y.bytes}; got != want || c.x.err != nil || c.y.err != nil {
			t.Errorf("%s: %d bytes arrived, want %d; %v, %v", text, got, want, c.x.err, c.y.err)
		}
		c.x.ep.Quiesce()
		c.x.ep.Close()
		if c.x.executed != 1 {
			t.Errorf("%s: for its owner it is not closed", text)
		}
		c.run(10 * ms)
		if told := c.y.err != nil; told && text != "cut kind=silence dir=rx for=50ms" {
			t.Errorf("%s: %v, while it lasts", text, c.y.err)
		}
		c.run(50 * ms)
		if c.y.err == nil {
			t.Errorf("%s: the end is hidden when it is over", text)
		}
		c.hits(t, true)
	}
}

// TestReset: both are told, and its slot is the next one's.
func TestReset(t *testing.T) {
	c := newCouple(t)
	c.rule(t, "cut lane=0 kind=reset for=5ms")
	c.run(10 * ms)
	if c.x.err == nil || c.y.err == nil {
		t.Errorf("%v, %v", c.x.err, c.y.err)
	}
	c.x.ep.Close()
	again := &end{}
	ep, err := c.client.Dial("", c.y.ep.Local(), transport.Options{}, again)
	if err != nil {
		t.Fatal(err)
	}
	again.ep = ep
	slot, _, ok := c.inj.Where(ep.Local(), ep.Remote())
	if slot != 0 || !ok {
		t.Errorf("it is in slot %d, %v", slot, ok)
	}
	c.run(ms)
	c.hits(t, true)
}

// TestAtWrite: a cut waits for a write, and of what is written the peer has a part at most.
func TestAtWrite(t *testing.T) {
	c := newCouple(t)
	c.rule(t, "cut kind=reset when=write for=5ms")
	c.run(10 * ms)
	if c.x.err != nil || c.inj.Report()[0].InForce {
		t.Fatalf("it did not wait: %v", c.x.err)
	}
	large := int(c.client.Attr().MaxFrame)
	if !c.x.post(large) {
		t.Fatal("a frame was not taken")
	}
	c.run(10 * ms)
	if c.x.err == nil || c.y.err == nil || c.x.executed != 0 || c.y.bytes != 0 {
		t.Errorf("%v, %v; the peer has %d bytes of %d", c.x.err, c.y.err, c.y.bytes, large)
	}
	c.hits(t, true)
}

const size = 10_000

// TestRate: no more goes through in a second than the rule says, and a burst; who was refused is told of room.
func TestRate(t *testing.T) {
	for _, text := range []string{"rate 8Mbit dir=tx", "rate 8Mbit dir=rx"} {
		c := newCouple(t)
		c.rule(t, text)
		from, to, burst := c.x, c.y, 2*size
		if text == "rate 8Mbit dir=rx" {
			from, to, burst = c.y, c.x, 512<<10 // what a turn takes
		}
		for end := c.now + time.Second; c.now < end; c.turn() {
			for !from.full && from.post(size) {
			}
		}
		if to.bytes < 900_000 || to.bytes > 1_000_000+burst {
			t.Errorf("%s: %d bytes in a second", text, to.bytes)
		}
		if from == c.x && from.roomAgain < 10 {
			t.Errorf("%s: told %d times of room", text, from.roomAgain)
		}
		c.hits(t, true)
	}
}

// TestBorrow: what is borrowed goes back as soon as a rule is in force, whatever that does, and is borrowed again when it is over; not over a connection that was cut.
func TestBorrow(t *testing.T) {
	c := newCouple(t)
	var err error
	if c.y.lent, err = c.lends.Export(64); err != nil {
		t.Fatal(err)
	}
	over, key := c.x.ep.(transport.Borrower), transport.MemKey{1}
	enters := func(w *transport.Window) bool {
		if w == nil || w.Enter() == nil {
			return false
		}
		w.Leave()
		return true
	}
	for _, text := range []string{"pause for=10ms", "pause dir=rx for=10ms", "rate 1Mbit for=10ms", "cut kind=silence dir=tx for=10ms"} {
		r, err := fault.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		w := over.Borrow(key)
		for stop := time.Now().Add(20 * time.Second); !enters(w); w = over.Borrow(key) {
			if c.turn(); time.Now().After(stop) {
				t.Fatalf("before %s: nothing is borrowed", text)
			}
		}
		c.inj.Apply(r)
		c.turn()
		if enters(w) || enters(over.Borrow(key)) {
			t.Errorf("%s: it is in force, and its memory is still copied", text)
		}
		if c.run(11 * ms); r.Action == fault.Cut && enters(over.Borrow(key)) {
			t.Errorf("%s: it is over, and memory is borrowed over what was cut", text)
		}
	}
}
