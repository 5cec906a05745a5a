package transporttest

import (
	"testing"

	"github.com/openbraid/braid/transport"
)

// costCases: what the hot path may cost, and when a worker may sleep.
var costCases = []testCase{
	{"no allocation per frame", testNoAllocation},
	{"event descriptor", testEventFD},
	{"event descriptor after polling", testWatch},
}

// lean is a sink and completer without books of its own.
type lean struct {
	ep        transport.Endpoint
	connected bool
	got       int
	executed  int
}

func (l *lean) Connected()                       { l.connected = true }
func (l *lean) Place(uint8, []byte, int) []byte  { return nil }
func (l *lean) Frame(*transport.Incoming)        { l.got++ }
func (l *lean) Room()                            {}
func (l *lean) OnError(error) transport.Decision { return transport.Complete }
func (l *lean) Sent(uint64)                      {}
func (l *lean) Executed(uint64, error)           { l.executed++ }
func (l *lean) Accepted(ep transport.Endpoint) (transport.Sink, transport.Options) {
	l.ep = ep
	return l, transport.Options{}
}

func testNoAllocation(w *world) {
	client, server := new(lean), new(lean)
	l, err := w.Server.Listen(w.Addr, server)
	if err != nil {
		w.Fatal(err)
	}
	if client.ep, err = w.Client.Dial(w.Local, l.Addr(), transport.Options{}, client); err != nil {
		w.Fatal(err)
	}
	w.until("the connection", func() bool { return client.connected && server.ep != nil })
	client.ep.Admit(w.Client.Attr().MaxFrame, true)
	server.ep.Admit(w.Client.Attr().MaxFrame, true)
	head, payload := make([]byte, 16), make([]byte, 3000)
	f := &transport.Frame{ID: 1, Head: head, Done: client, AckNow: true}
	turn := func() {
		n := w.Client.Progress()
		w.Client.Flush()
		n += w.Server.Progress()
		w.Server.Flush()
		if n == 0 {
			w.Advance()
		}
	}
	round := func() {
		want := client.executed + 8
		for i := range 8 {
			f.ZeroCopy = i%2 == 0
			f.Payload = payload[:200*i]
			for client.ep.Post(f) == transport.NoResource {
				turn()
			}
		}
		for client.executed < want {
			turn()
		}
	}
	for range 200 {
		round()
	}
	if raceEnabled {
		w.Skip("the race detector allocates")
	}
	// Less than one per round of eight: a pool that grows once in a while is not an allocation per frame.
	if n := testing.AllocsPerRun(200, round); n >= 1 {
		w.Errorf("%v allocations per 8 frames, want 0", n)
	}
}

func testEventFD(w *world) {
	fd := w.Server.EventFD()
	if fd < 0 {
		w.Skip("no event descriptor: this interface must be polled")
	}
	if !canPoll {
		w.Skip("no poll(2) on this system")
	}
	client, server := w.connect(setup{})
	client.mustPost(shape{size: 10, ackNow: true})
	w.until("quiet", client.idle)
	w.settle(3 * ackDelay)
	if readable(fd, 0) {
		w.Errorf("the descriptor is readable with nothing to do")
	}
	client.mustPost(shape{size: 10})
	client.iface.Flush()
	if !readable(fd, 1000) {
		w.Errorf("a frame arrived, the descriptor is not readable")
	}
	w.until("the frame", func() bool { return server.got == 2 && client.idle() })
	w.settle(3 * ackDelay)
	if readable(fd, 0) {
		w.Errorf("the descriptor stays readable with nothing to do")
	}
	client.close()
	if !readable(fd, 1000) {
		w.Errorf("the peer closed, the descriptor is not readable")
	}
	w.until("the notice", func() bool { return len(server.errs) > 0 })
}

// testWatch: nothing that arrives while nobody watches is lost to who watches again.
func testWatch(w *world) {
	fd := w.Server.EventFD()
	if fd < 0 {
		w.Skip("no event descriptor: this interface must be polled")
	}
	if !canPoll {
		w.Skip("no poll(2) on this system")
	}
	client, server := w.connect(setup{})
	for want := uint64(1); want <= 3; want++ {
		w.Server.Watch(false)
		client.mustPost(shape{size: 10, ackNow: true})
		w.until("a frame while nobody watches", func() bool { return server.got == 2*want-1 && client.idle() })
		client.mustPost(shape{size: 10})
		client.iface.Flush()
		w.Server.Watch(true)
		if !readable(fd, 1000) {
			w.Errorf("a frame arrived while nobody watched, the descriptor is not readable")
		}
		w.until("the second frame", func() bool { return server.got == 2*want && client.idle() })
		w.settle(3 * ackDelay)
		if readable(fd, 0) {
			w.Errorf("the descriptor stays readable with nothing to do")
		}
	}
}
