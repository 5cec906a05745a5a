package replay

import (
	"errors"
	"testing"

	"github.com/openbraid/braid/internal/order"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
	"pgregory.net/rapid"
)

// TestMustFollow: the signal of a put that a lost lane handed back waits as long as another frame of that put is not executed, and for nothing else.
func TestMustFollow(t *testing.T) {
	for _, c := range []struct {
		id     uint8
		frames uint32 // of the put, the signal's among them
		want   bool
	}{{wire.IDPutSignal, 1, false}, {wire.IDPutSignal, 2, true}, {wire.IDPutSignal, 9, true}, {wire.IDPut, 2, false}} {
		q := new(request.Request)
		q.Frames = c.frames
		first := Answer(&transport.Frame{ID: c.id, Done: (*request.Frames)(q)})
		again := Answer(&transport.Frame{ID: c.id, Done: first}) // lost a second time
		for _, r := range []*Frame{first, again} {
			if got := r.MustFollow(); got != c.want {
				t.Errorf("frame %d of a put with %d frames left: must follow %v", c.id, c.frames, got)
			}
		}
	}
	if Answer(&transport.Frame{ID: wire.IDPutSignal}).MustFollow() {
		t.Error("a signal whose put has ended waits for it")
	}
}

// ends counts the ends of first lives.
type ends struct {
	sent, executed int
	err            error
}

func (e *ends) Sent(uint64)                  { e.sent++ }
func (e *ends) Executed(_ uint64, err error) { e.executed++; e.err = err }

// loss is a lane that was lost, what it handed back, and what its end told.
type loss struct {
	Handover
	place   order.Place
	settled int
	looks   int
	frames  []*Frame // handed back here first
}

// lossy is lanes that are lost one after the other, over a book.
type lossy struct {
	fences order.Fences
	book   *order.Book
	losses []*loss
	queue  Queue
	posted []*Frame // on the last lane
	on     *loss    // which that is, once it is lost
	first  map[*Frame]*ends
}

func (l *lossy) lane() {
	l.on = &loss{}
	on := l.on
	on.Settled, on.Looks = func() { on.settled++ }, func() { on.looks++ }
	l.book.Open(&on.place)
}

// lose hands back all that is on the lane, and as many frames of new operations; the book moves each to no lane. Some are dropped.
func (l *lossy) lose(t *rapid.T) {
	lost := l.on
	var back Queue
	for _, f := range l.posted {
		r := Again(&f.Frame, f)
		r.Wait(&lost.Handover)
		back.Push(r)
	}
	l.posted = nil
	for range rapid.IntRange(0, 3).Draw(t, "new") {
		e := &ends{}
		r := Operation(&transport.Frame{ID: wire.IDPut, Payload: []byte{1}}, Entry{l.book.Issue(&lost.place), &lost.place, &l.book.Off}, e, 0)
		r.Wait(&lost.Handover)
		lost.frames, l.first[r] = append(lost.frames, r), e
		back.Push(r)
	}
	l.book.Shut(&lost.place)
	waits := append([]*Frame(nil), l.queue.All()...)
	l.queue.Prepend(&back)
	if n := l.queue.Len() - len(waits); n != back.Len() || n > 0 && l.queue.All()[0] != back.All()[0] {
		t.Fatalf("%d came back, %d stand in front", back.Len(), n)
	}
	for i, f := range waits {
		if l.queue.All()[back.Len()+i] != f {
			t.Fatal("what waits changed its order")
		}
	}
	if l.losses = append(l.losses, lost); rapid.Bool().Draw(t, "drop") {
		l.drop(t)
	}
	if lost.Over() {
		t.Fatal("it is over, and may hand more back")
	}
	lost.Purged()
	l.lane()
}

// drop ends some of what waits, as a cancel does.
func (l *lossy) drop(t *rapid.T) {
	waits := append([]*Frame(nil), l.queue.All()...)
	which := map[*Frame]bool{}
	for _, r := range waits {
		which[r] = rapid.IntRange(0, 3).Draw(t, "drop") == 0
	}
	of := func(r *Frame) bool { return which[r] }
	n := l.queue.Count(of)
	out := l.queue.Remove(of)
	if len(out) != n || l.queue.Len() != len(waits)-n || l.queue.Count(of) > 0 {
		t.Fatalf("of %d, %d are to be taken out, %d were", len(waits), n, len(out))
	}
	for _, r := range out {
		l.book.Off.Leave(r.Epoch)
		Origin(r).(*ends).executed++
		r.Dropped()
	}
}

func (l *lossy) executed(f *Frame, err error) {
	off := l.book.Off.Len()
	f.Executed(0, err)
	if l.book.Off.Len() != off+1 {
		panic("its first life does not end on no lane")
	}
	l.book.Off.Leave(f.Epoch) // as the owner of the first life does
}

func (l *lossy) check(t *rapid.T) {
	for i, o := range l.losses {
		left := 0
		for _, f := range o.frames {
			switch e := l.first[f]; {
			case e.executed > 1:
				t.Fatal("a frame ended twice")
			case e.executed == 0:
				left++
			}
		}
		if o.settled > 1 || o.Over() != (o.settled == 1) || o.settled == 1 && o.looks == 0 || left > 0 && o.Over() {
			t.Fatalf("loss %d: %d frames are left, settled %d times, over %v", i, left, o.settled, o.Over())
		}
	}
	if n := l.book.Left(); n != uint64(l.queue.Len()+len(l.posted)) {
		t.Fatalf("%d in the book, %d wait, %d are posted", n, l.queue.Len(), len(l.posted))
	}
}

// TestSettledOnce: whatever lanes are lost, each hand-over is settled once, when all that its lane handed back is executed or dropped, on whatever
// lane; each frame ends once.
func TestSettledOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &lossy{first: map[*Frame]*ends{}}
		l.book = order.New(&l.fences)
		l.lane()
		execute := func() {
			f := l.posted[0]
			l.posted = l.posted[1:]
			l.executed(f, nil)
		}
		post := func() {
			f := l.queue.Pop()
			f.Move(&l.on.place)
			f.Posted(true)
			l.posted = append(l.posted, f)
		}
		t.Repeat(map[string]func(*rapid.T){
			"lose": l.lose,
			"drop": l.drop,
			"post": func(*rapid.T) {
				if l.queue.Len() > 0 {
					post()
				}
			},
			"execute": func(*rapid.T) {
				if len(l.posted) > 0 {
					execute()
				}
			},
			"": l.check,
		})
		for l.queue.Len() > 0 {
			post()
		}
		for len(l.posted) > 0 {
			execute()
		}
		l.check(t)
		for i, o := range l.losses {
			if o.settled != 1 {
				t.Fatalf("all is executed, and loss %d is not settled", i)
			}
		}
	})
}

// What an error ends, ends so for the first life; what is its user's is sent by a lane that copied it.
func TestEnds(t *testing.T) {
	var off order.Place
	var h Handover
	e, src := &ends{}, []byte("abc")
	off.Enter(1)
	r := Answer(&transport.Frame{Payload: src, ZeroCopy: true, Done: e})
	r.Wait(&h)
	if r.Posted(true); e.sent != 1 || h.Replayed != 3 {
		t.Errorf("sent %d times, %d bytes", e.sent, h.Replayed)
	}
	r = Answer(&transport.Frame{Payload: src, ZeroCopy: true, Done: e})
	r.Wait(&h)
	r.Own()
	if src[0] = 'x'; string(r.Payload) != "abc" || r.ZeroCopy {
		t.Errorf("%q is not its own", r.Payload)
	}
	err := errors.New("over")
	if r.Executed(0, err); e.executed != 1 || !errors.Is(e.err, err) {
		t.Errorf("ended %d times, %v", e.executed, e.err)
	}
}
