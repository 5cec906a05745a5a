package flow

import (
	"fmt"
	"testing"

	"github.com/openbraid/braid/internal/golden"
	"pgregory.net/rapid"
)

// TestMatrix: each state with each event.
func TestMatrix(t *testing.T) { golden.Same(t, "testdata/life.txt", Matrix()) }

// end is one side of a stream, with a reader who takes what he likes.
type end struct {
	Life
	send  Send
	recv  Receive
	read  int // bytes that the user has taken
	wrote int
	said  bool // its Fin or Close
}

// note is what is under way to the other side. An asked side knows the first window of the asker; the answer has its own.
type note struct {
	e     Event
	n     int
	total uint64
}

// world is both sides and what is under way between them, in order.
type world struct {
	t      *rapid.T
	ends   [2]*end
	way    [2][]note // towards end i
	budget [2]Budget
	sizes  Sizes
	resets bool
}

func newWorld(t *rapid.T) *world {
	w := &world{t: t, sizes: Sizes{First: rapid.IntRange(1, 20).Draw(t, "first")}}
	w.sizes.Most = w.sizes.First + rapid.IntRange(0, 100).Draw(t, "more")
	for i := range w.ends {
		w.budget[i].Left = rapid.IntRange(0, 60).Draw(t, "budget")
		w.ends[i] = &end{recv: NewReceive(w.sizes, &w.budget[i])}
	}
	w.ends[1].Life = Asked()
	w.must(w.ends[1].send.Grant(w.ends[0].recv.Granted()))
	w.put(0, note{e: Accepted, total: w.ends[1].recv.Granted()})
	return w
}

func (w *world) put(to int, n note) { w.way[to] = append(w.way[to], n) }

func (w *world) must(err error) {
	if err != nil {
		w.t.Fatal(err)
	}
}

// tell carries out what a step of end i asks for.
func (w *world) tell(i int, say Say) {
	switch say {
	case SayFin:
		w.put(1-i, note{e: Fin})
	case SayClose:
		w.put(1-i, note{e: PeerClosed})
	case SayReset:
		w.put(1-i, note{e: PeerReset})
	case Nothing:
		return
	}
	if w.ends[i].said && say == SayFin {
		w.t.Fatalf("end %d says twice that it sends no more", i)
	}
	w.ends[i].said = true
}

// call is what a user does; what his state does not allow does nothing.
func (w *world) call(i int, e Event) {
	if say, ok := w.ends[i].Step(e); ok {
		w.tell(i, say)
	}
	w.look(i)
}

func (w *world) write(i int, n int) {
	x := w.ends[i]
	if n = min(n, x.send.Room()); n == 0 || !x.MayWrite() {
		return
	}
	x.send.Take(n)
	x.wrote += n
	w.put(1-i, note{e: Data, n: n})
}

func (w *world) read(i int, n int) {
	x := w.ends[i]
	n = min(n, x.recv.Held())
	x.read += n
	if n == 0 {
		x.recv.Waits()
	}
	if tell := x.recv.Consumed(n); tell && x.MayRead() {
		w.put(1-i, note{e: Window, total: x.recv.Granted()})
	}
	w.look(i)
}

// arrive takes the next note of end i.
func (w *world) arrive(i int) bool {
	if len(w.way[i]) == 0 {
		return false
	}
	n := w.way[i][0]
	w.way[i] = w.way[i][1:]
	x := w.ends[i]
	if !x.Listed() {
		return true // late
	}
	say, ok := x.Step(n.e)
	if !ok {
		w.t.Fatalf("%v arrives in %v", n.e, x.State())
	}
	switch {
	case n.e == Data:
		w.must(x.recv.Arrived(n.n))
	case n.e == Window || n.e == Accepted:
		w.must(x.send.Grant(n.total))
	}
	w.tell(i, say)
	w.look(i)
	return true
}

// look is the invariants of one end.
func (w *world) look(i int) {
	x := w.ends[i]
	if held := x.recv.Held(); held > w.sizes.Most {
		w.t.Fatalf("end %d holds %d bytes, at most %d", i, held, w.sizes.Most)
	}
	if w.budget[i].Left < 0 {
		w.t.Fatalf("the budget of end %d is overdrawn by %d", i, -w.budget[i].Left)
	}
}

func (w *world) step() {
	i := rapid.IntRange(0, 1).Draw(w.t, "end")
	switch what := rapid.IntRange(0, 19).Draw(w.t, "what"); {
	case what < 7:
		w.arrive(i)
	case what < 12:
		w.write(i, rapid.IntRange(1, 40).Draw(w.t, "bytes"))
	case what < 16:
		w.read(i, rapid.IntRange(1, 40).Draw(w.t, "bytes"))
	case what < 17:
		w.call(i, CallCloseWrite)
	case what < 18 && w.ends[i].State() != Opening:
		w.call(i, CallClose)
	case what == 18 && rapid.IntRange(0, 9).Draw(w.t, "rarely") == 0:
		w.resets = true
		w.call(i, CallReset)
	}
}

// settle has everything arrive, and readers read.
func (w *world) settle() {
	for moved := true; moved; {
		moved = false
		for i := range w.ends {
			for w.arrive(i) {
				moved = true
			}
			if w.ends[i].recv.Held() > 0 {
				w.read(i, w.ends[i].recv.Held())
				moved = true
			}
		}
	}
}

// TestTwoSides: whatever users call and in whatever order things arrive, no side breaks a rule towards the other, a sender is never left
// without a window, what was sent before the end is read, and both come to their end.
func TestTwoSides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			w.step()
		}
		w.settle()
		for i, x := range w.ends {
			if x.MayWrite() && w.ends[1-i].MayRead() && x.send.Room() == 0 {
				t.Fatalf("end %d has no room, though all is read", i)
			}
			if y := w.ends[1-i]; !w.resets && y.State() != Closing && y.State() != Closed && y.read != x.wrote {
				t.Fatalf("end %d wrote %d bytes, %d were read", i, x.wrote, y.read)
			}
		}
		w.call(0, CallClose)
		w.settle()
		w.call(1, CallClose)
		w.settle()
		for i, x := range w.ends {
			if x.State() != Closed {
				t.Fatalf("end %d is left %v", i, x.State())
			}
			x.recv.End()
			x.recv.End()
		}
	})
}

// TestCloseWaitsForNobody: who closes is done when the answer is here, whatever the other user does.
func TestCloseWaitsForNobody(t *testing.T) {
	for _, peer := range []State{Open, WriteEnded, ReadEnded} {
		l, p := Asked(), Life{peer}
		if peer == WriteEnded {
			l = Life{ReadEnded}
		}
		if peer == ReadEnded {
			l = Life{WriteEnded}
		}
		l.Step(CallClose)
		if say, ok := p.Step(PeerClosed); !ok || say == SayFin && l.State() != Closing || say == Nothing && l.State() != Closed {
			t.Errorf("a peer that is %v says %v (%v) to who is %v", peer, say, ok, l.State())
		}
	}
}

// TestGrowth: a window grows when its sender stands still though the reader doesn't, up to the largest, within the budget, and gives it back.
func TestGrowth(t *testing.T) {
	b := Budget{Left: 1000}
	r := NewReceive(Sizes{First: 64, Most: 512}, &b)
	keepsUp := func() {
		for range 20 { // whatever is granted comes, is taken, and the reader waits for more
			must(t, r.Arrived(int(r.granted-r.arrived)))
			r.Consumed(r.Held())
			r.Waits()
		}
	}
	keepsUp()
	if r.size != 512 || b.Left != 1000-(512-64) {
		t.Errorf("the window is %d, %d are left", r.size, b.Left)
	}
	second := NewReceive(Sizes{First: 64, Most: 1024}, &b)
	r, second = second, r
	keepsUp()
	if r.size != 64+552 || b.Left != 0 {
		t.Errorf("the second window is %d, %d are left", r.size, b.Left)
	}
	r.End()
	second.End()
	if b.Left != 1000 {
		t.Errorf("%d are left in the end", b.Left)
	}
	slow := NewReceive(Sizes{First: 64, Most: 512}, &b)
	for range 20 { // all of it comes, and more before the reader has taken the last
		must(t, slow.Arrived(int(slow.granted-slow.arrived)))
		slow.Consumed(slow.Held() - 1)
		slow.Waits()
	}
	if slow.size != 64 {
		t.Errorf("the window of a slow reader is %d", slow.size)
	}
	idle := NewReceive(Sizes{First: 64, Most: 512}, &b)
	for range 200 { // a sender who has little to say never uses it up
		must(t, idle.Arrived(10))
		idle.Consumed(10)
		idle.Waits()
	}
	if idle.size != 64 {
		t.Errorf("the window of a sender who has little to say is %d", idle.size)
	}
}

// TestLies: what a peer must not do is an error.
func TestLies(t *testing.T) {
	r := NewReceive(Sizes{First: 64, Most: 64}, &Budget{})
	must(t, r.Arrived(64))
	if r.Arrived(1) == nil {
		t.Error("more than the window is taken")
	}
	var s Send
	must(t, s.Grant(10))
	must(t, s.Grant(10))
	if s.Grant(9) == nil {
		t.Error("a window is taken back")
	}
	s.Take(10)
	s.Back(4)
	if s.Room() != 4 || s.Sent() != 6 {
		t.Error(s)
	}
	defer func() {
		if recover() == nil {
			t.Error("more is sent than there is room for")
		}
	}()
	s.Take(5)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestStrings: all print themselves.
func TestStrings(t *testing.T) {
	if s := fmt.Sprint(Broken, Broke, SayReset); s != "broken broke reset" {
		t.Error(s)
	}
}

// TestConsumedAfterEnd: a reader who still looks at what came when a direction ends takes nothing of the budget any more, which nobody would give back.
func TestConsumedAfterEnd(t *testing.T) {
	b := Budget{Left: 100}
	r := NewReceive(Sizes{First: 10, Most: 100}, &b)
	for range 2 { // the sender uses the window up, and the reader waits
		if err := r.Arrived(10); err != nil {
			t.Fatal(err)
		}
		if !r.Consumed(10) {
			t.Fatal("the sender is left without a window")
		}
		r.Waits()
	}
	if b.Left == 100 {
		t.Fatal("the window does not grow")
	}
	if err := r.Arrived(20); err != nil {
		t.Fatal(err)
	}
	r.Waits()
	r.End()
	if r.Consumed(20) || b.Left != 100 {
		t.Errorf("%d of 100 are left", b.Left)
	}
}
