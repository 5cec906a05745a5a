package braid

import (
	"context"
	"time"

	"github.com/openbraid/braid/internal/handle"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/worker"
)

// Endpoint is one peer, reached over one or more lanes.
//
// The blocking calls take a context and return at the operation's first end: sent, its source may be reused. Flush
// waits for the second: executed at the peer. A context that is over before the end gives the caller his buffers
// back at once; the error's Fate says what the peer may have done. One that was over before keeps nothing from being
// posted: what ends by that, as a short put or message does, ends well.
//
// Source: ucp_ep_h.
type Endpoint struct {
	w *Worker
	e *worker.Endpoint
}

// Put writes src into the peer's memory.
//
// Shape:  len(src) bytes to [offset, offset+len(src)) of key's region; 0 is legal.
// Owns:   src is the library's until Put returns.
// Order:  none, until Fence or Flush.
// Done:   sent: src may be reused; executed at the peer when a Flush says so.
// Errors: *OpError: ErrAccess (also from a later Flush, if only the peer can tell), ErrPeerFailed, ErrPeerRestarted, ErrClosed, the context's.
// Source: ucp_put_nbx; RDMA WRITE in the InfiniBand specification.
func (ep *Endpoint) Put(ctx context.Context, src []byte, key RKey, offset uint64) error {
	return ep.do(ctx, func() (*request.Request, error) { return ep.e.PostPut(src, key.k, offset) })
}

// PostPut is Put without waiting.
//
// Owns:   src is the library's until the request has ended.
// Errors: as Put, from the request; ErrLimit if too many operations wait: make progress and try again.
func (ep *Endpoint) PostPut(src []byte, key RKey, offset uint64) Request {
	ep.w.lock()
	defer ep.w.unlock()
	return ep.w.request(ep.e.PostPut(src, key.k, offset))
}

// Get reads the peer's memory into dst.
//
// Shape:  len(dst) bytes from [offset, offset+len(dst)) of key's region; 0 is legal.
// Owns:   dst is the library's until Get returns.
// Order:  none, until Fence or Flush. A get that is read again after a lane was lost may see newer bytes.
// Done:   the bytes are in dst.
// Errors: *OpError: ErrAccess, ErrPeerFailed, ErrPeerRestarted, ErrClosed, the context's.
// Source: ucp_get_nbx; RDMA READ in the InfiniBand specification.
func (ep *Endpoint) Get(ctx context.Context, dst []byte, key RKey, offset uint64) error {
	return ep.do(ctx, func() (*request.Request, error) { return ep.e.PostGet(dst, key.k, offset) })
}

// PostGet is Get without waiting.
//
// Owns:   dst is the library's until the request has ended.
// Errors: as Get, from the request; ErrLimit if too many operations wait: make progress and try again.
func (ep *Endpoint) PostGet(dst []byte, key RKey, offset uint64) Request {
	ep.w.lock()
	defer ep.w.unlock()
	return ep.w.request(ep.e.PostGet(dst, key.k, offset))
}

// SendAM sends an active message: the peer's handler for id gets header and payload.
//
// Shape:  id below 65280, the others are the library's own; header up to 1024 bytes; payload up to what the peer takes (Limits.Message, 64 MiB); both may be empty.
// Owns:   both are the library's until SendAM returns.
// Order:  messages of one endpoint arrive in the order in which they were posted, whatever lanes do.
// Done:   sent: the buffers may be reused; accepted by the peer, queued for its handler, when a Flush says so.
// Errors: *OpError: ErrLimit, ErrHandler (from a later Flush), ErrPeerFailed, ErrPeerRestarted, ErrClosed, the context's.
// Source: ucp_am_send_nbx.
func (ep *Endpoint) SendAM(ctx context.Context, id uint16, header, payload []byte) error {
	return ep.do(ctx, func() (*request.Request, error) { return ep.e.PostAM(id, header, payload) })
}

// PostAM is SendAM without waiting.
//
// Owns:   header and payload are the library's until the request has ended.
// Errors: as SendAM, from the request; ErrLimit if too many operations wait: make progress and try again.
func (ep *Endpoint) PostAM(id uint16, header, payload []byte) Request {
	ep.w.lock()
	defer ep.w.unlock()
	return ep.w.request(ep.e.PostAM(id, header, payload))
}

// OfferAM is SendAM of what may be large, to a handler that says where it is to go (Worker.HandleOffer). Up to Limits.Eager bytes of payload are sent at once; of more the peer is told
// header and size, and its handler reads them from here, or does not want them.
//
// Shape:  as SendAM, but the payload has no limit.
// Done:   sent: the buffers may be reused. Of a large one: read.
// Errors: as SendAM; ErrHandler also of who takes whole messages only; ErrVersion; ErrCanceled, if the handler did not receive it, or gave up in the middle. If the context is over,
// or Request.Cancel is called, before it is received, the peer lets go of it, as of a large tagged message; its handler may have seen the header.
// Source: ucp_am_send_nbx, UCP_AM_SEND_FLAG_RNDV.
func (ep *Endpoint) OfferAM(ctx context.Context, id uint16, header, payload []byte) error {
	return ep.do(ctx, func() (*request.Request, error) { return ep.w.eng.Offers().Send(ep.e.Box(), id, header, payload) })
}

// PostOfferAM is OfferAM without waiting.
//
// Owns:   header and payload are the library's until the request has ended.
func (ep *Endpoint) PostOfferAM(id uint16, header, payload []byte) Request {
	ep.w.lock()
	defer ep.w.unlock()
	return ep.w.request(ep.w.eng.Offers().Send(ep.e.Box(), id, header, payload))
}

// Close flushes and ends the endpoint in agreement with the peer. Whatever it returns, the endpoint is closed.
//
// Errors: *OpError: what Flush would return; ErrPeerFailed if the peer does not agree within Times.Close.
// Source: ucp_ep_close_nbx.
func (ep *Endpoint) Close(ctx context.Context) error {
	err := ep.do(ctx, ep.e.PostClose)
	if ctx.Err() != nil && err != nil {
		ep.Abort()
	}
	return err
}

// Abort ends the endpoint at once. Operations under way end with ErrClosed, fate unknown; the peer is told if
// that is possible without waiting.
//
// Source: ucp_ep_close_nbx with UCP_EP_CLOSE_FLAG_FORCE.
func (ep *Endpoint) Abort() {
	ep.w.lock()
	ep.e.Abort()
	ep.w.unlock()
	ep.w.desk.RunCalls()
}

// do posts and waits. While too many operations wait already, it waits for room.
func (ep *Endpoint) do(ctx context.Context, post func() (*request.Request, error)) error {
	_, err := ep.get(ctx, post)
	return err
}

// get is do of what brings something.
func (ep *Endpoint) get(ctx context.Context, post func() (*request.Request, error)) (handle.Result, error) {
	return ep.w.desk.Do(ctx, ep.e, post)
}

// Lane is one lane of an endpoint, as it stood when it was asked for.
type Lane struct {
	Name          string // "local->remote"
	Local, Remote string
	Instance      string    // name of this life of the lane
	State         string    // "up", "opening", "lost"
	Path          int       // which of the dialing side's paths, -1 on the other side
	Since         time.Time // when it came to be in this state
	Speed         int64     // of the interface here, bit/s; 0: not known
	Rate          int64     // that it is thought to carry, measured as far as it was used, bit/s; 0 if it is not up
	Order         bool      // messages go on it
	Fault         string    // whose it looks like that it is lost: "local port", "remote port", "path", "peer"
	PostedBytes   uint64    // bytes of frames, ours
	AckedBytes    uint64    // and that were acknowledged
	AcceptedBytes uint64    // the peer's
}

// Lanes are the endpoint's lanes: those that are up, then those being opened, then those being handed over.
func (ep *Endpoint) Lanes() []Lane {
	ep.w.lock()
	defer ep.w.unlockOnly()
	var ls []Lane
	for _, s := range ep.e.Lanes() {
		ls = append(ls, Lane{s.Local + "->" + s.Remote, s.Local, s.Remote, s.Instance.String(), s.State.String(), s.Path,
			start.Add(s.Since), int64(s.Speed) * 1e6, int64(s.Rate * 8), s.Order, s.Fault, s.PostedBytes, s.AckedBytes, s.AcceptedBytes})
	}
	return ls
}

// Mode is the error mode in force: Peer where Failover was asked for and the peer can't.
func (ep *Endpoint) Mode() ErrorMode {
	ep.w.lock()
	defer ep.w.unlockOnly()
	return errorMode(ep.e.Mode())
}

// Err is why the endpoint failed, nil while it hasn't.
func (ep *Endpoint) Err() error {
	ep.w.lock()
	defer ep.w.unlockOnly()
	return public(ep.e.Err())
}

// OnEnd has fn called with the callbacks, once, when the endpoint is over: with why, as Err has it, or with ErrClosed if this side has closed it.
// What came before has been handled by then. If it is over already, fn is called with the next callbacks.
//
// Source: ucp_ep_params_t.err_handler.
func (ep *Endpoint) OnEnd(fn func(error)) {
	ep.w.lock()
	ep.e.OnEnd(func(err error) { fn(public(err)) })
	ep.w.unlock()
	ep.w.desk.CallsAfterClose()
}

// Stats are counters of an endpoint since its beginning.
type Stats struct {
	Puts, Gets, Messages uint64 // posted
	Atomics, Direct      uint64 // Direct: of all, those, or parts of them, that were done in the peer's memory from here
	Fenced               uint64 // fences at which some had to wait
	Moves                uint64 // times that messages moved to a better lane
	Handovers            uint64 // lanes lost and handed over
	ReplayedFrames       uint64
	ReplayedBytes        uint64
	Refused              uint64 // the peer's operations that were not carried out here
}

// Stats are the endpoint's counters.
func (ep *Endpoint) Stats() Stats {
	ep.w.lock()
	defer ep.w.unlockOnly()
	s := ep.e.Stats()
	return Stats{s.Puts, s.Gets, s.Messages, s.Atomics, s.Direct, s.Fenced, s.Moves, s.Handovers, s.ReplayedFrames, s.ReplayedBytes, s.Refused}
}

// Addr is the peer's address, Peer the name that it gave itself.
func (ep *Endpoint) Addr() string { return ep.e.Addr() }

// Peer is the name that the peer gave itself.
func (ep *Endpoint) Peer() string {
	ep.w.lock()
	defer ep.w.unlockOnly()
	return ep.e.Peer()
}

// Owns says whether key is of memory of this endpoint's peer.
func (ep *Endpoint) Owns(key RKey) bool {
	ep.w.lock()
	defer ep.w.unlockOnly()
	return key.k.Incarnation == ep.e.PeerIncarnation()
}

// Worker is the worker that the endpoint belongs to.
func (ep *Endpoint) Worker() *Worker { return ep.w }
