package outbox

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/family"
	"github.com/openbraid/braid/internal/golden"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// kind is an operation, and how many bytes of payload its frames have together; a frame without counts as one.
type kind struct {
	name string
	took int
	post func(w *world, src []byte) (*request.Request, error)
}

func kinds() []kind {
	put := func(w *world, src []byte) (*request.Request, error) { return w.PostPut(src, w.key, 0) }
	am := func(w *world, src []byte) (*request.Request, error) { return w.PostAM(1, nil, src) }
	atomic := func(fetch bool) func(*world, []byte) (*request.Request, error) {
		return func(w *world, _ []byte) (*request.Request, error) {
			return w.PostAtomic(w.key, wire.AtomicOp{Change: wire.ChangeAdd, Size: 8, Fetch: fetch, Value: 1})
		}
	}
	return []kind{
		{"put, one frame", 100, func(w *world, src []byte) (*request.Request, error) { return put(w, src[:100]) }},
		{"put, three frames", 600, put},
		{"put with a signal", 101, func(w *world, src []byte) (*request.Request, error) {
			return w.PostPutSignal(src[:100], w.key, 0, Signal{Key: w.key, Offset: 1024, Value: 1})
		}},
		{"message, one frame", 100, func(w *world, src []byte) (*request.Request, error) { return am(w, src[:100]) }},
		{"message, three frames", 600, am},
		{"add", 1, atomic(false)},
		{"fetch-add", 1, atomic(true)},
		{"get, one frame", 1, func(w *world, src []byte) (*request.Request, error) { return w.PostGet(src[:100], w.key, 0) }},
		{"offer that is put, two frames", 301, func(w *world, src []byte) (*request.Request, error) { // the offer is another one
			r, err := w.PostAnswered(family.Tag+2, wire.TagOffer{Size: 300}.AppendTo(nil), nil, w.scratch.Memory.Add(src[:300]))
			if err == nil {
				r.Size, w.offered = 300, r.Op()
			}
			return r, err
		}},
		{received, 1, func(w *world, src []byte) (*request.Request, error) { // the word that there is room
			r := w.pool.Get(request.Receive, w.Box)
			w.Read(r, wire.TagOffer{TagSync: wire.TagSync{Op: 5}, Size: 300, Put: true}, 0, src[:300:300])
			return r, nil
		}},
	}
}

// received is the one kind that has nothing of its own at the peer: it is written to here.
const received = "receive that is put to"

// state is where an operation is when something happens to it. reach posts it and brings it there, and then lets the world go on to the end.
type state struct {
	name  string
	lanes int
	reach func(w *world, post func())
	on    func(w *world)
}

func states() []state {
	lost := func(w *world, post func()) { post(); w.lose(0) }
	back := func(w *world, post func()) { lost(w, post); w.back(0, 0) }
	again := func(w *world, post func()) { back(w, post); w.addLane() }
	up := func(w *world) { w.addLane() }
	return []state{
		{"waits for a lane", 0, func(_ *world, post func()) { post() }, up},
		{"waits for room", 1, func(w *world, post func()) { w.conn(0).room = 0; post() }, func(w *world) { w.conn(0).room = 100 }},
		{"has one frame on a lane", 1, func(w *world, post func()) { w.conn(0).room = 1; post() }, func(w *world) { w.conn(0).room = 100 }},
		{"is on a lane", 1, func(_ *world, post func()) { post() }, func(*world) {}},
		{"its lane is lost", 1, lost, func(w *world) { w.back(0, 0); up(w) }},
		{"its lane is lost, the peer has one frame", 1, lost, func(w *world) { w.back(0, 1); up(w) }},
		{"is executed, and not answered", 1, func(w *world, post func()) { w.mute = true; post(); w.ack() }, func(w *world) { w.speak() }},
		{"was handed back", 1, back, up},
		{"was handed back, all but one frame", 1, func(w *world, post func()) { lost(w, post); w.back(0, 1) }, up},
		{"was posted again", 1, again, func(*world) {}},
		{"was handed back twice", 1, func(w *world, post func()) { again(w, post); w.lose(1); w.back(1, 0) }, up},
	}
}

// conns are all connections.
func (w *world) conns() (cs []transport.Endpoint) {
	for _, l := range w.lanes {
		cs = append(cs, l.Tep)
	}
	return cs
}

var errOver = errors.New("over")

// What happens to an operation.
var happenings = []struct {
	name string
	do   func(w *world, r *request.Request)
}{
	{"nothing", func(*world, *request.Request) {}},
	{"cancel", func(w *world, r *request.Request) { w.Cancel(r) }},
	{"its user leaves", func(w *world, r *request.Request) { // as internal/worker: Abandon
		if w.Cancel(r); !r.Reported {
			w.KeepCopies(r, w.conns())
			w.Report(r, outcome.As(r.Name(), "peer", outcome.Unknown, errOver))
		}
	}},
	{"the endpoint ends", func(w *world, _ *request.Request) {
		w.Box.End(errOver)
		for _, c := range w.conns() {
			c.Cancel(errOver)
		}
	}},
}

// how is an end.
func how(err error) string {
	var e *outcome.Error
	if errors.As(err, &e) {
		return map[outcome.Fate]string{outcome.Unknown: "unknown", outcome.NotExecuted: "not executed"}[e.Fate]
	}
	if err != nil {
		return err.Error()
	}
	return "well"
}

// TestEnds: what becomes of each operation, wherever it is, when something happens to it, as a golden table; and whatever that is: it ends once, what
// is said not to be executed has no effect at the peer, what ends well has its effect once, a buffer that is its user's again is not sent from, and
// nothing is left.
func TestEnds(t *testing.T) {
	var got strings.Builder
	for _, k := range kinds() {
		fmt.Fprintf(&got, "%-42s", k.name)
		for _, h := range happenings {
			fmt.Fprintf(&got, " %-24s", h.name)
		}
		got.WriteByte('\n')
		for _, s := range states() {
			fmt.Fprintf(&got, "  %-40s", s.name)
			for i := range happenings {
				fmt.Fprintf(&got, " %-24s", ends(t, k, s, i))
			}
			got.WriteByte('\n')
		}
		got.WriteByte('\n')
	}
	golden.Same(t, "testdata/ends.txt", strings.ReplaceAll(got.String(), " \n", "\n"))
}

// ends says how one operation ends.
func ends(t *testing.T, k kind, s state, happens int) (end string) {
	w := newWorld(t, s.lanes)
	src := bytes.Repeat([]byte{7}, 600)
	var r *request.Request
	s.reach(w, func() {
		var err error
		if r, err = k.post(w, src); err != nil {
			t.Fatal(err)
		}
	})
	if r == nil {
		end = "ended when posted"
	} else if r.Reported {
		end = "ended: " + how(r.Err)
	} else {
		happenings[happens].do(w, r)
		if end = ""; r.Reported {
			end = "at once: " + how(r.Err)
			for i := range src {
				src[i] = 0xee // his again
			}
		}
	}
	over := w.Box.end != nil
	if !over {
		s.on(w)
		w.ack()
		if f, err := w.PostFlush(Flushing{}); err != nil || f != nil {
			t.Errorf("%s, %s, %s: a flush of what is executed: %v", k.name, s.name, happenings[happens].name, err)
		}
	}
	if r != nil {
		if end == "" {
			end = how(r.Err)
		}
		left := w.Failed()
		if w.end(r); w.Failed() && !left {
			t.Errorf("%s, %s, %s", k.name, s.name, happenings[happens].name)
		}
	}
	if k.name == received && strings.HasPrefix(end, "at once") && len(bytes.Trim(src, "\xee")) > 0 {
		t.Errorf("%s, %s, %s: written to memory that is its user's again", k.name, s.name, happenings[happens].name)
	}
	switch n := len(w.took); {
	case bytes.IndexByte(w.took, 0xee) >= 0:
		t.Errorf("%s, %s, %s: sent from memory that is its user's again", k.name, s.name, happenings[happens].name)
	case strings.HasSuffix(end, "not executed") && n != 0, strings.HasSuffix(end, "well") && n != k.took && !over:
		t.Errorf("%s, %s, %s: it ends as %q, and the peer has %d bytes of %d", k.name, s.name, happenings[happens].name, end, n, k.took)
	}
	return end
}

// TestCancelHandedBack: what is canceled among what lanes handed back leaves all else there, in its order, and what stood behind it goes on. The
// hand-overs of all lanes that it was lost on are over.
func TestCancelHandedBack(t *testing.T) {
	w := newWorld(t, 1)
	var rs []*request.Request
	for i := range 6 {
		r, err := w.PostAM(1, nil, bytes.Repeat([]byte{byte(1 + i)}, 100))
		if err != nil {
			t.Fatal(err)
		}
		rs = append(rs, r)
	}
	w.lose(0)
	w.back(0, 1)
	w.addLane()
	w.lose(1)
	w.back(1, 1) // the peer has messages 1 and 2, 3 to 6 were lost twice
	for _, i := range []int{2, 4} {
		if w.Cancel(rs[i]); how(rs[i].Err) != "not executed" || !rs[i].Reported {
			t.Errorf("message %d: %v", i+1, rs[i].Err)
		}
	}
	if w.Cancel(rs[5]); w.over != 0 {
		t.Error("a hand-over is settled while a message waits")
	}
	w.addLane()
	w.ack()
	want := append(append(bytes.Repeat([]byte{1}, 100), bytes.Repeat([]byte{2}, 100)...), bytes.Repeat([]byte{4}, 100)...)
	if !bytes.Equal(w.took, want) {
		t.Errorf("the peer has %v", w.took)
	}
	if w.over != 2 {
		t.Errorf("%d hand-overs of 2 are settled", w.over)
	}
	w.end(rs...)
}

// TestCancelOnTwoLanes: an operation of which one lane has handed back a frame, and another one has the rest under way, is decided by that one.
func TestCancelOnTwoLanes(t *testing.T) {
	for _, executed := range []bool{false, true} {
		w := newWorld(t, 1)
		w.conn(0).room = 1
		r, err := w.PostPut(bytes.Repeat([]byte{7}, 400), w.key, 0)
		if err != nil {
			t.Fatal(err)
		}
		w.addLane() // the second frame goes here
		w.lose(0)
		w.conn(1).room = 0
		w.back(0, 0)
		w.Cancel(r)
		if r.Reported {
			t.Fatalf("it ends while a lane has a part: %v", r.Err)
		}
		want := "well"
		if executed {
			w.conn(1).room = 100
			w.ack()
		} else {
			w.lose(1)
			w.back(1, 0)
			want = "not executed"
		}
		if !r.Reported || how(r.Err) != want {
			t.Errorf("executed %v: %v, %v", executed, r.Reported, r.Err)
		}
		w.end(r)
	}
}
