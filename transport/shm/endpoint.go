//go:build linux

package shm

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/internal/ledger"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm/crowd"
	"github.com/openbraid/braid/transport/shm/frames"
	"github.com/openbraid/braid/transport/shm/greeting"
	"github.com/openbraid/braid/transport/shm/life"
	"github.com/openbraid/braid/transport/shm/loan"
	"github.com/openbraid/braid/transport/shm/ring"
	"github.com/openbraid/braid/transport/shm/segment"
)

var errGone = errors.New("its end of the connection is gone")

// Where an endpoint is in its life, and what moves it on.
const (
	connecting, up, broken, quiesced, closed = life.Connecting, life.Up, life.Broken, life.Quiesced, life.Closed
	evStands, evBroke, evQuiesce, evClose    = life.Stands, life.Broke, life.Quiesce, life.Close
)

// endpoint is one connection.
type endpoint struct {
	f     *iface
	sink  transport.Sink
	state life.State
	fault Fault

	local, remote string
	window        uint64
	lim           limits // what is taken and posted
	retain        bool

	link
	led      ledger.Ledger
	send     outbox
	recv     inbox
	acks     frames.Acks
	lent     loan.Lent
	borrowed loan.Borrowed
	due
}

// link is the connection itself; hangUp ends it.
type link struct {
	fd   int              // the socket; -1: gone
	peer int              // process, as the system says
	seg  *segment.Segment // nil: gone, and out and in with it
	out  *ring.Writer
	in   *ring.Reader

	lies bool   // this side has said that it sleeps
	wake uint32 // what there is for the peer since he was last roused
}

// due is what is still to be done about an endpoint.
type due struct {
	blocked bool  // something waits for room in the ring
	starved bool  // Post said NoResource: Room is owed
	dirty   bool  // in iface.dirty
	later   bool  // in iface.later
	failing error // the connection can't go on; OnError is owed

	place crowd.Place
}

// limits are what is taken and posted.
type limits struct {
	frame int
	data  bool
}

// endpoint makes one that has no connection yet.
func (f *iface) endpoint(local, remote string) *endpoint {
	ep := &endpoint{f: f, local: local, remote: remote, lim: limits{frame: transport.HelloMax}}
	ep.fd, ep.lies = -1, true
	ep.send.bulk.Now = f.env.Now
	return ep
}

// setWindow takes the options of an endpoint.
func (ep *endpoint) setWindow(o transport.Options) {
	ep.window = defaultWindow
	if o.Window > 0 {
		ep.window = uint64(o.Window)
	}
}

// rings puts the two ends over the segment, which is the endpoint's from now on.
func (ep *endpoint) rings(seg *segment.Segment, out, in []byte, s ring.Shape) (err error) {
	ep.seg = seg
	seg.Forget()
	if ep.out, err = ring.NewWriter(out, s); err == nil {
		ep.in, err = ring.NewReader(in, s)
	}
	return err
}

// adopt takes an endpoint in. Who waits for the descriptor must hear of it, too.
func (f *iface) adopt(ep *endpoint) {
	f.eps = append(f.eps, ep)
	f.crowd.Add(ep, f.turn.count)
	if ep.fd >= 0 {
		if _, known := f.byFD[ep.fd]; known {
			f.byFD[ep.fd] = watched{ep: ep}
		} else if err := f.watch(ep.fd, watched{ep: ep}); err != nil {
			ep.fail("open", err)
		}
	}
	ep.rise(true)
	if f.turn.watched {
		ep.lie()
	}
}

// Dial implements transport.Iface.
func (f *iface) Dial(local, remote string, o transport.Options, s transport.Sink) (transport.Endpoint, error) {
	fail := func(err error) (transport.Endpoint, error) {
		return nil, newError(Error{Op: "dial", Local: local, Remote: remote, Err: err})
	}
	if f.closed {
		return fail(transport.ErrClosed)
	}
	host, _, err := net.SplitHostPort(remote)
	if err != nil || host == "" {
		return fail(ErrAddress)
	}
	if local == "" {
		if local = host; len(host) > len(Host) && host[:len(Host)+1] == Host+"." {
			local = Host
		}
	}
	f.number++
	ep := f.endpoint(net.JoinHostPort(local, portName(f.number)), remote)
	ep.sink = s
	ep.setWindow(o)
	f.adopt(ep)
	f.turn.expected++
	if err := ep.connect(greeting.Offer{Shape: f.shape(), Number: f.number, Mark: f.offered()}); err != nil {
		f.lacks("dial", remote, err)
		ep.fail("dial", err) // from Progress, as any other reason why it can't stand
	}
	return ep, nil
}

// portName is what stands in place of a port in the address of who dials.
func portName(number uint32) string { return strconv.Itoa(1 + int(number%65535)) }

// connect makes the segment and offers it.
func (ep *endpoint) connect(o greeting.Offer) error {
	f := ep.f
	fd, err := segment.Dial(ep.remote)
	if err != nil {
		return err
	}
	ep.fd = fd
	if ep.peer, err = f.mayCome(fd); err != nil {
		return err
	}
	size := o.Shape.Size()
	if err := f.budget.Take(ep.peer, 2*size); err != nil {
		return err
	}
	seg, err := segment.Create(2 * size)
	if err == nil {
		if err = segment.Send(fd, o.Bytes(), seg.FD()); err != nil {
			seg.Close()
		}
	}
	if err != nil {
		f.budget.Give(ep.peer, 2*size)
		return err
	}
	if err := ep.rings(seg, seg.Bytes()[:size], seg.Bytes()[size:], o.Shape); err != nil {
		return err
	}
	if err := f.watch(fd, watched{ep: ep}); err != nil {
		return err
	}
	if f.turn.watched {
		ep.lie()
	}
	return nil
}

// lacks says, the first time, that a lane is not made because there is no memory for it: it is tried again and again.
func (f *iface) lacks(op, peer string, err error) (short bool) {
	short = errors.Is(err, ErrLimit) || errors.Is(err, segment.ErrSpace)
	if short && !f.lacked {
		f.lacked = true
		f.env.Log.Warn("no lane through shared memory, others carry on", "err", newError(Error{Op: op, Remote: peer, Err: err}))
	}
	return short
}

// attach maps what a peer passed.
func (f *iface) attach(peer, fd, size int) (*segment.Segment, error) {
	if err := f.budget.Take(peer, size); err != nil {
		unix.Close(fd)
		return nil, err
	}
	seg, err := segment.Attach(fd, size)
	if err != nil {
		f.budget.Give(peer, size)
	}
	return seg, err
}

// answered takes what the acceptor says to an offer.
func (ep *endpoint) answered() int {
	n, fd, _, err := segment.Receive(ep.fd, ep.f.message[:])
	if err == unix.EAGAIN || err == unix.EINTR {
		return 0
	}
	if fd >= 0 {
		unix.Close(fd)
	}
	a, ok := greeting.ParseAnswer(ep.f.message[:max(n, 0)])
	switch {
	case err != nil || n == 0:
		ep.broke(ep.wrap("dial", errGone))
	case !ok:
		ep.broke(ep.wrap("dial", fmt.Errorf("%w: what came is no answer", transport.ErrProtocol)))
	case a.Code != greeting.Welcome:
		ep.broke(ep.wrap("dial", a.Code.Err()))
	default:
		ep.note(evStands)
		ep.tryPeer(a.Mark)
		ep.soil() // what was posted meanwhile
		ep.sink.Connected()
	}
	return 1
}

// note is the only place that writes an endpoint's state.
func (ep *endpoint) note(e life.Event) {
	was := ep.state
	if !life.Table.Note(&ep.state, e) {
		panic("shm: endpoint is " + ep.state.String() + ", can't be: " + e.String())
	}
	ep.f.turn.gone = ep.f.turn.gone || ep.state == closed
	if was == connecting && ep.state != connecting {
		ep.f.turn.expected--
	}
}

// Admit implements transport.Endpoint.
func (ep *endpoint) Admit(limit int, retain bool) {
	if limit < 0 || limit > maxFrame {
		panic(fmt.Errorf("shm: Admit(%d), the most is %d: %w", limit, maxFrame, transport.ErrFrame))
	}
	ep.lim = limits{frame: limit, data: true}
	ep.retain = retain
}

// Counts implements transport.Endpoint.
func (ep *endpoint) Counts() transport.Counts {
	c := transport.Counts{Accepted: ep.recv.accepted, AcceptedBytes: ep.recv.acceptedBytes}
	ep.led.Counts(&c)
	return c
}

// Reached implements transport.Endpoint: what is in the ring has reached the peer, and what he reads of it shows that he does.
func (ep *endpoint) Reached() uint64 {
	if ep.out == nil {
		return 0
	}
	return ep.out.Moved()
}

// Position implements transport.Endpoint.
func (ep *endpoint) Position() uint64 { return ep.recv.accepted }

// Local implements transport.Endpoint.
func (ep *endpoint) Local() string { return ep.local }

// Remote implements transport.Endpoint.
func (ep *endpoint) Remote() string { return ep.remote }

// writes says whether frames may still go out.
func (ep *endpoint) writes() bool {
	return ep.state <= up && ep.failing == nil && !ep.led.Held() && ep.seg != nil
}

// soil has Flush look at the endpoint.
func (ep *endpoint) soil() {
	if !ep.dirty {
		ep.dirty = true
		ep.f.dirty = append(ep.f.dirty, ep)
	}
}

// postpone has the next Progress look at the endpoint.
func (ep *endpoint) postpone() {
	if !ep.later {
		ep.later = true
		ep.f.later = append(ep.f.later, ep)
	}
}
