package matrix

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/fault/drive"
	"github.com/openbraid/braid/internal/perf/medium"
	"github.com/openbraid/braid/stream"
	"github.com/openbraid/braid/transport"
)

// world is two workers with an endpoint of so many lanes between them, whose lanes can be cut at the first.
type world struct {
	ctx      context.Context // of the cell, and before the first of the beginning
	from, to *braid.Worker
	ep       *braid.Endpoint
	messages chan []byte // that came
	handled  chan came   // what handlers of offers have got
	mem      *braid.Memory
	key      braid.RKey
	out, in  net.Conn // a stream
	faults   *drive.Driver
	rails    []string
	cuts     int
	stay     time.Duration // of a cut
}

// selfMedium is the transport between endpoints of one worker.
const selfMedium medium.Medium = "self"

// room is the memory of each: a word for signals, and the largest size behind it.
const room = 64<<20 + 8

func newWorld(t *testing.T, c column) *world {
	t.Helper()
	m, lanes, limits := c.over, c.lanes, braid.Limits{Eager: eager, Stripe: stripe}
	if c.real {
		limits = braid.Limits{}
	}
	ctx, cancel := context.WithTimeout(context.Background(), cellWithin)
	t.Cleanup(cancel)
	begun := time.Now()
	now := func() time.Duration { return time.Since(begun) }
	faults := fault.New(now)
	w := &world{ctx: ctx, messages: make(chan []byte, 4), handled: make(chan came, 4), faults: drive.Start(faults, now), stay: 2 * time.Millisecond}
	t.Cleanup(w.faults.Stop)
	if m.Has("verbs") {
		w.stay = 300 * time.Millisecond // adapters of virtual machines are slow
	}
	if m == selfMedium {
		o := options(t, "self", c)
		o.Limits = limits
		w.from = worker(t, o)
		w.to = w.from
	} else {
		if w.rails = m.Rails(); lanes == 1 {
			w.rails = w.rails[:1]
		}
		from, to := over(t, c, w.rails, faults), over(t, c, w.rails, nil)
		from.Limits, to.Limits = limits, limits
		w.from, w.to = worker(t, from), worker(t, to)
	}
	w.open(t)
	if got := len(w.ep.Lanes()); got != lanes {
		t.Fatalf("%d lanes over %s, not %d", got, m, lanes)
	}
	return w
}

// options are those of a node whose lanes run over the transports of a setting.
func options(t *testing.T, transports string, c column) braid.Options {
	s := settings(t, c)
	if err := s.Set("transports", transports, "the test"); err != nil {
		t.Fatal(err)
	}
	return braid.Options{Settings: s}
}

// settings are those of a column.
func settings(t *testing.T, c column) *braid.Settings {
	s, by := new(braid.Settings), "get"
	if c.put {
		by = "put"
	}
	if err := s.Set("rendezvous", by, "the test"); err != nil {
		t.Fatal(err)
	}
	return s
}

func over(t *testing.T, c column, rails []string, faults *fault.Injector) braid.Options {
	t.Helper()
	m := c.over
	made, err := m.New(medium.Options{Rails: m.Rails(), Injector: faults, TrustNetwork: true})
	if err != nil {
		t.Fatal(err)
	}
	o := braid.Options{Transports: []transport.Transport{made}, Settings: settings(t, c), Lanes: c.lanes, Rails: rails}
	if !m.Has("verbs") {
		// Peer is what finds the only lane silent: nobody else's answers show that the peer lives.
		o.Times = braid.Times{RedialMin: time.Millisecond, RedialMax: 20 * time.Millisecond, Probe: 10 * time.Millisecond, Lost: 60 * time.Millisecond, Peer: time.Second}
	}
	return o
}

func worker(t *testing.T, o braid.Options) *braid.Worker {
	t.Helper()
	n, err := braid.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	w, err := n.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// open connects the two, and makes what the families need.
func (w *world) open(t *testing.T) {
	t.Helper()
	w.to.HandleAM(1, func(m *braid.Message) { w.messages <- append([]byte(nil), m.Payload()...) })
	at := "127.0.0.1"
	if len(w.rails) > 0 {
		at = w.rails[0]
	}
	ln, err := w.to.Listen(net.JoinHostPort(at, "0"))
	if err != nil {
		t.Fatal(err)
	}
	if w.ep, err = w.from.Dial(w.ctx, ln.Addr()); err != nil {
		t.Fatal(err)
	}
	if w.mem, err = w.to.Node().Alloc(room); err != nil {
		t.Fatal(err)
	}
	w.key = w.mem.Key(braid.Read | braid.Write | braid.Atomic)
	if w.from == w.to {
		return // a worker has one Mux, and a stream two ends
	}
	w.streams(t)
}

func (w *world) streams(t *testing.T) {
	t.Helper()
	out, err := stream.New(w.from, stream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	in, err := stream.New(w.to, stream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	ln, err := in.Incoming()
	if err != nil {
		t.Fatal(err)
	}
	if w.out, err = out.Open(w.ctx, w.ep); err != nil {
		t.Fatal(err)
	}
	if w.in, err = ln.Accept(); err != nil {
		t.Fatal(err)
	}
}

// cut cuts the lanes of a rail, one after the other, reset and silent in turns.
func (w *world) cut() {
	w.cuts++
	w.faults.Apply(fault.Rule{Rail: w.rails[w.cuts%len(w.rails)], Kind: fault.Kind(w.cuts / 2 % 2), For: w.stay})
}
