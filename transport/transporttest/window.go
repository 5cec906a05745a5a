package transporttest

import "github.com/openbraid/braid/transport"

// windowCases: back-pressure.
var windowCases = []testCase{
	{"back-pressure", testBackPressure},
	{"one frame larger than the window", testTinyWindow},
	{"control passes a full window", testControlPasses},
}

// fillUp posts until there is no room, with the peer standing still: where it shares the interface, nobody progresses.
func (s *side) fillUp(f shape) (taken int) {
	s.w.Helper()
	quiet := 0
	for quiet < 20 {
		switch st := s.post(f); st {
		case transport.NoResource:
			if s.w.one() {
				return taken
			}
			quiet++
			s.w.progress(s.iface)
			s.w.Advance()
		case transport.Failed:
			s.w.Fatalf("%s: Post said %v while filling the window", s.name, st)
		case transport.Done, transport.Pending:
			taken++
			quiet = 0
		}
		if taken > 1<<20 {
			s.w.Fatalf("%s: the window never fills", s.name)
		}
	}
	return taken
}

func testBackPressure(w *world) {
	const window = 16 << 10
	client, server := w.connect(setup{window: window})
	for round := range 5 {
		n := client.fillUp(shape{size: 1000, zero: round%2 == 0})
		c := client.ep.Counts()
		if out := c.PostedBytes - c.AckedBytes; out > window {
			w.Errorf("%d bytes outstanding, the window is %d", out, window)
		}
		if n == 0 {
			w.Fatalf("no frame fits an empty window of %d", window)
		}
		rooms := client.rooms
		w.until("Room after NoResource", func() bool { return client.rooms > rooms })
		if st := client.post(shape{size: 1}); st == transport.NoResource || st == transport.Failed {
			w.Errorf("Room was called, but a small post says %v", st)
		}
		w.until("the window empty", client.idle)
	}
	if server.got != client.book.posted {
		w.Errorf("%d of %d taken", server.got, client.book.posted)
	}
	rooms := client.rooms
	w.settle(ackDelay)
	if client.rooms != rooms {
		w.Errorf("Room without a NoResource before it")
	}
}

func testTinyWindow(w *world) {
	client, server := w.connect(setup{window: 512})
	for range 5 {
		client.mustPost(shape{size: 4000, ackNow: true}) // alone it must go, or it never could
	}
	w.until("large frames through a small window", func() bool { return client.idle() && server.got == 5 })
}

func testControlPasses(w *world) {
	client, server := w.connect(setup{window: 4 << 10})
	client.fillUp(shape{size: 1000})
	if st := client.control([]byte("urgent")); st != transport.Done {
		w.Errorf("control frames have room of their own, Post says %v", st)
	}
	w.until("the control frame", func() bool { return len(server.controls) == 1 })
	w.until("the data", client.idle)
}
