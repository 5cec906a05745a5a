package transporttest

import (
	"errors"
	"time"

	"github.com/openbraid/braid/transport"
)

// handshakeCases: an endpoint starts narrow, and how a connection comes to be.
var handshakeCases = []testCase{
	{"addresses", testAddresses},
	{"control before connected and admit", testControlFirst},
	{"closed before connected: nothing has left", func(w *world) { testNothingEarly(w, transport.Endpoint.Close) }},
	{"quiesced before connected: nothing has left", func(w *world) { testNothingEarly(w, transport.Endpoint.Quiesce) }},
	{"limits before admit", testNarrowPost},
	{"data before admit is a protocol error", testDataBeforeAdmit},
	{"long control before admit is a protocol error", testLongBeforeAdmit},
	{"admit from inside Frame", testAdmitInside},
	{"dial to nobody", testNobody},
	{"refused by the acceptor", testNilSink},
	{"listener close", testListenerClose},
}

func testAddresses(w *world) {
	client, server, l := w.dial(setup{})
	w.until("the connection", func() bool { return client.connected == 1 && server.ep != nil })
	for _, s := range []*side{client, server} {
		if s.ep.Local() == "" || s.ep.Remote() == "" {
			w.Errorf("%s: an endpoint has addresses for people: %q, %q", s.name, s.ep.Local(), s.ep.Remote())
		}
	}
	if client.ep.Remote() != l.Addr() {
		w.Errorf("dialed %q, Remote says %q", l.Addr(), client.ep.Remote())
	}
	if _, err := w.Server.Listen(l.Addr(), &acceptor{w: w}); err == nil {
		w.Errorf("two listeners at %s", l.Addr())
	}
}

func testControlFirst(w *world) {
	client, server, _ := w.dial(setup{})
	if st := client.control([]byte("hello")); st != transport.Done {
		w.Fatalf("a control frame right after Dial: %v", st)
	}
	big := fill(0, make([]byte, transport.HelloMax-2)) // head of 2
	if st := client.control(big); st != transport.Done {
		w.Fatalf("a control frame of HelloMax right after Dial: %v", st)
	}
	w.until("both control frames", func() bool { return len(server.controls) == 2 })
	if string(server.controls[0]) != "hello" || badByte(0, server.controls[1]) >= 0 {
		w.Errorf("wrong content, or wrong order")
	}
	server.control([]byte("hello back"))
	w.until("the answer", func() bool { return len(client.controls) == 1 && client.connected == 1 })
}

// testNothingEarly: what is posted before Connected has not left if the connection is given up before.
func testNothingEarly(w *world, giveUp func(transport.Endpoint)) {
	client, server, _ := w.dial(setup{})
	client.control([]byte("hello"))
	w.Client.Flush()
	for range 20 { // the connection may stand meanwhile, and nobody has told its opener
		if w.progress(w.Server) == 0 {
			w.Advance()
		}
	}
	if client.connected > 0 {
		return // one interface is both sides
	}
	giveUp(client.ep)
	w.Client.Flush()
	w.settle(10 * time.Millisecond)
	if n := len(server.controls); n != 0 || client.connected > 0 {
		w.Errorf("%d frames came of a connection that its opener gave up before it was told that it stands; told %d times", n, client.connected)
	}
}

func testNarrowPost(w *world) {
	client, _ := w.connect(setup{noAdmit: true})
	w.mustPanic("data before Admit", func() { client.post(shape{size: 1}) })
	w.mustPanic("control longer than HelloMax before Admit", func() { client.control(make([]byte, transport.HelloMax-1)) })
	client.book.frames, client.book.posting = nil, false
}

func testDataBeforeAdmit(w *world) {
	client, server := w.connect(setup{noAdmit: true})
	client.admit(true)
	client.mustPost(shape{size: 1})
	w.protocolError(client, server)
}

func testLongBeforeAdmit(w *world) {
	client, server := w.connect(setup{noAdmit: true})
	client.admit(true)
	client.control(make([]byte, transport.HelloMax-1))
	w.protocolError(client, server)
}

// protocolError waits until the server found out that the client doesn't keep to the rules.
func (w *world) protocolError(client, server *side) {
	w.Helper()
	w.until("a protocol error", func() bool { return len(server.errs) > 0 })
	if !errors.Is(server.errs[0], transport.ErrProtocol) {
		w.Errorf("server.OnError(%v), want ErrProtocol", server.errs[0])
	}
	if server.got > 0 || len(server.controls) > 0 {
		w.Errorf("it was accepted: %d data, %d control", server.got, len(server.controls))
	}
	server.close()
	w.until("the client's notice", func() bool { return len(client.errs) > 0 })
	client.close()
}

func testAdmitInside(w *world) {
	client, server, _ := w.dial(setup{})
	client.control([]byte("hello"))
	server.onFrame = func(in *transport.Incoming) {
		if in.Class != transport.Control {
			return
		}
		server.admit(true)
		server.control([]byte("welcome"))
		for i := range 5 { // right behind the answer
			server.send(shape{size: 10 * i})
		}
	}
	client.onFrame = func(in *transport.Incoming) {
		if in.Class == transport.Control {
			client.admit(true)
			client.send(shape{size: 7})
		}
	}
	w.until("data behind the handshake", func() bool {
		return client.got == 5 && server.got == 1 && client.idle() && server.idle()
	})
}

func testNobody(w *world) {
	s := w.newSide("client", w.Client)
	ep, err := w.Client.Dial(w.Local, w.Nobody, transport.Options{}, s)
	if err != nil {
		w.Fatalf("Dial must return at once and tell by OnError: %v", err)
	}
	s.ep = ep
	s.control([]byte("hello"))
	w.until("OnError of a dial to nobody", func() bool { return len(s.errs) > 0 })
	if s.connected > 0 {
		w.Errorf("Connected to nobody")
	}
	if st := s.control([]byte("x")); st != transport.Failed {
		w.Errorf("Post after OnError: %v", st)
	}
	s.close()
}

func testNilSink(w *world) {
	s := w.newSide("client", w.Client)
	l, err := w.Server.Listen(w.Addr, &acceptor{w, func(transport.Endpoint) (transport.Sink, transport.Options) {
		return nil, transport.Options{}
	}})
	if err != nil {
		w.Fatal(err)
	}
	if s.ep, err = w.Client.Dial(w.Local, l.Addr(), transport.Options{}, s); err != nil {
		w.Fatal(err)
	}
	w.until("the refusal", func() bool { return len(s.errs) > 0 })
}

func testListenerClose(w *world) {
	client, server, l := w.dial(setup{})
	w.until("the connection", func() bool { return client.connected == 1 && server.ep != nil })
	client.admit(true)
	server.admit(true)
	addr := l.Addr()
	if err := l.Close(); err != nil {
		w.Errorf("Listener.Close: %v", err)
	}
	if err := l.Close(); err != nil {
		w.Errorf("Listener.Close again: %v", err)
	}
	late := w.newSide("late", w.Client)
	var err error
	if late.ep, err = w.Client.Dial(w.Local, addr, transport.Options{}, late); err != nil {
		w.Fatal(err)
	}
	w.until("OnError of a dial to a closed listener", func() bool { return len(late.errs) > 0 })
	client.mustPost(shape{size: 100})
	w.until("the old connection still carries", func() bool { return client.idle() && server.got == 1 })
	again, err := w.Server.Listen(addr, &acceptor{w: w})
	if err != nil {
		w.Fatalf("the address is free again: %v", err)
	}
	again.Close()
}
