package self

import (
	"net"
	"strconv"
	"time"

	"github.com/openbraid/braid/transport"
)

const (
	// rounds of turns in one Progress: in the first a frame is taken, in the second its acknowledgement.
	rounds = 2
	// idleTurns without work make the descriptor unreadable: who polls without end does not pay for it after each frame.
	idleTurns = 64

	firstPort, lastPort = 32768, 65535 // picked ones
)

// iface is one worker's endpoints to itself.
type iface struct {
	env       transport.Env
	listeners []*listener
	eps       []*endpoint // those that somebody knows
	lastPort  int         // picked
	closed    bool

	ready    []*endpoint // have a turn in the next round
	serving  []*endpoint // memory for the list
	running  bool        // within Progress
	idle     int         // turns in a row without work, while the bell is rung
	bell     bell
	pool     *pool
	incoming transport.Incoming // of the frame that is being handed over
}

// Attr implements transport.Iface.
func (f *iface) Attr() transport.Attr {
	return transport.Attr{Name: "self", Local: true, Speed: speed, Frame: 200 * time.Nanosecond, MaxHead: maxHead, MaxFrame: maxFrame, InOrder: true, ZeroCopy: zeroCopy}
}

// Dial implements transport.Iface. Whether somebody listens is looked up in Progress.
func (f *iface) Dial(local, remote string, o transport.Options, s transport.Sink) (transport.Endpoint, error) {
	err := error(nil)
	switch {
	case f.closed:
		err = transport.ErrClosed
	case local != "" && local != host:
		err = ErrAddress
	default:
		_, err = parse(remote)
	}
	if err != nil {
		return nil, &Error{Op: opDial, Local: local, Remote: remote, Err: err}
	}
	near := f.endpoint(connecting, address(f.pick()), remote)
	far := f.endpoint(waiting, remote, near.local)
	near.peer, far.peer = far, near
	near.sink = s
	near.setWindow(o)
	f.adopt(near)
	near.list()
	return near, nil
}

func (f *iface) endpoint(s state, local, remote string) *endpoint {
	ep := &endpoint{f: f, state: s, local: local, remote: remote, lim: limits{frame: transport.HelloMax}}
	ep.need = -1
	return ep
}

// adopt puts an endpoint on the list of those that Close closes.
func (f *iface) adopt(ep *endpoint) {
	ep.at = len(f.eps)
	f.eps = append(f.eps, ep)
}

// forget takes it off again.
func (f *iface) forget(ep *endpoint) {
	last := len(f.eps) - 1
	moved := f.eps[last]
	f.eps[ep.at], moved.at = moved, ep.at
	f.eps[last] = nil
	f.eps = f.eps[:last]
}

// Progress implements transport.Iface.
func (f *iface) Progress() (n int) {
	if f.running {
		panic("self: Progress was called from inside a callback")
	}
	f.running = true
	for round := 0; round < rounds && len(f.ready) > 0; round++ {
		batch := f.ready
		f.ready = f.serving[:0] // what becomes ready meanwhile has its turn in the next round
		for _, ep := range batch {
			ep.listed = false
			n += ep.turn()
		}
		clear(batch)
		f.serving = batch[:0]
	}
	f.running = false
	if f.bell.rung {
		f.rest(n)
	}
	return n
}

// rest counts idle turns, and hushes the bell when there were enough.
func (f *iface) rest(n int) {
	switch {
	case n > 0 || len(f.ready) > 0:
		f.idle = 0
	case f.idle < idleTurns:
		f.idle++
	default:
		f.bell.hush()
	}
}

// Flush implements transport.Iface. Frames need no handing over; but somebody may sleep on the descriptor.
func (f *iface) Flush() {
	if len(f.ready) == 0 || f.bell.rung || f.running || f.closed {
		return
	}
	f.idle = 0
	f.bell.ring()
}

// Deadline implements transport.Iface. Who asks may sleep until then, so the descriptor is made to say what is true.
func (f *iface) Deadline() time.Duration {
	switch {
	case f.closed:
		return 0
	case len(f.ready) == 0:
		f.bell.hush()
		return 0
	case f.bell.rung:
		return 0 // the descriptor says it
	}
	return max(f.env.Now(), 1)
}

// Watch implements transport.Iface: the bell costs little.
func (f *iface) Watch(bool) {}

// EventFD implements transport.Iface.
func (f *iface) EventFD() int {
	if f.closed {
		return -1
	}
	return f.bell.r
}

// Close implements transport.Iface.
func (f *iface) Close() error {
	if f.closed {
		return nil
	}
	f.closed = true
	for _, l := range f.listeners {
		l.closed = true
	}
	f.listeners = nil
	for len(f.eps) > 0 {
		f.eps[len(f.eps)-1].Close()
	}
	return f.bell.close()
}

func address(port int) string { return host + ":" + strconv.Itoa(port) }

// parse is the port of "self:port".
func parse(addr string) (int, error) {
	h, p, err := net.SplitHostPort(addr)
	if err != nil || h != host {
		return 0, ErrAddress
	}
	port, err := strconv.ParseUint(p, 10, 16)
	if err != nil {
		return 0, ErrAddress
	}
	return int(port), nil
}
