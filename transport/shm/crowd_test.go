//go:build linux

package shm

import (
	"testing"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm/crowd"
)

// hall is two interfaces with many connections, of which the second one's side is passive.
type hall struct {
	a, b   *iface
	guests []*plain // on both sides, as they came
	hosts  []*plain
}

// Accepted implements transport.Acceptor.
func (h *hall) Accepted(ep transport.Endpoint) (transport.Sink, transport.Options) {
	p := &plain{}
	h.hosts = append(h.hosts, p)
	return p.Accepted(ep)
}

func newHall(t *testing.T, n int) *hall {
	t.Helper()
	many := func() *iface { return openedOn(t, New(Options{Limit: 1 << 30, PeerLimit: 1 << 30})) }
	h := &hall{a: many(), b: many()}
	t.Cleanup(func() { h.a.Close(); h.b.Close() })
	l, err := h.b.Listen("shm:0", h)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		p := &plain{}
		if p.ep, err = h.a.Dial("", l.Addr(), transport.Options{}, p); err != nil {
			t.Fatal(err)
		}
		h.guests = append(h.guests, p)
		if !turns(2000, func() bool { return p.up && len(h.hosts) == len(h.guests) }, h.a, h.b) {
			t.Fatal("no connection", p.err)
		}
		p.ep.Admit(maxFrame, true)
	}
	l.Close()
	h.a.Watch(false)
	h.b.Watch(false)
	return h
}

// awake says how many are polled, and checks that each connection is, or dozes.
func (h *hall) awake(t *testing.T, f *iface) int {
	t.Helper()
	dozing := 0
	for _, ep := range f.eps {
		if ep.place.Dozes() {
			dozing++
		}
	}
	if got := f.crowd.Dozing; got != dozing || len(f.crowd.Polled)+dozing != len(f.eps) {
		t.Fatalf("%d connections: %d polled, %d doze, counted are %d", len(f.eps), len(f.crowd.Polled), dozing, got)
	}
	return len(f.crowd.Polled)
}

// dozing is a connection that the second interface doesn't poll.
func (h *hall) dozing(t *testing.T) int {
	t.Helper()
	for i, p := range h.hosts {
		if ep := p.ep.(*endpoint); ep.place.Dozes() && ep.state == up {
			return i
		}
	}
	t.Fatal("none dozes")
	return 0
}

func (h *hall) post(t *testing.T, p *plain, payload []byte) {
	t.Helper()
	if got := p.ep.Post(&transport.Frame{ID: 1, Payload: payload, Done: p}); got == transport.Failed {
		t.Fatal(got)
	}
}

// TestCrowd: where there are many connections, those that bring nothing are not polled, and what they bring then is found at once; frames, room and the peer's end.
func TestCrowd(t *testing.T) {
	h := newHall(t, crowd.Most+40)
	turns(3*crowd.Quiet, never, h.a, h.b)
	if n := h.awake(t, h.b); n > 0 {
		t.Fatalf("%d of %d are polled after %d turns without anything", n, len(h.b.eps), 3*crowd.Quiet)
	}
	for i, p := range h.guests {
		h.post(t, p, []byte("a frame"))
		if !turns(2*crowd.Bells, func() bool { return h.hosts[i].got == 1 }, h.a, h.b) {
			t.Fatalf("connection %d: what came while it dozed is not found", i)
		}
	}
	turns(3*crowd.Quiet, never, h.a, h.b)

	// More than a ring holds, from one that dozes: who waits for room is told, too.
	i := h.dozing(t)
	big := make([]byte, maxFrame/2)
	for range 4 {
		h.post(t, h.guests[i], big)
	}
	if !turns(4000, func() bool { return h.hosts[i].got == 5 }, h.a, h.b) {
		t.Errorf("%d of 5 frames arrived", h.hosts[i].got)
	}
	turns(3*crowd.Quiet, never, h.a, h.b)
	i = h.dozing(t)
	h.guests[i].ep.Close()
	if !turns(2*crowd.Bells, func() bool { return h.hosts[i].err != nil }, h.a, h.b) {
		t.Error("the end of the peer of one that dozes is not found")
	}
	h.hosts[i].ep.Close()
	h.hosts[h.dozing(t)].ep.Close()
	turns(2, never, h.a, h.b)
	if h.awake(t, h.b); len(h.b.eps) != crowd.Most+38 {
		t.Errorf("%d are left", len(h.b.eps))
	}

	// Who sleeps is woken by those that dozed before, too.
	h.b.Watch(true)
	turns(4, never, h.b)
	i = h.dozing(t)
	before := h.hosts[i].got
	h.post(t, h.guests[i], []byte("a frame"))
	h.a.Flush()
	if !readable(h.b) {
		t.Error("who sleeps is not woken")
	}
	if !turns(4, func() bool { return h.hosts[i].got > before }, h.b) {
		t.Error("what woke is not found")
	}
}

// TestLiesAgain: one that dozes and waits for room lies once more, for that, too. What it finds then is its own to look for: the peer, whom it has told that it is awake, rings
// for nothing.
func TestLiesAgain(t *testing.T) {
	h := newHall(t, crowd.Most+1)
	turns(3*crowd.Quiet, never, h.a, h.b)
	from := h.guests[0].ep.(*endpoint)
	if !from.place.Dozes() {
		t.Fatal("it is polled")
	}
	for range 4 { // more than a ring holds
		h.post(t, h.guests[0], make([]byte, maxFrame/2))
	}
	h.post(t, h.hosts[0], []byte("a frame")) // it is in the ring, and the bell is for the flush
	if h.a.Flush(); !from.blocked {
		t.Fatal("there is room")
	}
	h.b.Flush()
	if !turns(4000, func() bool { return h.guests[0].got == 1 && h.hosts[0].got == 4 }, h.a, h.b) {
		t.Errorf("%d of 1 frame, and %d of 4 there: what came while it dozed is not found", h.guests[0].got, h.hosts[0].got)
	}
	h.awake(t, h.a)
}

// TestFew: up to a crowd all are polled, and large rings are for the first ones.
func TestFew(t *testing.T) {
	h := newHall(t, crowd.Most)
	turns(3*crowd.Quiet, never, h.a, h.b)
	if n := h.awake(t, h.b); n != crowd.Most {
		t.Errorf("%d of %d are polled", n, crowd.Most)
	}
	for i, ep := range h.a.eps {
		if full, got := i < crowd.Roomy, len(ep.seg.Bytes()); full != (got > 1<<20) || !full && got > 300<<10 {
			t.Errorf("connection %d has %d bytes", i, got)
		}
	}
	if s := openedOn(t, New(Options{Slots: 64, Data: 256 << 10})).shape(); s.Slots != 64 || s.Data != 256<<10 {
		t.Errorf("%+v, asked for were 64 slots and 256 KiB", s)
	}
}
