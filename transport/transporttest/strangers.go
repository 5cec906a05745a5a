package transporttest

import (
	"io"
	"math/rand/v2"

	"github.com/openbraid/braid/transport"
)

// strangerCases: bytes that are nobody's.
var strangerCases = []testCase{
	{"garbage at a listener", testGarbage},
}

// quietSink is for connections of strangers: it may get an error, never a data frame.
type quietSink struct{ w *world }

func (q quietSink) Connected()                      { q.w.Errorf("Connected on an accepted connection") }
func (q quietSink) Place(uint8, []byte, int) []byte { q.w.Errorf("Place before Admit"); return nil }
func (q quietSink) Room()                           {}
func (q quietSink) OnError(error) transport.Decision {
	q.w.called("OnError")
	return transport.Complete
}
func (q quietSink) Frame(in *transport.Incoming) {
	if in.Class == transport.Data || len(in.Head)+len(in.Payload) > transport.HelloMax {
		q.w.Errorf("a stranger's frame was accepted before Admit: %d bytes", len(in.Payload))
	}
}

func testGarbage(w *world) {
	if w.Raw == nil {
		w.Skip("this pair has no raw connections")
	}
	good := w.newSide("server", w.Server)
	client := w.newSide("client", w.Client)
	client.peer, good.peer = good, client
	mode := "good"
	l, err := w.Server.Listen(w.Addr, &acceptor{w, func(ep transport.Endpoint) (transport.Sink, transport.Options) {
		if mode == "stranger" {
			return quietSink{w}, transport.Options{}
		}
		good.ep = ep
		return good, transport.Options{}
	}})
	if err != nil {
		w.Fatal(err)
	}
	if client.ep, err = w.Client.Dial(w.Local, l.Addr(), transport.Options{}, client); err != nil {
		w.Fatal(err)
	}
	w.until("the good connection", func() bool { return client.connected == 1 && good.ep != nil })
	client.admit(true)
	good.admit(true)
	mode = "stranger"
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 40 {
		w.stranger(l.Addr(), rng, i)
		client.mustPost(shape{size: 200, zero: true})
	}
	w.settle(5 * ackDelay)
	w.until("the good connection unhurt", func() bool { return client.idle() && good.got == 40 })
}

// stranger sends one burst of garbage and hangs up.
func (w *world) stranger(addr string, rng *rand.Rand, i int) {
	w.Helper()
	c, err := w.Raw(addr)
	if err != nil {
		w.Fatalf("raw connection to %s: %v", addr, err)
	}
	defer c.Close()
	p := make([]byte, rng.IntN(5000))
	switch i % 4 {
	case 0: // nothing but noise
		for j := range p {
			p[j] = byte(rng.Uint32())
		}
	case 1: // zeros
	case 2: // all ones: every length is the longest
		for j := range p {
			p[j] = 0xff
		}
	case 3: // small numbers, which look like headers
		for j := range p {
			p[j] = byte(rng.IntN(12))
		}
	}
	if _, err := c.Write(p); err != nil && i == 0 && err != io.ErrShortWrite {
		w.Logf("stranger's write: %v", err)
	}
	for range 3 {
		w.turn()
		w.Advance()
	}
}
