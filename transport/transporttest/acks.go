package transporttest

import (
	"time"

	"github.com/openbraid/braid/transport"
)

// ackCases: when a sender learns that its frames were accepted.
var ackCases = []testCase{
	{"ack now", testAckNow},
	{"request ack", testRequestAck},
	{"ack of what was lent", testAckLent},
	{"delayed ack", testDelayedAck},
	{"round trips", testRoundTrips},
	{"word before ack", testWordBeforeAck},
}

// ackDelay is the longest that a receiver may keep an acknowledgement to itself.
const ackDelay = time.Millisecond

// within waits for cond and checks how long it took.
func (w *world) within(what string, bound time.Duration, cond func() bool) {
	w.Helper()
	start := w.Now()
	w.until(what, cond)
	if d := w.Now() - start; d > bound+w.Slack {
		w.Errorf("%s took %v, want at most %v (and slack %v)", what, d, bound, w.Slack)
	}
}

func testAckNow(w *world) {
	client, _ := w.connect(setup{})
	for range 20 {
		client.mustPost(shape{size: 10, ackNow: true})
		w.within("an acknowledgement asked for by AckNow", 0, client.idle)
	}
}

func testRequestAck(w *world) {
	client, server := w.connect(setup{})
	for i := range 20 {
		for range i%3 + 1 {
			client.mustPost(shape{size: 10})
		}
		client.ep.RequestAck()
		w.within("an acknowledgement asked for by RequestAck", 0, client.idle)
	}
	client.ep.RequestAck() // nothing outstanding: harmless
	server.ep.RequestAck()
	w.settle(3 * ackDelay)
	if c := server.ep.Counts(); c.RoundTrips != 0 {
		w.Errorf("round trips without a frame: %+v", c)
	}
}

// testAckLent: nobody has to ask that the user gets his memory back soon: the receiver owes nothing when it has taken the last of
// the frames that went out together.
func testAckLent(w *world) {
	client, server := w.connect(setup{})
	size := max(2000, w.Client.Attr().ZeroCopy)
	for i := range 20 {
		for range i%3 + 1 {
			client.mustPost(shape{size: size, zero: true})
		}
		asked := client.book.frames[client.book.posted-1].pending
		w.until("the frames", func() bool { return server.got == client.book.posted })
		if asked && w.Server.Deadline() != 0 {
			w.Errorf("the acknowledgement of a zero-copy frame may wait")
		}
		w.until("the end of them", client.idle)
	}
}

// testWordBeforeAck: what a peer says of a frame, while it takes it, is heard before the acknowledgement that covers the frame; also
// of many frames at a time.
func testWordBeforeAck(w *world) {
	client, server := w.connect(setup{})
	server.onFrame = func(in *transport.Incoming) {
		if in.Class == transport.Data && server.control([]byte("no")) != transport.Done {
			w.Fatalf("no room for a word about frame %d", server.got)
		}
	}
	client.book.onExecuted = func(tag uint64, _ error) {
		if n := uint64(len(client.controls)); n <= tag {
			w.Fatalf("frame %d is acknowledged, and what the peer said of %d frames is known", tag, n)
		}
	}
	for i := range 40 {
		for range 1 + i%20 {
			client.mustPost(shape{size: 10})
		}
		w.until("a burst", client.idle)
	}
}

// testDelayedAck runs the receiver at its Deadline only: with an acknowledgement owed there must be one, soon.
func testDelayedAck(w *world) {
	client, server := w.connect(setup{})
	turn := func() int {
		n := w.progress(w.Client)
		if d := w.Server.Deadline(); d != 0 && w.Now() >= d {
			n += w.progress(w.Server)
		}
		return n
	}
	for range 10 {
		client.mustPost(shape{size: 10})
		w.until("the frame", func() bool { return server.got == client.book.posted })
		start := w.Now()
		w.untilOn("an acknowledgement, with the server asleep until its Deadline", client.idle, turn)
		if d := w.Now() - start; d > ackDelay+w.Slack {
			w.Errorf("a delayed acknowledgement took %v, want at most %v (and slack %v)", d, ackDelay, w.Slack)
		}
	}
	w.settle(3 * ackDelay)
	w.until("nothing to be due with nothing owed", func() bool { // a device may have timers of its own, and the last of them may just be due
		for _, i := range []transport.Iface{w.Client, w.Server} {
			if d := i.Deadline(); d != 0 && d < w.Now()+10*ackDelay {
				return false
			}
		}
		return true
	})
}

func testRoundTrips(w *world) {
	client, _ := w.connect(setup{})
	for i := range 30 {
		client.mustPost(shape{size: 10, ackNow: true})
		w.until("acknowledged", client.idle)
		if c := client.ep.Counts(); c.RoundTrips < uint64(i+1) {
			w.Fatalf("%d acknowledged posts one by one, %d round trips", i+1, c.RoundTrips)
		}
	}
}
