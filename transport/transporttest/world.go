package transporttest

import (
	"fmt"
	"testing"
	"time"

	"github.com/openbraid/braid/transport"
)

// world drives a pair and watches it.
type world struct {
	testing.TB
	*Pair
	sides   []*side // every endpoint of this case
	inside  bool    // within Progress, Purge, Cancel or Close: callbacks are legal
	moved   bool    // a callback came since the turn began
	closing bool    // the case is over
}

func newWorld(t testing.TB, p *Pair) *world {
	t.Helper()
	if p.Patience == 0 {
		p.Patience = 10 * time.Second
	}
	w := &world{TB: t, Pair: p}
	t.Cleanup(w.shut)
	return w
}

// one says that both sides are the same interface, so that neither can stand still or close while the other goes on.
func (w *world) one() bool { return w.Client == w.Server }

// shut closes what is left and checks that nothing is called back after.
func (w *world) shut() {
	w.inside, w.closing = true, true
	for _, i := range []transport.Iface{w.Client, w.Server} {
		if err := i.Close(); err != nil {
			w.Errorf("Iface.Close: %v", err)
		}
	}
	w.inside = false
	for _, s := range w.sides {
		s.dead = true
		s.book.allEnded()
	}
	w.Client.Progress()
	w.Server.Progress()
}

// progress runs one interface with callbacks allowed.
func (w *world) progress(i transport.Iface) int {
	w.inside = true
	n := i.Progress()
	w.inside = false
	i.Flush()
	return n
}

// turn runs both interfaces once and checks the books; 0 means that nothing happened.
func (w *world) turn() int {
	w.Helper()
	w.moved = false
	n := w.progress(w.Client)
	n += w.progress(w.Server)
	if n == 0 && w.moved {
		w.Fatalf("Progress returned 0 although it called back")
	}
	for _, s := range w.sides {
		s.check()
	}
	return n
}

// until turns until cond holds.
func (w *world) until(what string, cond func() bool) {
	w.Helper()
	w.untilOn(what, cond, w.turn)
}

// untilOn is until with a turn of the caller's own, for cases in which one side stands still.
func (w *world) untilOn(what string, cond func() bool, turn func() int) {
	w.Helper()
	start := w.Now()
	for !cond() {
		if w.Failed() {
			w.FailNow()
		}
		if turn() == 0 && !cond() {
			w.Advance()
		}
		if w.Now()-start > w.Patience {
			w.Fatalf("gave up after %v: %s\n%s", w.Now()-start, what, w.state())
		}
	}
}

// settle turns for d, whatever happens.
func (w *world) settle(d time.Duration) {
	w.Helper()
	start := w.Now()
	w.until("time to pass", func() bool { return w.Now()-start >= d })
}

// state is a dump for the message of a wait that ended.
func (w *world) state() string {
	out := ""
	for _, s := range w.sides {
		if s.ep == nil {
			out += fmt.Sprintf("  %s: no endpoint\n", s.name)
			continue
		}
		out += fmt.Sprintf("  %s %s>%s: %+v connected=%d rooms=%d errors=%v data=%d control=%d\n", s.name,
			s.ep.Local(), s.ep.Remote(), s.ep.Counts(), s.connected, s.rooms, s.errs, s.got, len(s.controls))
	}
	return out
}

// setup is what a case wants to differ from the usual pair of connected, admitted endpoints.
type setup struct {
	window  int
	noAdmit bool
	letGo   bool // Admit without retention
	clientS func(*side)
	serverS func(*side)
}

// acceptor hands out one sink per connection.
type acceptor struct {
	w    *world
	next func(ep transport.Endpoint) (transport.Sink, transport.Options)
}

func (a *acceptor) Accepted(ep transport.Endpoint) (transport.Sink, transport.Options) {
	a.w.called("Accepted")
	return a.next(ep)
}

// connect makes one connection: client dials, server accepts, both admit.
func (w *world) connect(o setup) (client, server *side) {
	w.Helper()
	client, server, _ = w.dial(o)
	w.until("the connection", func() bool { return client.connected == 1 && server.ep != nil })
	if !o.noAdmit {
		client.admit(!o.letGo)
		server.admit(!o.letGo)
	}
	return client, server
}

// dial listens and dials and returns at once.
func (w *world) dial(o setup) (client, server *side, l transport.Listener) {
	w.Helper()
	client, server = w.newSide("client", w.Client), w.newSide("server", w.Server)
	client.peer, server.peer = server, client
	opts := transport.Options{Window: o.window}
	if o.clientS != nil {
		o.clientS(client)
	}
	if o.serverS != nil {
		o.serverS(server)
	}
	l, err := w.Server.Listen(w.Addr, &acceptor{w, func(ep transport.Endpoint) (transport.Sink, transport.Options) {
		if server.ep != nil {
			w.Errorf("accepted two connections for one dial")
			return nil, opts
		}
		server.ep = ep
		if server.accepted != nil {
			server.accepted()
		}
		return server, opts
	}})
	if err != nil {
		w.Fatalf("Listen(%q): %v", w.Addr, err)
	}
	client.ep, err = w.Client.Dial(w.Local, l.Addr(), opts, client)
	if err != nil {
		w.Fatalf("Dial(%q, %q): %v", w.Local, l.Addr(), err)
	}
	return client, server, l
}

// called is the check that every callback makes.
func (w *world) called(what string) {
	w.moved = true
	if !w.inside {
		w.Errorf("%s was called from outside of Progress, Purge, Cancel and Close", what)
	}
}
