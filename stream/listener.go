package stream

import (
	"net"
	"sync"

	"github.com/openbraid/braid"
)

// Listener takes the streams that peers open. It is a net.Listener.
//
// All streams that peers open on a worker's endpoints go to whoever accepts first: listeners of one Mux share them. For services that are
// to be kept apart take a worker each.
type Listener struct {
	m    *Mux
	ln   *braid.Listener // nil: of Incoming
	addr Addr
	over chan struct{}
	once sync.Once

	peers chan struct{} // somebody has come

	mu  sync.Mutex
	eps map[*braid.Endpoint]bool // that it has accepted
}

// Listen listens for peers at addr, as Worker.Listen does, and for the streams that they open.
//
// Errors: *net.OpError: those of Worker.Listen; net.ErrClosed.
func (m *Mux) Listen(addr string, options ...braid.ListenOption) (*Listener, error) {
	ln, err := m.w.Listen(addr, options...)
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: network, Addr: Addr{addr}, Err: err}
	}
	l, err := m.listen(ln)
	if err != nil {
		ln.Close()
	}
	return l, err
}

// Incoming listens for streams that peers open on endpoints which are there already: those that this side has dialed, or accepted by itself.
func (m *Mux) Incoming() (*Listener, error) { return m.listen(nil) }

func (m *Mux) listen(ln *braid.Listener) (*Listener, error) {
	l := &Listener{m: m, ln: ln, over: make(chan struct{}), peers: make(chan struct{}, 1), eps: map[*braid.Endpoint]bool{}}
	if ln != nil {
		l.addr = Addr{ln.Addr()}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, &net.OpError{Op: "listen", Net: network, Addr: l.addr, Err: net.ErrClosed}
	}
	m.listeners[l] = true
	if ln != nil {
		m.busy.Add(1)
		go l.takePeers()
	}
	return l, nil
}

// takePeers accepts endpoints when one of them has said something about streams. It does not wait for them in Accept: a worker whose
// callers poll would be polled for as long as it listens.
func (l *Listener) takePeers() {
	defer l.m.busy.Done()
	for {
		select {
		case <-l.peers:
			l.takeWaiting()
		case <-l.over:
			return
		}
	}
}

// takeWaiting accepts the endpoints that are there, so that they don't wait for ever, and lets go of them when they are over.
func (l *Listener) takeWaiting() {
	for {
		ep, err := l.ln.Accept(until(l.m.past))
		if err != nil {
			return
		}
		l.mu.Lock()
		l.eps[ep] = true
		l.mu.Unlock()
		ep.OnEnd(func(error) {
			l.mu.Lock()
			delete(l.eps, ep)
			l.mu.Unlock()
			ep.Abort() // which is over; else it would be kept
		})
	}
}

// met has listeners take the peers that wait. Under the lock.
func (m *Mux) met() {
	for l := range m.listeners {
		select {
		case l.peers <- struct{}{}:
		default:
		}
	}
}

// Accept waits for a stream. It returns a *Conn.
//
// Errors: *net.OpError with net.ErrClosed.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case <-l.over:
	default:
		select {
		case c := <-l.m.arrived:
			return c, nil
		case <-l.over:
		}
	}
	return nil, &net.OpError{Op: "accept", Net: network, Addr: l.addr, Err: net.ErrClosed}
}

// Addr is the address that peers dial.
func (l *Listener) Addr() net.Addr { return l.addr }

// Close ends listening. Streams that were accepted go on; those that wait to be, and nobody else listens, are reset. Endpoints stay, for the streams
// that are on them, until Mux.Close.
func (l *Listener) Close() error {
	first := false
	l.once.Do(func() { first = true; l.end() })
	if !first {
		return &net.OpError{Op: "close", Net: network, Addr: l.addr, Err: net.ErrClosed}
	}
	return nil
}

// close is that of the Mux: it returns the endpoints.
func (l *Listener) close() (eps []*braid.Endpoint) {
	l.once.Do(l.end)
	l.mu.Lock()
	defer l.mu.Unlock()
	for ep := range l.eps {
		eps = append(eps, ep)
	}
	return eps
}

func (l *Listener) end() {
	close(l.over)
	if l.ln != nil {
		l.takeWaiting() // their streams go on
		l.ln.Close()
	}
	m := l.m
	m.mu.Lock()
	delete(m.listeners, l)
	last := len(m.listeners) == 0
	m.mu.Unlock()
	for last {
		select {
		case c := <-m.arrived:
			c.Reset("nobody accepts streams here any more")
		default:
			last = false
		}
	}
}

// offer hands a new stream to who accepts, if somebody does and there is room.
func (m *Mux) offer(c *Conn) (refusal string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.listeners) == 0 {
		return "nobody accepts streams here"
	}
	select {
	case m.arrived <- c:
		return ""
	default:
		return "too many streams wait to be accepted"
	}
}
