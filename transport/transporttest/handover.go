package transporttest

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"github.com/openbraid/braid/transport"
)

// handoverCases: losing a lane without losing or doubling a frame.
var handoverCases = []testCase{
	{"quiesce: position is exact and the rest is in the purge", testQuiesceMiddle},
	{"quiesce: frames that arrived but were not taken", testQuiesceUnread},
	{"quiesce: both sides", testQuiesceBoth},
	{"quiesce: control still passes", testQuiesceControl},
	{"hold without quiesce", testHold},
	{"cut by reset", func(w *world) { testCut(w, Reset) }},
	{"cut by silence", func(w *world) { testCut(w, Silence) }},
	{"cut in the middle of a placed frame", testCutPlaced},
	{"decision complete", testComplete},
	{"purge: healthy endpoint", testPurgeHealthy},
	{"purge: positions that can't be", testPurgePosition},
	{"purge: fn fails, then goes on", testPurgeResume},
	{"purge: without retention", testPurgeLetGo},
	{"purge: after detach", testPurgeDetached},
}

// purge is PurgeOutstanding; each frame that is handed out must be the one that was posted.
func (s *side) purge(position uint64, fn func(f *transport.Frame) error) (transport.PurgeResult, error) {
	s.w.Helper()
	s.loose = true
	next := s.book.next(position)
	s.w.inside = true
	defer func() { s.w.inside = false }()
	return s.ep.PurgeOutstanding(position, func(f *transport.Frame) error {
		if fn != nil {
			if err := fn(f); err != nil {
				return err
			}
		}
		s.handed(f, next)
		next++
		return nil
	})
}

func (s *side) handed(f *transport.Frame, want uint64) {
	s.w.Helper()
	if f.Tag != want || f.ID != idOf(want) || f.Done != transport.Completer(s.book) || f.Class != transport.Data {
		s.w.Errorf("%s: purge hands out tag %d, id %d, want tag %d: posting order, nothing twice", s.name, f.Tag, f.ID, want)
		return
	}
	e := &s.book.frames[want]
	e.handed++
	if s.letGo && f.Payload == nil {
		return
	}
	if len(f.Head) != headLen || binary.LittleEndian.Uint64(f.Head) != want || len(f.Payload) != len(e.payload) || badByte(want, f.Payload) >= 0 {
		s.w.Errorf("%s: purge hands out frame %d with wrong bytes", s.name, want)
	}
	mine := len(e.payload) > 0 && len(f.Payload) > 0 && unsafe.SliceData(f.Payload) == unsafe.SliceData(e.payload)
	if owed := e.pending && !e.detached && e.sent == 0; owed != (mine && f.ZeroCopy) && len(e.payload) > 0 {
		s.w.Errorf("%s: purge hands out frame %d: pending %v, but poster's memory %v, ZeroCopy %v", s.name, want, owed, mine, f.ZeroCopy)
	}
}

// handOver is the whole exchange for one direction: from lost what it had posted, given to's position.
func (w *world) handOver(from, to *side) {
	w.Helper()
	from.quiesce()
	to.quiesce()
	position, acked, posted := to.ep.Position(), from.ep.Counts().Acked, from.book.posted
	if position < acked || position > posted {
		w.Fatalf("%s: acked %d <= position %d <= posted %d does not hold", from.name, acked, position, posted)
	}
	r, err := from.purge(position, nil)
	want := transport.PurgeResult{Delivered: int(position - acked), Handed: int(posted - position)}
	if err != nil || r != want {
		w.Errorf("%s: PurgeOutstanding(%d) = %+v, %v, want %+v", from.name, position, r, err, want)
	}
	if r, err = from.purge(position, nil); err != nil || r != (transport.PurgeResult{}) {
		w.Errorf("%s: second purge = %+v, %v, want zero", from.name, r, err)
	}
	from.book.allEnded()
	w.frozen(to)
}

// frozen checks that a quiesced side accepts nothing more, whatever arrives.
func (w *world) frozen(s *side) {
	w.Helper()
	was := s.ep.Position()
	w.settle(3 * ackDelay)
	if p := s.ep.Position(); p != was {
		w.Errorf("%s: position went from %d to %d after Quiesce", s.name, was, p)
	}
	if st := s.post(shape{size: 1}); st != transport.Failed {
		w.Errorf("%s: Post after Quiesce says %v, want failed", s.name, st)
	}
}

func testQuiesceMiddle(w *world) {
	for _, stop := range []uint64{1, 5, 20} {
		client, server := w.connect(setup{})
		server.onFrame = func(in *transport.Incoming) {
			if server.got == stop {
				server.quiesce() // from inside: the frame being taken counts, the next doesn't
			}
		}
		for i := range 20 {
			client.send(shape{size: 300 * i, zero: i%3 == 0})
		}
		w.until("the client's notice", func() bool { return len(client.errs) > 0 })
		if e := client.errs[0]; !errors.Is(e, transport.ErrPeerClosed) && !errors.Is(e, transport.ErrReset) {
			w.Errorf("the peer quiesced: OnError(%v), want ErrPeerClosed or ErrReset", e)
		}
		if server.ep.Position() != stop {
			w.Errorf("position %d, want %d", server.ep.Position(), stop)
		}
		w.handOver(client, server)
		client.close()
		server.close()
	}
}

// testQuiesceUnread quiesces a side that has not progressed since the frames were sent.
func testQuiesceUnread(w *world) {
	client, server := w.connect(setup{})
	client.mustPost(shape{size: 10, ackNow: true})
	w.until("the first frame", client.idle)
	for i := range 15 {
		client.mustPost(shape{size: 100 * i, zero: i%2 == 0})
	}
	start := w.Now()
	w.untilOn("frames on their way", func() bool { return w.Now()-start > ackDelay }, func() int { return w.progress(w.Client) })
	server.quiesce()
	if p := server.ep.Position(); p != server.got {
		w.Errorf("position %d with %d frames taken", p, server.got)
	}
	w.handOver(client, server)
}

func testQuiesceBoth(w *world) {
	client, server := w.connect(setup{})
	for i := range 60 {
		client.mustPost(shape{size: 10 * i, zero: i%2 == 0, ackNow: i%9 == 0})
		server.mustPost(shape{size: 20 * i, zero: i%3 == 0})
		w.turn()
	}
	client.quiesce() // each suspects the other at once
	client.quiesce() // idempotent
	server.quiesce()
	w.handOver(client, server)
	w.handOver(server, client)
}

func testQuiesceControl(w *world) {
	client, server := w.connect(setup{})
	for range 10 {
		client.mustPost(shape{size: 100})
	}
	w.until("quiet", client.idle)
	client.control([]byte("before"))
	w.progress(w.Client)
	server.quiesce()
	w.until("the client's notice", func() bool { return len(client.errs) > 0 })
	w.settle(ackDelay)
	w.Logf("control frames read after Quiesce: %d (they may be)", len(server.controls))
	if len(server.controls) > 1 {
		w.Errorf("control frame came %d times", len(server.controls))
	}
	w.handOver(client, server)
}

// testHold purges an endpoint that OnError holds, without Quiesce: nothing moves until then.
func testHold(w *world) {
	client, server := w.connect(setup{})
	server.onFrame = func(*transport.Incoming) {
		if server.got == 3 {
			server.quiesce()
		}
	}
	for i := range 10 {
		client.send(shape{size: 200 * i, zero: i%2 == 0})
	}
	w.until("the client's notice", func() bool { return len(client.errs) > 0 })
	w.settle(ackDelay)
	if st := client.control(nil); st != transport.Failed {
		w.Errorf("Post on a held endpoint says %v, want failed", st)
	}
	acked := client.ep.Counts().Acked
	r, err := client.purge(3, nil)
	if want := int(3 - acked); err != nil || r.Delivered != want || r.Handed != int(client.book.posted)-3 {
		w.Errorf("purge of a held endpoint = %+v, %v", r, err)
	}
	client.book.allEnded()
}

func (w *world) needCut() {
	w.Helper()
	if w.Cut == nil {
		w.Skip("this pair can't cut a connection below the transport")
	}
}

func testCut(w *world, how Cut) {
	w.needCut()
	for round := range 4 {
		client, server := w.connect(setup{window: 256 << 10})
		for i := range 40 {
			client.mustPost(shape{size: (i * 777) % 5000, zero: i%2 == 0, ackNow: i%5 == 0})
			server.mustPost(shape{size: (i * 333) % 5000, zero: i%2 == 1})
			if i%(round+2) == 0 {
				w.turn()
			}
		}
		w.Cut(client.ep, how)
		if how == Reset {
			w.until("both notices", func() bool { return len(client.errs) > 0 && len(server.errs) > 0 })
		} else {
			w.settle(2 * ackDelay)
			if n := len(client.errs) + len(server.errs); n > 0 {
				w.Errorf("silence tells nobody, but OnError came %d times", n)
			}
		}
		w.handOver(client, server)
		w.handOver(server, client)
		client.close()
		server.close()
	}
}

func testCutPlaced(w *world) {
	w.needCut()
	n := w.Client.Attr().MaxFrame - headLen
	for range 8 {
		client, server := w.connect(setup{window: 8 << 20})
		server.onPlace = func(_ []byte, size int) []byte { return make([]byte, size) }
		for range 4 {
			client.mustPost(shape{size: n, zero: true})
		}
		w.until("the first frame", func() bool { w.turn(); return server.got > 0 })
		w.Cut(client.ep, Silence)
		w.settle(ackDelay)
		w.handOver(client, server)
		client.close()
		server.close()
	}
}

func testComplete(w *world) {
	client, server := w.connect(setup{})
	client.decision = transport.Complete
	client.onError = func(error) { client.loose = true }
	for i := range 10 {
		client.mustPost(shape{size: 100 * i, zero: i%2 == 0})
	}
	server.close()
	w.until("OnError", func() bool { return len(client.errs) > 0 })
	w.until("every frame ended", func() bool { return client.book.executed == client.book.posted })
	bad := false
	client.book.onExecuted = func(uint64, error) { bad = true }
	for tag := range client.book.frames {
		e := &client.book.frames[tag]
		if uint64(tag) >= server.got && e.err == nil {
			w.Errorf("frame %d was never taken, but reported executed", tag)
		}
	}
	w.settle(ackDelay)
	if bad {
		w.Errorf("a completion came twice")
	}
	if st := client.post(shape{size: 1}); st != transport.Failed {
		w.Errorf("Post after OnError says %v, want failed", st)
	}
}

func testPurgeHealthy(w *world) {
	client, server := w.connect(setup{})
	client.mustPost(shape{size: 10})
	r, err := client.ep.PurgeOutstanding(0, func(*transport.Frame) error { w.Errorf("handed out"); return nil })
	if !errors.Is(err, transport.ErrNotHeld) || r.Delivered+r.Handed != 0 {
		w.Errorf("purge of a healthy endpoint = %+v, %v, want ErrNotHeld", r, err)
	}
	w.until("nothing has changed", func() bool { return client.idle() && server.got == 1 })
}

func testPurgePosition(w *world) {
	client, server := w.connect(setup{})
	for range 5 {
		client.mustPost(shape{size: 10, ackNow: true})
	}
	w.until("5 acknowledged", client.idle)
	client.still(5, shape{size: 10, zero: true})
	client.quiesce()
	posted := client.book.posted
	bad := func(p uint64) {
		w.Helper()
		if r, err := client.purge(p, nil); !errors.Is(err, transport.ErrPosition) || r.Delivered+r.Handed != 0 {
			w.Errorf("purge with position %d of acked 5, posted %d = %+v, %v, want ErrPosition", p, posted, r, err)
		}
	}
	bad(4)
	bad(posted + 1)
	bad(^uint64(0))
	stop := errors.New("stop")
	if _, err := client.purge(6, func(*transport.Frame) error { return stop }); err != stop {
		w.Errorf("fn's error must come back, got %v", err)
	}
	bad(5)
	bad(7)
	if r, err := client.purge(6, nil); err != nil || r.Handed != int(posted)-6 {
		w.Errorf("the same position again = %+v, %v", r, err)
	}
	bad(7)
	client.book.allEnded()
	server.close()
}

// still posts n frames while the peer stands still.
func (s *side) still(n int, f shape) {
	s.w.Helper()
	for range n {
		s.w.untilOn("room", func() bool { return s.post(f) != transport.NoResource }, func() int { return s.w.progress(s.iface) })
	}
}

func testPurgeResume(w *world) {
	client, server := w.connect(setup{})
	client.still(10, shape{size: 64, zero: true})
	client.quiesce()
	server.quiesce()
	position := server.ep.Position()
	stop := errors.New("stop")
	left := 10 - int(position)
	for k := 0; left > 0; k++ {
		n := 0
		r, err := client.purge(position, func(*transport.Frame) error {
			if n == k {
				return stop
			}
			n++
			return nil
		})
		want, wantErr := min(k, left), error(nil)
		if k < left {
			wantErr = stop
		}
		if err != wantErr || r.Handed != want || r.Remaining != left-want {
			w.Fatalf("%d are left, fn fails at number %d: %+v, %v", left, k, r, err)
		}
		left -= want
	}
	client.book.allEnded()
}

func testPurgeLetGo(w *world) {
	client, server := w.connect(setup{letGo: true})
	for i := range 20 {
		client.mustPost(shape{size: 100 * i, zero: i%2 == 0})
	}
	start := w.Now()
	w.untilOn("the system to take them", func() bool { return w.Now()-start > ackDelay }, func() int { return w.progress(w.Client) })
	for tag := range client.book.frames {
		if e := &client.book.frames[tag]; e.pending && e.sent == 0 {
			w.Logf("frame %d is still in use", tag) // legal: the system may not have taken it
		}
	}
	w.handOver(client, server)
}

func testPurgeDetached(w *world) {
	client, server := w.connect(setup{})
	for i := range 10 {
		client.post(shape{size: 500 * i, zero: true})
	}
	client.quiesce()
	client.ep.Detach(only(client.book))
	for i := range client.book.frames {
		if e := &client.book.frames[i]; e.sent == 0 {
			e.detached = true
			e.payload = make([]byte, len(e.payload))
		}
	}
	w.handOver(client, server)
}
