package self_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/openbraid/braid/transport"
)

// story is a sink and completer that writes down what happens, and does what a test wants inside.
type story struct {
	ep    transport.Endpoint
	name  string
	log   *[]string
	depth *int

	onFrame  func(in *transport.Incoming)
	onPlace  func(size int) []byte
	onOther  func(what string)
	decision transport.Decision
	err      error
}

func (s *story) say(format string, args ...any) {
	*s.log = append(*s.log, s.name+" "+fmt.Sprintf(format, args...))
}

// inside runs f as part of a callback; callbacks never nest.
func (s *story) inside(what string, f func()) {
	if *s.depth++; *s.depth > 1 {
		s.say("NESTED %s", what)
	}
	f()
	if s.onOther != nil {
		s.onOther(what)
	}
	*s.depth--
}

func (s *story) Connected() { s.inside("connected", func() { s.say("connected") }) }
func (s *story) Room()      { s.inside("room", func() { s.say("room") }) }

func (s *story) Place(id uint8, _ []byte, size int) (mem []byte) {
	s.inside("place", func() {
		s.say("place %d", id)
		if s.onPlace != nil {
			mem = s.onPlace(size)
		}
	})
	return mem
}

func (s *story) Frame(in *transport.Incoming) {
	s.inside("frame", func() {
		s.say("%s %d", map[transport.Class]string{transport.Data: "data", transport.Control: "control"}[in.Class], in.ID)
		if s.onFrame != nil {
			s.onFrame(in)
		}
	})
}

func (s *story) OnError(err error) transport.Decision {
	s.inside("error", func() { s.say("error"); s.err = err })
	return s.decision
}

// Ends may come from Close and Cancel too, so they may be inside.
func (s *story) Sent(tag uint64) { s.say("sent %d", tag) }
func (s *story) Executed(tag uint64, err error) {
	if err != nil {
		s.say("ended %d", tag)
		return
	}
	s.say("executed %d", tag)
}

func (s *story) Accepted(ep transport.Endpoint) (transport.Sink, transport.Options) {
	s.ep = ep
	return s, transport.Options{Window: 1 << 20}
}

func (s *story) data(id uint8) transport.Status {
	return s.ep.Post(&transport.Frame{ID: id, Payload: []byte{id}, Done: s, Tag: uint64(id)})
}

func (s *story) zero(id uint8, payload []byte) transport.Status {
	return s.ep.Post(&transport.Frame{ID: id, Head: []byte{id}, Payload: payload, ZeroCopy: true, Done: s, Tag: uint64(id)})
}

func (s *story) control(id uint8) transport.Status {
	return s.ep.Post(&transport.Frame{ID: id, Class: transport.Control, Payload: []byte{id}})
}

// tale is two of them, connected, in one interface.
type tale struct {
	transport.Iface
	x, y *story
	log  []string
}

func newTale(t testing.TB) *tale {
	t.Helper()
	tl := &tale{Iface: open(t)}
	depth := 0
	tl.x = &story{name: "x", log: &tl.log, depth: &depth, decision: transport.Hold}
	tl.y = &story{name: "y", log: &tl.log, depth: &depth, decision: transport.Hold}
	l, err := tl.Listen("self:0", tl.y)
	if err != nil {
		t.Fatal(err)
	}
	if tl.x.ep, err = tl.Dial("", l.Addr(), transport.Options{Window: 1 << 20}, tl.x); err != nil {
		t.Fatal(err)
	}
	tl.Progress()
	tl.expect(t, "x connected")
	tl.x.ep.Admit(tl.Attr().MaxFrame, true)
	tl.y.ep.Admit(tl.Attr().MaxFrame, true)
	return tl
}

// expect compares and forgets what was written down.
func (tl *tale) expect(t testing.TB, want ...string) {
	t.Helper()
	if !slices.Equal(tl.log, want) {
		t.Errorf("it went\n  %s\nwant\n  %s", strings.Join(tl.log, ", "), strings.Join(want, ", "))
	}
	tl.log = nil
}

func TestOneTurn(t *testing.T) {
	tl := newTale(t)
	tl.x.data(1)
	tl.x.data(2)
	if n := tl.Progress(); n != 3 {
		t.Errorf("Progress counted %d, want two frames and an acknowledgement", n)
	}
	tl.expect(t, "y data 1", "y data 2", "x executed 1", "x executed 2")
	if c := tl.x.ep.Counts(); c.RoundTrips != 1 {
		t.Errorf("%d round trips of one acknowledgement", c.RoundTrips)
	}
	if n := tl.Progress(); n != 0 {
		t.Errorf("Progress counted %d of nothing", n)
	}
}

// TestAnswerBeforeAck: what the peer says of a frame is seen before the acknowledgement that covers it.
func TestAnswerBeforeAck(t *testing.T) {
	tl := newTale(t)
	tl.y.onFrame = func(in *transport.Incoming) { tl.y.control(in.ID + 100) }
	for id := range uint8(3) {
		tl.x.data(id + 1)
	}
	tl.Progress()
	tl.expect(t, "y data 1", "y data 2", "y data 3", "x control 101", "x control 102", "x control 103",
		"x executed 1", "x executed 2", "x executed 3")

	// also when something that was said before makes x and y talk in the same round
	tl.x.onFrame = func(in *transport.Incoming) {
		if in.ID == 50 {
			tl.x.data(9)
		}
	}
	tl.y.control(50)
	tl.x.data(8)
	tl.Progress()
	tl.Progress()
	tl.Progress()
	for _, id := range []string{"8", "9"} {
		if slices.Index(tl.log, "x control 10"+id) > slices.Index(tl.log, "x executed "+id) {
			t.Errorf("frame %s was acknowledged before the answer to it: %v", id, tl.log)
		}
	}
}

func TestControlFirst(t *testing.T) {
	tl := newTale(t)
	tl.x.data(1)
	tl.x.data(2)
	tl.x.data(3)
	tl.x.control(4)
	tl.y.onFrame = func(in *transport.Incoming) {
		if in.ID == 1 {
			tl.x.control(5) // 2 and 3 are not on their way
		}
	}
	for range 3 {
		tl.Progress()
	}
	got := slices.DeleteFunc(tl.log, func(s string) bool { return strings.HasPrefix(s, "x") })
	if want := []string{"y control 4", "y data 1", "y control 5", "y data 2", "y data 3"}; !slices.Equal(got, want) {
		t.Errorf("it went %v, want %v", got, want)
	}
}

// TestTalkWithoutEnd: callbacks that always post something neither nest nor keep Progress from ending.
func TestTalkWithoutEnd(t *testing.T) {
	tl := newTale(t)
	for _, s := range []*story{tl.x, tl.y} {
		s.onFrame = func(in *transport.Incoming) {
			s.data(7)
			s.control(8)
		}
	}
	tl.x.data(7)
	for range 100 {
		before := len(tl.log)
		if n := tl.Progress(); n == 0 || n > 2*2*(1024+512+3) {
			t.Fatalf("Progress dealt with %d", n)
		}
		if len(tl.log) == before {
			t.Fatal("it stands still")
		}
		if i := slices.IndexFunc(tl.log, func(s string) bool { return strings.Contains(s, "NESTED") }); i >= 0 {
			t.Fatal(tl.log[i])
		}
		if len(tl.log) > 10000 {
			tl.log = nil // control frames double each round until there is no room
		}
	}
}

func TestProgressInside(t *testing.T) {
	tl := newTale(t)
	tl.y.onFrame = func(*transport.Incoming) {
		defer func() {
			if recover() == nil {
				t.Error("Progress inside a callback must panic")
			}
		}()
		tl.Progress()
	}
	tl.x.data(1)
	tl.Progress()
	tl.expect(t, "y data 1", "x executed 1")
}

// TestBoundedTurn: a large amount is taken in several turns, and others have theirs in between.
func TestBoundedTurn(t *testing.T) {
	tl := newTale(t)
	payload := make([]byte, 100<<10)
	for id := range uint8(10) {
		if st := tl.x.zero(id+1, payload); st != transport.Pending {
			t.Fatal(st)
		}
	}
	for range 2000 {
		tl.x.data(99)
	}
	turns := 0
	for c := tl.x.ep.Counts(); c.Acked < c.Posted; c = tl.x.ep.Counts() {
		if turns++; turns > 100 {
			t.Fatalf("stands still at %+v", c)
		}
		was := tl.y.ep.Counts().AcceptedBytes
		tl.Progress()
		if d := tl.y.ep.Counts().AcceptedBytes - was; d > 2<<20+200<<10 {
			t.Errorf("%d bytes in one Progress", d)
		}
	}
	if turns < 2 {
		t.Errorf("all of it in %d turns", turns)
	}
}

func TestOneCopy(t *testing.T) {
	tl := newTale(t)
	payload := bytes.Repeat([]byte{7}, 10000)
	mem := make([]byte, len(payload))
	var got []byte
	tl.y.onPlace = func(int) []byte { return mem }
	tl.y.onFrame = func(in *transport.Incoming) {
		got = in.Payload
		if in.Placed != (unsafe.SliceData(got) == unsafe.SliceData(mem)) || !bytes.Equal(in.Head, []byte{in.ID}) {
			t.Errorf("frame %d: placed %v, head %v", in.ID, in.Placed, in.Head)
		}
	}
	tl.x.zero(1, payload)
	copy(payload, "not yet read") // Post has not looked at it
	tl.Progress()
	tl.expect(t, "y place 1", "y data 1", "x sent 1", "x executed 1")
	if !bytes.Equal(got, payload) || unsafe.SliceData(got) != unsafe.SliceData(mem) {
		t.Error("the payload is not in its place")
	}

	mem = nil // no place: a copy that the receiver may keep
	var kept *transport.Buffer
	tl.y.onFrame = func(in *transport.Incoming) { got, kept = in.Payload, in.Buf; kept.Retain() }
	tl.x.zero(2, payload)
	tl.Progress()
	tl.expect(t, "y place 2", "y data 2", "x sent 2", "x executed 2")
	clear(payload) // the poster's again
	if got[100] != 7 || string(got[:3]) != "not" {
		t.Error("a kept payload changed with the poster's memory")
	}
	kept.Release()

	tl.y.onFrame = nil
	tl.x.zero(3, payload[:100])
	tl.x.zero(4, nil)
	tl.Progress()
	tl.expect(t, "y data 3", "y data 4", "x sent 3", "x executed 3", "x executed 4")
}

func TestPlaceOfAnotherSize(t *testing.T) {
	tl := newTale(t)
	tl.y.onPlace = func(size int) []byte { return make([]byte, size-1) }
	tl.x.zero(1, make([]byte, 5000))
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, transport.ErrFrame) {
			t.Errorf("panic %v, want ErrFrame", err)
		}
	}()
	tl.Progress()
}

func TestControlRoom(t *testing.T) {
	tl := newTale(t)
	post := func(size int) transport.Status {
		return tl.x.ep.Post(&transport.Frame{ID: 1, Class: transport.Control, Payload: make([]byte, size)})
	}
	if post(200<<10) != transport.Done || post(0) != transport.NoResource {
		t.Error("one large control frame is taken, the next waits")
	}
	tl.Progress()
	tl.expect(t, "y control 1", "x room")
	n := 0
	for ; post(0) == transport.Done; n++ {
	}
	if n < 100 || n > 10000 {
		t.Errorf("room for %d empty control frames", n)
	}
	tl.Progress()
	if last := tl.log[len(tl.log)-1]; last != "x room" || len(tl.log) != n+1 {
		t.Errorf("%d callbacks, the last is %q", len(tl.log), last)
	}
	tl.log = nil
	tl.Progress()
	tl.expect(t)
}

// TestRoomNotEarly: Room comes when there is room, not with the next turn.
func TestRoomNotEarly(t *testing.T) {
	tl := newTale(t)
	tl.y.data(1) // x has its turn first
	for tl.x.zero(2, make([]byte, 300<<10)) != transport.NoResource {
	}
	tl.Progress()
	tl.expect(t, "x data 1", "y executed 1", "y place 2", "y data 2", "y place 2", "y data 2", "y place 2", "y data 2",
		"x sent 2", "x executed 2", "x sent 2", "x executed 2", "x sent 2", "x executed 2", "x room")

	tl.y.data(1)
	n := 0
	for ; tl.x.control(2) == transport.Done; n++ {
	}
	tl.Progress()
	if len(tl.log) != n+3 || tl.log[0] != "x data 1" || tl.log[1] != "y control 2" || tl.log[n+2] != "x room" {
		t.Errorf("%d control frames, then it went %q … %q", n, tl.log[:2], tl.log[n:])
	}
}

// TestNoRoomAfterCancel: who canceled is not told of room.
func TestNoRoomAfterCancel(t *testing.T) {
	tl := newTale(t)
	for tl.x.zero(2, make([]byte, 300<<10)) != transport.NoResource {
	}
	tl.x.ep.Cancel(transport.ErrReset)
	tl.log = nil
	tl.y.data(1)
	tl.Progress()
	tl.expect(t, "x data 1", "y executed 1")
}

// TestManySmall: frames without a byte are bounded too.
func TestManySmall(t *testing.T) {
	tl := newTale(t)
	f := &transport.Frame{ID: 1, Done: tl.x}
	n := 0
	for ; tl.x.ep.Post(f) == transport.Done; n++ {
		if n > 1<<20 {
			t.Fatal("no end")
		}
	}
	for c := tl.x.ep.Counts(); c.Acked < uint64(n); c = tl.x.ep.Counts() {
		if tl.Progress() == 0 {
			t.Fatalf("stands still at %+v", c)
		}
	}
	if !slices.Contains(tl.log, "x room") {
		t.Error("no Room")
	}
}
