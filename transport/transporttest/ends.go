package transporttest

import (
	"errors"

	"github.com/openbraid/braid/transport"
)

// endCases: cancel and close, in every state.
var endCases = []testCase{
	{"cancel in every state", func(w *world) { inEveryState(w, cancelIt) }},
	{"close in every state", func(w *world) { inEveryState(w, closeIt) }},
	{"close from callbacks", testCloseInside},
	{"close in flight is noticed once", testCloseNoticed},
	{"interface close", testIfaceClose},
}

var errMine = errors.New("canceled by the suite")

// inEveryState brings a fresh client into each state of its life and ends it there.
func inEveryState(w *world, end func(w *world, s *side, state string)) {
	load := func(s *side) {
		for i := range 12 {
			s.post(shape{size: 400 * i, zero: i%2 == 0})
		}
	}
	states := []struct {
		name string
		make func() *side
	}{
		{"dialing", func() *side { c, _, _ := w.dial(setup{}); c.control([]byte("x")); return c }},
		{"connected", func() *side { c, _ := w.connect(setup{noAdmit: true}); return c }},
		{"idle", func() *side { c, _ := w.connect(setup{}); return c }},
		{"loaded", func() *side { c, _ := w.connect(setup{}); load(c); return c }},
		{"loaded, on the way", func() *side { c, _ := w.connect(setup{}); load(c); w.turn(); return c }},
		{"quiesced", func() *side { c, _ := w.connect(setup{}); load(c); c.quiesce(); return c }},
		{"left by the peer", func() *side {
			c, s := w.connect(setup{})
			load(c)
			s.close()
			w.until("the notice", func() bool { return len(c.errs) > 0 })
			return c
		}},
		{"half purged", func() *side {
			c, _ := w.connect(setup{})
			load(c)
			c.quiesce()
			n := 0
			c.purge(c.ep.Counts().Posted/2, func(*transport.Frame) error {
				if n++; n > 2 {
					return errMine
				}
				return nil
			})
			return c
		}},
		{"accepted", func() *side { _, s := w.connect(setup{}); load(s); return s }},
		{"canceled", func() *side { c, _ := w.connect(setup{}); load(c); c.cancel(errMine); return c }},
	}
	for _, st := range states {
		s := st.make()
		end(w, s, st.name)
		if w.Failed() {
			w.Fatalf("in state %q\n%s", st.name, w.state())
		}
		for range 20 {
			w.turn()
			w.Advance()
		}
		s.close()
		if s.peer != nil && s.peer.ep != nil {
			s.peer.close()
		}
	}
}

func cancelIt(w *world, s *side, state string) {
	before := s.book.executed
	s.cancel(errMine)
	s.book.allEnded()
	for tag := range s.book.frames {
		if e := &s.book.frames[tag]; e.executed == 1 && e.err != nil && !errors.Is(e.err, errMine) {
			w.Errorf("%s: frame %d ended with %v, want the error handed to Cancel", state, tag, e.err)
		}
	}
	if st := s.control(nil); st != transport.Failed {
		w.Errorf("%s: Post after Cancel says %v, want failed", state, st)
	}
	after := s.book.executed
	s.cancel(errors.New("again"))
	if s.book.executed != after {
		w.Errorf("%s: a second Cancel ended %d more (%d before)", state, s.book.executed-after, before)
	}
}

func closeIt(w *world, s *side, state string) {
	s.w.inside, s.loose = true, true
	s.ep.Close()
	s.w.inside = false
	s.book.allEnded()
	for tag := range s.book.frames {
		if e := &s.book.frames[tag]; e.executed == 1 && e.err != nil &&
			!errors.Is(e.err, transport.ErrClosed) && !errors.Is(e.err, errMine) {
			w.Errorf("%s: frame %d ended with %v, want ErrClosed", state, tag, e.err)
		}
	}
	s.close() // again
	if st := s.ep.Post(&transport.Frame{ID: 1, Class: transport.Control}); st != transport.Failed {
		w.Errorf("%s: Post after Close says %v, want failed", state, st)
	}
	s.ep.Quiesce()
}

func testCloseInside(w *world) {
	for _, where := range []string{"frame", "executed", "connected peer"} {
		client, server := w.connect(setup{})
		switch where {
		case "frame":
			server.onFrame = func(*transport.Incoming) {
				if server.got == 3 {
					server.close()
				}
			}
		case "executed":
			client.book.onExecuted = func(tag uint64, err error) {
				if tag == 3 && err == nil {
					client.close()
				}
			}
		default:
			server.onFrame = func(*transport.Incoming) { client.close() } // another endpoint of the same worker, for self
		}
		for range 10 {
			client.send(shape{size: 100, zero: true})
		}
		w.until(where+": the close", func() bool { return client.dead || server.dead })
		w.until(where+": the notice", func() bool {
			return client.dead && len(server.errs) > 0 || server.dead && len(client.errs) > 0
		})
		client.close()
		server.close()
		client.book.allEnded()
	}
}

func testCloseNoticed(w *world) {
	for round := range 6 {
		client, server := w.connect(setup{})
		for i := range 30 {
			client.mustPost(shape{size: 100 * i, zero: true})
			server.mustPost(shape{size: 50 * i})
			if i%(round+1) == 0 {
				w.turn()
			}
		}
		server.close()
		w.until("the notice", func() bool { return len(client.errs) == 1 })
		if e := client.errs[0]; !errors.Is(e, transport.ErrPeerClosed) && !errors.Is(e, transport.ErrReset) {
			w.Errorf("OnError(%v), want ErrPeerClosed or ErrReset", e)
		}
		w.settle(2 * ackDelay)
		client.close()
		client.book.allEnded()
		server.book.allEnded()
	}
}

func testIfaceClose(w *world) {
	client, server := w.connect(setup{})
	idle, idleServer := w.connect(setup{})
	for i := range 10 {
		client.mustPost(shape{size: 100 * i, zero: true})
	}
	client.loose, idle.loose = true, true
	if w.one() {
		server.loose, idleServer.loose = true, true
	}
	w.inside = true
	if err := w.Client.Close(); err != nil {
		w.Errorf("Iface.Close: %v", err)
	}
	w.inside = false
	client.dead, idle.dead = true, true
	client.book.allEnded()
	if st := client.ep.Post(&transport.Frame{ID: 1, Class: transport.Control}); st != transport.Failed {
		w.Errorf("Post after Iface.Close says %v", st)
	}
	if _, err := w.Client.Dial(w.Local, w.Addr, transport.Options{}, idle); !errors.Is(err, transport.ErrClosed) {
		w.Errorf("Dial after Iface.Close: %v, want ErrClosed", err)
	}
	if w.one() { // the peer was closed with it
		server.dead, idleServer.dead = true, true
		w.turn()
		return
	}
	w.until("the peer's notice", func() bool { return len(server.errs) > 0 })
}
