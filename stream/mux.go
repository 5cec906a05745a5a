package stream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/stream/flow"
)

// Options of a Mux. Zero values are the defaults named.
type Options struct {
	Window  int           // bytes that a stream keeps for its reader, at most: 1 MiB. A window begins with 64 KiB, or this if it is less
	Streams int           // streams of an endpoint at a time, and of its peer: 1024. More are refused
	Memory  int           // bytes that windows of an endpoint are larger than 64 KiB, all in all: 64 MiB
	Backlog int           // streams that wait to be accepted: 128. More are refused
	Answer  time.Duration // until the peer has answered who opens a stream: 10 s
}

// first is the window of a new stream. What a peer can have this side keep for readers is first for each stream, and Memory.
const first = 64 << 10

func (o *Options) defaults() error {
	if o.Window < 0 || o.Streams < 0 || o.Memory < 0 || o.Backlog < 0 || o.Answer < 0 {
		return errors.New("a limit below zero")
	}
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&o.Window, 1<<20)
	def(&o.Streams, 1024)
	def(&o.Memory, 64<<20)
	def(&o.Backlog, 128)
	if o.Answer == 0 {
		o.Answer = 10 * time.Second
	}
	if o.Window > 1<<30 {
		return fmt.Errorf("a window of %d bytes, at most %d", o.Window, 1<<30)
	}
	return nil
}

// Mux is the streams of one worker, and closed when that is. It is safe for many goroutines.
type Mux struct {
	w *braid.Worker
	o Options

	ctx  context.Context // over when it is closed
	stop context.CancelFunc
	past chan struct{}  // closed
	busy sync.WaitGroup // goroutines

	mu        sync.Mutex
	closed    bool
	sessions  map[*braid.Endpoint]*session
	dials     map[string]*dial
	listeners map[*Listener]bool
	arrived   chan *Conn // streams that wait to be accepted

	spare chan []byte // parcels
}

// New makes a worker's Mux. It takes streams that peers open as soon as something listens.
//
// Errors: *braid.OpError: a worker that is Owned or closed, or has a Mux already; a limit that can't be.
func New(w *braid.Worker, o Options) (*Mux, error) {
	if err := o.defaults(); err != nil {
		return nil, &braid.OpError{Op: "streams", Err: err}
	}
	m := &Mux{w: w, o: o, sessions: map[*braid.Endpoint]*session{}, dials: map[string]*dial{}, listeners: map[*Listener]bool{}, arrived: make(chan *Conn, o.Backlog), spare: make(chan []byte, spareMost)}
	m.ctx, m.stop = context.WithCancel(context.Background())
	m.past = make(chan struct{})
	close(m.past)
	if err := handle(w, m.heard, func() { m.Close() }); err != nil {
		return nil, &braid.OpError{Op: "streams", Err: err}
	}
	return m, nil
}

// sizes are what windows may be.
func (m *Mux) sizes() flow.Sizes {
	return flow.Sizes{First: min(first, m.o.Window), Most: m.o.Window}
}

// session is that of an endpoint, made when it is not there.
func (m *Mux) session(ep *braid.Endpoint) (*session, error) {
	m.mu.Lock()
	s, closed := m.sessions[ep], m.closed
	made := s == nil && !closed
	if made {
		s = newSession(m, ep)
		m.sessions[ep] = s
		m.met()
	}
	m.mu.Unlock()
	if closed {
		return nil, net.ErrClosed
	}
	if made {
		onEnd(ep, s.end)
	}
	return s, nil
}

// heard takes a message of a peer.
func (m *Mux) heard(msg *braid.Message) {
	if s, err := m.session(msg.Endpoint()); err == nil {
		s.heard(msg)
	}
}

// forget lets go of a session whose endpoint is over.
func (m *Mux) forget(s *session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sessions[s.ep] == s {
		delete(m.sessions, s.ep)
	}
}

// Open opens a stream on an endpoint. It returns when the peer has taken it, which costs a round trip.
//
// Errors: *net.OpError: ErrRefused: nobody listens there, or a limit; the endpoint's; the context's; the peer has no Mux; the endpoint is of another worker.
// Source: ucp_stream_send_nbx and ucp_stream_recv_nbx, which have one stream for each endpoint.
func (m *Mux) Open(ctx context.Context, ep *braid.Endpoint) (*Conn, error) {
	if ep.Worker() != m.w {
		return nil, dialError(ep.Addr(), errForeign)
	}
	s, err := m.session(ep)
	if err != nil {
		return nil, dialError(ep.Addr(), err)
	}
	return s.open(ctx)
}

// Dial opens a stream to a listener at addr, over the endpoint that there is to it; the first that dials makes it, with the node's options. It is what
// grpc.WithContextDialer wants.
//
// Errors: *net.OpError: those of Worker.Dial and Open.
func (m *Mux) Dial(ctx context.Context, addr string) (net.Conn, error) {
	for again := true; ; again = false {
		ep, had, err := m.endpoint(ctx, addr)
		if err != nil {
			return nil, dialError(addr, err)
		}
		c, err := m.Open(ctx, ep)
		switch {
		case err == nil:
			return c, nil
		case !had || !again || ep.Err() == nil: // else the endpoint that there was has died meanwhile
			return nil, err
		}
		m.drop(addr, ep)
	}
}

// DialContext is Dial in the form that http.Transport wants. Whatever the network is called, it is this one.
func (m *Mux) DialContext(ctx context.Context, _, addr string) (net.Conn, error) {
	return m.Dial(ctx, addr)
}

// dial is an endpoint that is, or is being, made for an address.
type dial struct {
	done chan struct{}
	ep   *braid.Endpoint
	err  error
}

// endpoint is that to an address. had: it was there.
func (m *Mux) endpoint(ctx context.Context, addr string) (ep *braid.Endpoint, had bool, err error) {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil, false, net.ErrClosed
	}
	d := m.dials[addr]
	if had = d != nil; !had {
		d = &dial{done: make(chan struct{})}
		m.dials[addr] = d
		m.busy.Add(1)
		go m.dial(d, addr)
	}
	m.mu.Unlock()
	select {
	case <-d.done:
		return d.ep, had, d.err
	case <-ctx.Done():
		return nil, had, ctx.Err()
	}
}

// dial makes the endpoint: for all who want it, so that none of their contexts counts.
func (m *Mux) dial(d *dial, addr string) {
	defer m.busy.Done()
	defer close(d.done)
	ep, err := m.w.Dial(m.ctx, addr)
	m.mu.Lock()
	d.ep, d.err = ep, err
	if m.closed {
		d.err = net.ErrClosed
	}
	if d.err != nil {
		delete(m.dials, addr)
	}
	m.mu.Unlock()
	switch {
	case err == nil && d.err != nil:
		ep.Abort()
	case err == nil:
		ep.OnEnd(func(error) { m.drop(addr, ep) })
	}
}

// drop has the next who dials addr make a new endpoint.
func (m *Mux) drop(addr string, ep *braid.Endpoint) {
	m.mu.Lock()
	if d := m.dials[addr]; d != nil && d.ep == ep {
		delete(m.dials, addr)
	}
	m.mu.Unlock()
	ep.Abort() // it is over, and nobody else lets go of it
}

// Close ends all streams of the worker: those that are left are reset. Listeners are closed, and endpoints that Dial or a Listener has made are, too: in
// agreement with the peer, so that it has all that was written on streams which were closed. It may take Options.Times.Close for each peer that does not
// answer, all at a time.
func (m *Mux) Close() error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil
	}
	m.closed = true
	var ls []*Listener
	for l := range m.listeners {
		ls = append(ls, l)
	}
	var ss []*session
	for _, s := range m.sessions {
		ss = append(ss, s)
	}
	var eps []*braid.Endpoint
	for _, d := range m.dials {
		select {
		case <-d.done:
			if d.ep != nil {
				eps = append(eps, d.ep)
			}
		default:
		}
	}
	m.mu.Unlock()
	m.stop()
	for _, l := range ls {
		eps = append(eps, l.close()...)
	}
	for _, s := range ss {
		s.resetAll("its side closes all streams")
	}
	m.part(eps)
	unhandle(m.w)
	m.busy.Wait()
	return nil
}

// part closes endpoints, all at a time.
func (m *Mux) part(eps []*braid.Endpoint) {
	var all sync.WaitGroup
	for _, ep := range eps {
		all.Go(func() {
			if ep.Err() != nil || ep.Close(context.Background()) != nil { // Times.Close ends it
				ep.Abort()
			}
		})
	}
	all.Wait()
}
