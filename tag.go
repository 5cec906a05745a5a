package braid

import (
	"context"
	"iter"
	"slices"

	"github.com/openbraid/braid/internal/handle"
	"github.com/openbraid/braid/internal/match"
	"github.com/openbraid/braid/internal/outbox"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/tags"
	"github.com/openbraid/braid/internal/worker"
)

// ExactTag is the mask of a receive of one tag alone, AnyTag that of one of all tags.
const (
	ExactTag uint64 = match.All
	AnyTag   uint64 = 0
)

// TagInfo is a tagged message that came.
type TagInfo struct {
	Tag  uint64
	Len  int       // bytes of the message, also of those that had no room; of a large one as its sender says, who may say more than there is
	From *Endpoint // that sent it
}

// SendTag sends a message with a tag: the peer's receive for it gets the bytes. What nobody has asked for yet waits there.
//
// Shape:  any size; 0 is legal. Up to Limits.Eager bytes are sent at once; of more the peer is told, and its receive reads them.
// Owns:   payload is the library's until SendTag returns.
// Order:  tagged messages of one endpoint, and its active messages, arrive in the order in which they were posted; of those that one receive takes
// it gets the earliest.
// Done:   sent: payload may be reused. Of a large one: received. What a peer keeps unreceived is bounded (Limits.Backlog): then it waits.
// Errors: *OpError: ErrVersion, ErrPeerFailed, ErrPeerRestarted, ErrClosed, the context's: then the peer is told, and what it has not received
// it won't; ErrCanceled, if the peer gave up in the middle of a large one.
// Source: ucp_tag_send_nbx.
func (ep *Endpoint) SendTag(ctx context.Context, tag uint64, payload []byte) error {
	return ep.do(ctx, func() (*request.Request, error) { return ep.sendTag(tag, payload, false) })
}

// PostTag is SendTag without waiting.
//
// Owns:   payload is the library's until the request has ended.
// Errors: as SendTag, from the request; ErrLimit if too many operations wait: make progress and try again.
func (ep *Endpoint) PostTag(tag uint64, payload []byte) Request {
	ep.w.lock()
	defer ep.w.unlock()
	return ep.w.request(ep.sendTag(tag, payload, false))
}

// SendTagSync is SendTag that returns when the message is received: when the peer has a receive for it. If the context is over, or Request.Cancel is
// called, before that, the peer lets go of the message, and ErrCanceled says that it never had it; if it is too late for that, the end is as it would have been.
//
// Source: ucp_tag_send_sync_nbx.
func (ep *Endpoint) SendTagSync(ctx context.Context, tag uint64, payload []byte) error {
	return ep.do(ctx, func() (*request.Request, error) { return ep.sendTag(tag, payload, true) })
}

// PostTagSync is SendTagSync without waiting.
func (ep *Endpoint) PostTagSync(tag uint64, payload []byte) Request {
	ep.w.lock()
	defer ep.w.unlock()
	return ep.w.request(ep.sendTag(tag, payload, true))
}

func (ep *Endpoint) sendTag(tag uint64, payload []byte, synchronous bool) (*request.Request, error) {
	return ep.w.eng.Tags().Send(ep.e.Box(), tag, payload, synchronous)
}

// RecvTag receives the earliest message whose tag is tag in the bits of mask, from any endpoint of the worker.
//
// Shape:  of a message longer than buf the rest is dropped; TagInfo.Len is its true length.
// Owns:   buf is the library's until RecvTag returns, for whatever reason: it is never written to after that.
// Order:  receives that take the same message get it in the order in which they were posted.
// Errors: *OpError: ErrTruncated; ErrClosed, the context's; once it reads a large message ErrPeerFailed and the like, and ErrCanceled if the sender
// has taken it back.
// Source: ucp_tag_recv_nbx.
func (w *Worker) RecvTag(ctx context.Context, buf []byte, tag, mask uint64) (TagInfo, error) {
	return w.waitRecv(ctx, "", func() TagRecv { return w.PostRecvTag(buf, tag, mask) })
}

// PostRecvTag is RecvTag without waiting.
//
// Owns:   buf is the library's until the request has ended.
func (w *Worker) PostRecvTag(buf []byte, tag, mask uint64) TagRecv {
	return w.postRecvTag(buf, match.Want{Tag: tag, Mask: mask})
}

// RecvTag is Worker.RecvTag from this endpoint alone. When the endpoint is over, it ends with why.
func (ep *Endpoint) RecvTag(ctx context.Context, buf []byte, tag, mask uint64) (TagInfo, error) {
	return ep.w.waitRecv(ctx, ep.Addr(), func() TagRecv { return ep.PostRecvTag(buf, tag, mask) })
}

// PostRecvTag is RecvTag without waiting.
func (ep *Endpoint) PostRecvTag(buf []byte, tag, mask uint64) TagRecv {
	return ep.w.postRecvTag(buf, match.Want{Tag: tag, Mask: mask, From: ep.e.Box()})
}

// waitRecv waits for a receive, which is not posted where nobody may wait.
func (w *Worker) waitRecv(ctx context.Context, addr string, post func() TagRecv) (TagInfo, error) {
	if err := w.desk.MayWait("tag receive", addr); err != nil {
		return TagInfo{}, err
	}
	return post().Wait(ctx)
}

func (w *Worker) postRecvTag(buf []byte, want match.Want) TagRecv {
	w.lock()
	defer w.unlock()
	return TagRecv{w.request(w.eng.Tags().PostReceive(buf, want))}
}

// ProbeTag is the earliest message that RecvTag would get now, without receiving it; ok is false if there is none. It makes no progress.
//
// Source: ucp_tag_probe_nb.
func (w *Worker) ProbeTag(tag, mask uint64) (info TagInfo, ok bool) {
	return w.probeTag(match.Want{Tag: tag, Mask: mask})
}

func (w *Worker) probeTag(want match.Want) (info TagInfo, ok bool) {
	w.lock()
	defer w.unlockOnly()
	u := w.eng.Tags().Probe(want)
	if u == nil {
		return TagInfo{}, false
	}
	return tagInfo(u.Tag, u.Size, u.From), true
}

// WaitTag is ProbeTag that waits until there is such a message: one that no receive was posted for. It stays where it is, for whoever receives it; where
// several do, NextTag is what gives each its own. It may be given memory of its size:
//
//	info, err := ep.WaitTag(ctx, 7, braid.ExactTag)
//	info, err = ep.RecvTag(ctx, make([]byte, info.Len), info.Tag, braid.ExactTag)
//
// Errors: *OpError: ErrClosed, the context's.
// Source: MPI_Probe; ucp_tag_probe_nb without remove, in a loop.
func (w *Worker) WaitTag(ctx context.Context, tag, mask uint64) (TagInfo, error) {
	return w.waitRecv(ctx, "", func() TagRecv { return w.PostWaitTag(tag, mask) })
}

// PostWaitTag is WaitTag without waiting.
func (w *Worker) PostWaitTag(tag, mask uint64) TagRecv {
	return w.postWaitTag(match.Want{Tag: tag, Mask: mask})
}

func (w *Worker) postWaitTag(want match.Want) TagRecv {
	w.lock()
	defer w.unlock()
	return TagRecv{w.request(w.eng.Tags().PostProbe(want))}
}

// WaitTag is Worker.WaitTag from this endpoint alone. When the endpoint is over, it ends with why.
func (ep *Endpoint) WaitTag(ctx context.Context, tag, mask uint64) (TagInfo, error) {
	return ep.w.waitRecv(ctx, ep.Addr(), func() TagRecv { return ep.PostWaitTag(tag, mask) })
}

// PostWaitTag is WaitTag without waiting.
func (ep *Endpoint) PostWaitTag(tag, mask uint64) TagRecv {
	return ep.w.postWaitTag(match.Want{Tag: tag, Mask: mask, From: ep.e.Box()})
}

// TakeTag takes that message out, so that nobody else receives it, and it can be given memory of its size; nil if there is none.
//
// Source: ucp_tag_probe_nb with remove, ucp_tag_msg_recv_nbx.
func (w *Worker) TakeTag(tag, mask uint64) *TagMessage {
	return w.takeTag(match.Want{Tag: tag, Mask: mask})
}

func (w *Worker) takeTag(want match.Want) *TagMessage {
	w.lock()
	defer w.unlockOnly()
	u := w.eng.Tags().Take(want)
	if u == nil {
		return nil
	}
	return w.taken(u)
}

// ProbeTag is Worker.ProbeTag of messages from this endpoint alone.
func (ep *Endpoint) ProbeTag(tag, mask uint64) (info TagInfo, ok bool) {
	return ep.w.probeTag(match.Want{Tag: tag, Mask: mask, From: ep.e.Box()})
}

// TakeTag is Worker.TakeTag of messages from this endpoint alone.
func (ep *Endpoint) TakeTag(tag, mask uint64) *TagMessage {
	return ep.w.takeTag(match.Want{Tag: tag, Mask: mask, From: ep.e.Box()})
}

// NextTag is TakeTag that waits until there is such a message. It waits among the receives, as one of them: who was posted first gets a message first.
//
// Errors: *OpError: ErrClosed, the context's.
// Source: MPI_Mprobe; ucp_tag_probe_nb in a loop.
func (w *Worker) NextTag(ctx context.Context, tag, mask uint64) (*TagMessage, error) {
	return w.nextTag(ctx, match.Want{Tag: tag, Mask: mask})
}

// NextTag is Worker.NextTag from this endpoint alone. When the endpoint is over, it ends with why.
func (ep *Endpoint) NextTag(ctx context.Context, tag, mask uint64) (*TagMessage, error) {
	return ep.w.nextTag(ctx, match.Want{Tag: tag, Mask: mask, From: ep.e.Box()})
}

func (w *Worker) nextTag(ctx context.Context, want match.Want) (*TagMessage, error) {
	if err := w.desk.MayWait("tag receive", ""); err != nil {
		return nil, err
	}
	w.lock()
	r, err := w.eng.Tags().PostTake(want)
	w.unlock()
	if err != nil {
		return nil, public(err)
	}
	res, err := w.desk.Await(ctx, r)
	if err != nil {
		return nil, err
	}
	return w.taken(res.Any.(*tags.Message)), nil
}

func (w *Worker) taken(u *tags.Message) *TagMessage {
	return &TagMessage{TagInfo: tagInfo(u.Tag, u.Size, u.From), w: w, u: u}
}

// WaitingTags are the messages that nobody has received yet, in the order in which they came: as it stood when it was called.
func (w *Worker) WaitingTags() iter.Seq[TagInfo] {
	w.lock()
	defer w.unlockOnly()
	var all []TagInfo
	w.eng.Tags().All(func(u *tags.Message) bool {
		all = append(all, tagInfo(u.Tag, u.Size, u.From))
		return true
	})
	return slices.Values(all)
}

// TagMessage is a message that was taken. Until it is received it counts against Limits.Backlog of its sender, and who sent it synchronously, or a large
// one, waits; who does not want it receives it into nil.
type TagMessage struct {
	TagInfo
	w *Worker
	u *tags.Message
}

// Recv receives it into buf: once. Of one that was received before it ends with ErrRequest.
//
// Errors: as Worker.RecvTag.
func (m *TagMessage) Recv(ctx context.Context, buf []byte) (TagInfo, error) {
	return m.w.waitRecv(ctx, "", func() TagRecv { return m.PostRecv(buf) })
}

// PostRecv is Recv without waiting.
func (m *TagMessage) PostRecv(buf []byte) TagRecv {
	m.w.lock()
	defer m.w.unlock()
	u := m.u
	if m.u = nil; u == nil {
		return TagRecv{Request{m.w.desk.Refused("tag receive", ErrRequest)}}
	}
	return TagRecv{m.w.request(m.w.eng.Tags().Receive(buf, u), nil)}
}

func tagInfo(tag, size uint64, from any) TagInfo {
	return TagInfo{tag, int(size), endpoint(from.(*outbox.Box).Host().(*worker.Endpoint))}
}

// TagRecv is the Request of a receive.
type TagRecv struct{ Request }

// Wait is Request.Wait. With ErrTruncated the TagInfo is that of the message, too.
func (q TagRecv) Wait(ctx context.Context) (TagInfo, error) {
	res, err := q.h.Wait(ctx)
	return received(res), err
}

// Test is Request.Test.
func (q TagRecv) Test() (done bool, info TagInfo, err error) {
	done, res, err := q.h.Test()
	return done, received(res), err
}

// Then is Request.Then.
func (q TagRecv) Then(fn func(info TagInfo, err error)) {
	q.h.ThenResult(func(res handle.Result, err error) { fn(received(res), err) })
}

func received(res handle.Result) TagInfo {
	if res.Any == nil {
		return TagInfo{}
	}
	return tagInfo(res.Tag, res.Size, res.Any)
}
