package tcp

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openbraid/braid/transport"
)

// TestAsksForWhatItKeeps: small frames ask for an acknowledgement when a turn ends, each some frames, whoever keeps them.
func TestAsksForWhatItKeeps(t *testing.T) {
	for _, retain := range []bool{true, false} {
		f, ends := crowd(t, 1)
		from, to := f.eps[0], ends.b.eps[0]
		from.Admit(maxFrame, retain)
		to.Admit(maxFrame, retain)
		p := from.sink.(*party)
		frame := &transport.Frame{ID: 1, Payload: make([]byte, 4<<10), Done: p}
		owed := uint64(0)
		for p.ended < 1000 {
			for range 8 {
				from.Post(frame) // or there is no room now
			}
			f.Flush()
			f.Progress()
			ends.b.Progress()
			ends.b.Flush()
			owed = max(owed, to.acks.Owed(to.in.acceptedBytes))
		}
		if low := uint64(askEvery / 2); owed > askEvery || owed < low {
			t.Errorf("kept: %v: up to %d bytes are owed an acknowledgement, want %d to %d", retain, owed, low, askEvery)
		}
	}
}

// TestAsksForTheRest: while much of what is lent is under way the peer acknowledges it by itself, and nobody asks. When an acknowledgement
// leaves too little for that, and nothing follows, the sender asks for the rest.
func TestAsksForTheRest(t *testing.T) {
	f, ends := crowd(t, 1)
	from, to := f.eps[0], ends.b.eps[0]
	from.Admit(maxFrame, true)
	to.Admit(maxFrame, true)
	p := from.sink.(*party)
	frame := &transport.Frame{ID: 1, Payload: make([]byte, 96<<10), ZeroCopy: true, Done: p}
	for range 15 { // 1.4 MiB: the peer has a reason to acknowledge eleven
		from.Post(frame)
	}
	f.Flush()
	if from.out.lent == 0 {
		t.Error("asked with 1.4 MiB under way")
	}
	for polls := 0; p.ended < 15; polls++ { // no clock goes here: nothing is acknowledged because it is late
		if polls > 1_000_000 {
			t.Fatalf("%d of 15 are acknowledged: nobody asked for the others", p.ended)
		}
		f.Progress()
		f.Flush()
		ends.b.Progress()
		ends.b.Flush()
	}
}

// recorder is a stream that keeps what is written; while blocked it takes nothing.
type recorder struct {
	tape
	written []byte
	blocked bool
}

func (r *recorder) Read([]byte) (int, error) { return 0, transport.ErrAgain }
func (r *recorder) Writev(p [][]byte) (n int, err error) {
	if r.blocked {
		return 0, transport.ErrAgain
	}
	for _, b := range p {
		r.written = append(r.written, b...)
		n += len(b)
	}
	return n, nil
}

// asks are the numbers of the frames that ask for an acknowledgement; a control frame has none, and counts as -1.
func (r *recorder) asks() (list []int) {
	for at, n := 0, 0; at < len(r.written); {
		h := parseHeader(r.written[at:])
		at += h.len()
		switch ask := h.flags&flagAckNow != 0; {
		case ask && h.control():
			list = append(list, -1)
		case ask:
			list = append(list, n)
		}
		if !h.control() {
			n++
		}
	}
	return list
}

// TestWhoAsks: of frames that go out together the last one asks if a payload is lent and not too much is under way, or a frame of its own if
// all went out before; and of small ones the last one of a turn if enough have gathered; nobody else, and none twice.
func TestWhoAsks(t *testing.T) {
	for _, c := range []struct {
		name                 string
		size, frames, groups int // of equal frames, in groups that end with Flush
		zero, letGo, blocked bool
		want                 []int
	}{
		{name: "lent", size: 64 << 10, frames: 4, groups: 3, zero: true, want: []int{3, 7, 11}},
		{name: "lent, and much is under way", size: 256 << 10, frames: 4, groups: 2, zero: true},
		{name: "lent, and much is partly under way", size: 256 << 10, frames: 5, groups: 2, zero: true},
		{name: "lent while the socket is full", size: 64 << 10, frames: 2, groups: 2, zero: true, blocked: true, want: []int{1, 3}},
		{name: "lent without retention", size: 64 << 10, frames: 4, groups: 2, zero: true, letGo: true},
		{name: "kept", size: 4 << 10, frames: 80, groups: 1, want: []int{79}},
		{name: "kept, in turns", size: 4 << 10, frames: 20, groups: 5, want: []int{39, 79}},
		{name: "kept, in a turn without an end", size: 4 << 10, frames: 300, groups: 1, want: []int{127, 255, 299}},
		{name: "kept, without retention", size: 4 << 10, frames: 80, groups: 1, letGo: true, want: []int{79}},
		{name: "lent after kept", size: 4 << 10, frames: 8, groups: 10, zero: true, want: []int{7, 15, 23, 31, 39, 47, 55, 63, 71, 79}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newTestIface(t)
			r := &recorder{}
			p := &party{f: f}
			ep := &endpoint{f: f, sink: p, state: up, stream: r}
			ep.setWindow(transport.Options{Window: 1 << 30})
			ep.Admit(maxFrame, !c.letGo)
			frame := &transport.Frame{ID: 1, Payload: make([]byte, c.size), ZeroCopy: c.zero, Done: p}
			r.blocked = c.blocked
			for range c.groups {
				for range c.frames {
					ep.Post(frame)
				}
				f.Flush()
				f.Flush() // has nothing to say
			}
			r.blocked, ep.out.blocked = false, false
			ep.soil()
			f.Flush()
			if d := cmp.Diff(c.want, r.asks()); d != "" {
				t.Error(d)
			}
			ep.stream = nil
		})
	}
}

// TestSmallWindow: a peer that may have little under way isn't left to wait for a MiB.
func TestSmallWindow(t *testing.T) {
	f, ends := crowd(t, 1)
	from, to := f.eps[0], ends.b.eps[0]
	for _, ep := range []*endpoint{from, to} {
		ep.Admit(maxFrame, false)
		ep.setWindow(transport.Options{Window: 64 << 10})
	}
	p := from.sink.(*party)
	frame := &transport.Frame{ID: 1, Payload: make([]byte, 4<<10), Done: p}
	for p.ended < 500 {
		from.Post(frame)
		f.Flush()
		f.Progress()
		ends.b.Progress()
		ends.b.Flush()
		if owed := to.acks.Owed(to.in.acceptedBytes); owed > 16<<10 {
			t.Fatalf("%d bytes of a window of 64 KiB are owed an acknowledgement", owed)
		}
	}
}

// TestWritesEarly: who posts much in one turn does not keep it to himself until the turn ends.
func TestWritesEarly(t *testing.T) {
	f := newTestIface(t)
	p := &party{f: f}
	ep := &endpoint{f: f, sink: p, state: up, stream: &recorder{}}
	ep.setWindow(transport.Options{Window: 1 << 30})
	ep.Admit(maxFrame, true)
	frame := &transport.Frame{ID: 1, Payload: make([]byte, 64<<10), ZeroCopy: true, Done: p}
	for n := 0; n < earlyWrite; n += len(frame.Payload) {
		if ep.out.sent > 0 {
			t.Fatalf("written when %d bytes had gathered", n)
		}
		ep.Post(frame)
	}
	if ep.out.sent == 0 {
		t.Error("all of it waits for the end of the turn")
	}
	ep.stream = nil
}

// TestGivesBack: of small payloads that are lent until they are acknowledged every sixteenth is copied, so that its user has it back at once. Large
// ones are not, nor those that come back when they are written anyway.
func TestGivesBack(t *testing.T) {
	for _, c := range []struct {
		size   int
		retain bool
		done   int // of 32
	}{{16 << 10, true, 2}, {32 << 10, true, 2}, {32<<10 + 1, true, 0}, {16 << 10, false, 0}} {
		f := newTestIface(t)
		tape := &recorder{}
		p := &party{f: f}
		ep := &endpoint{f: f, sink: p, state: up, stream: tape}
		ep.setWindow(transport.Options{Window: 1 << 30})
		ep.Admit(maxFrame, c.retain)
		done := 0
		var copied []byte
		for i := range 32 {
			lent := bytes.Repeat([]byte{byte(i + 1)}, c.size)
			st := ep.Post(&transport.Frame{ID: 1, Payload: lent, ZeroCopy: true, Done: p})
			if st == transport.Done {
				done++
				clear(lent) // it is the user's
				copied = append(copied, byte(i+1))
			} else if st != transport.Pending {
				t.Fatalf("post %d: %v", i, st)
			}
		}
		ep.write()
		if done != c.done {
			t.Errorf("%d bytes, kept %v: %d of 32 were given back, want %d", c.size, c.retain, done, c.done)
		}
		for _, b := range copied {
			if got := bytes.Count(tape.written, []byte{b}); got < c.size {
				t.Errorf("%d bytes, kept %v: of what was given back %d bytes are written", c.size, c.retain, got)
			}
		}
		ep.stream = nil
	}
}

// TestAsksForNothingMore: who wants an acknowledgement, or has lent, asks for none that has come by the end of the turn.
func TestAsksForNothingMore(t *testing.T) {
	f, ends := crowd(t, 1)
	from, to := f.eps[0], ends.b.eps[0]
	from.Admit(maxFrame, true)
	to.Admit(maxFrame, true)
	p := from.sink.(*party)
	for range 4 { // so much that the peer acknowledges by itself, all at once, and nobody asks
		from.Post(&transport.Frame{ID: 1, Payload: make([]byte, 256<<10), ZeroCopy: true, Done: p})
	}
	for polls := 0; p.ended < 4; polls++ {
		if polls > 1_000_000 {
			t.Fatalf("%d of 4 are acknowledged", p.ended)
		}
		f.Progress()
		f.Flush()
		ends.b.Progress()
		ends.b.Flush()
	}
	if from.out.lent == 0 {
		t.Fatal("somebody asked: there is nothing left of what this is about")
	}
	r := &recorder{}
	stream := from.stream
	from.stream = r
	from.RequestAck() // as if by the frame that brought the last acknowledgement
	f.Flush()
	from.Post(&transport.Frame{ID: 1, Payload: make([]byte, 8), Done: p})
	f.Flush()
	if asks := r.asks(); len(asks) > 0 {
		t.Errorf("asked by frames %v for what has been acknowledged", asks)
	}
	from.RequestAck()
	f.Flush()
	if d := cmp.Diff([]int{-1}, r.asks()); d != "" {
		t.Errorf("a frame is unacknowledged, and somebody wants to know: %s", d)
	}
	from.stream = stream
}
