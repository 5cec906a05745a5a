package iov

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/openbraid/braid"
)

// SendTag is Endpoint.SendTag of what src packs.
//
// Errors: as there.
func SendTag[P Packer](ctx context.Context, ep *braid.Endpoint, tag uint64, src P) error {
	return packed("tag send", ep, src, func(b []byte) error { return ep.SendTag(ctx, tag, b) })
}

// SendTagSync is Endpoint.SendTagSync of what src packs.
//
// Errors: as there.
func SendTagSync[P Packer](ctx context.Context, ep *braid.Endpoint, tag uint64, src P) error {
	return packed("tag send", ep, src, func(b []byte) error { return ep.SendTagSync(ctx, tag, b) })
}

// SendAM is Endpoint.SendAM of a header, and of what src packs for its payload.
//
// Errors: as there.
func SendAM[P Packer](ctx context.Context, ep *braid.Endpoint, id uint16, header []byte, src P) error {
	return packed("am", ep, src, func(b []byte) error { return ep.SendAM(ctx, id, header, b) })
}

// OfferAM is Endpoint.OfferAM of a header, and of what src packs for its payload.
//
// Errors: as there.
func OfferAM[P Packer](ctx context.Context, ep *braid.Endpoint, id uint16, header []byte, src P) error {
	return packed("am offer", ep, src, func(b []byte) error { return ep.OfferAM(ctx, id, header, b) })
}

// RecvAM is Message.Recv into dst: of a message that is longer dst gets what it has room for.
//
// Errors: as there, ErrTruncated among them, and what Unpack has returned.
func RecvAM[U Unpacker](ctx context.Context, m *braid.Message, dst U) error {
	_, err := unpacked("am receive", dst, func(b []byte) (braid.TagInfo, error) { return braid.TagInfo{Len: m.Size()}, m.Recv(ctx, b) })
	return err
}

// Put is Endpoint.Put of what src packs, from offset on.
//
// Order:  as of puts: of the pieces of a List none, until a fence or flush.
// Errors: as there. What the key's memory has no room for is refused whole; with another error the peer may have some of the pieces, whatever its Fate.
func Put[P Packer](ctx context.Context, ep *braid.Endpoint, src P, key braid.RKey, offset uint64) error {
	if err := inside("put", ep, key, offset, src.Len()); err != nil {
		return err
	}
	if l, ok := any(src).(List); ok && l.apart() {
		return each(ctx, l, offset, func(b []byte, at uint64) braid.Request { return ep.PostPut(b, key, at) }, func(b []byte, at uint64) error { return ep.Put(ctx, b, key, at) })
	}
	return packed("put", ep, src, func(b []byte) error { return ep.Put(ctx, b, key, offset) })
}

// Get is Endpoint.Get of dst.Len() bytes from offset on.
//
// Errors: as there, and what Unpack has returned. With one of there the pieces of a List may be half filled, and another Unpacker is not called.
func Get[U Unpacker](ctx context.Context, ep *braid.Endpoint, dst U, key braid.RKey, offset uint64) error {
	if err := inside("get", ep, key, offset, dst.Len()); err != nil {
		return err
	}
	if l, ok := any(dst).(List); ok {
		if l.apart() {
			return each(ctx, l, offset, func(b []byte, at uint64) braid.Request { return ep.PostGet(b, key, at) }, func(b []byte, at uint64) error { return ep.Get(ctx, b, key, at) })
		}
		if b, ok := l.whole(); ok {
			return ep.Get(ctx, b, key, offset)
		}
	}
	b := buffer(dst.Len())
	defer give(b)
	if err := ep.Get(ctx, *b, key, offset); err != nil {
		return err
	}
	return dst.Unpack(*b)
}

// RecvTag is Worker.RecvTag into dst.
//
// Shape:  of a message that is longer dst gets what it has room for; TagInfo.Len is the true length.
// Errors: as there, ErrTruncated among them, and what Unpack has returned.
func RecvTag[U Unpacker](ctx context.Context, w *braid.Worker, dst U, tag, mask uint64) (braid.TagInfo, error) {
	return unpacked("tag receive", dst, func(b []byte) (braid.TagInfo, error) { return w.RecvTag(ctx, b, tag, mask) })
}

// RecvTagFrom is Endpoint.RecvTag into dst. See RecvTag.
func RecvTagFrom[U Unpacker](ctx context.Context, ep *braid.Endpoint, dst U, tag, mask uint64) (braid.TagInfo, error) {
	return unpacked("tag receive", dst, func(b []byte) (braid.TagInfo, error) { return ep.RecvTag(ctx, b, tag, mask) })
}

// RecvTaken is TagMessage.Recv into dst. See RecvTag.
func RecvTaken[U Unpacker](ctx context.Context, m *braid.TagMessage, dst U) (braid.TagInfo, error) {
	return unpacked("tag receive", dst, func(b []byte) (braid.TagInfo, error) { return m.Recv(ctx, b) })
}

// most is beyond what any buffer has.
const most = 1 << 46

// counted says why n bytes can't be sent or received.
func counted(op string, ep *braid.Endpoint, n int) error {
	if n >= 0 && n <= most {
		return nil
	}
	return refusal(op, ep, fmt.Errorf("%w: Len says %d bytes", braid.ErrLimit, n))
}

// inside says why n bytes at offset can't be of the key's memory, before any piece of them is posted. On an endpoint that is over that is for the post to say.
func inside(op string, ep *braid.Endpoint, key braid.RKey, offset uint64, n int) error {
	if err := counted(op, ep, n); err != nil {
		return err
	}
	if size := key.Size(); (uint64(n) > size || offset > size-uint64(n)) && key != (braid.RKey{}) && ep.Err() == nil {
		return refusal(op, ep, fmt.Errorf("%w: %d bytes at %d of a region of %d", braid.ErrAccess, n, offset, size))
	}
	return nil
}

func refusal(op string, ep *braid.Endpoint, err error) error {
	e := &braid.OpError{Op: op, Fate: braid.NotExecuted, Err: err}
	if ep != nil {
		e.Peer = ep.Addr()
	}
	return e
}

// packed sends what src packs, as one slice. A send that has returned leaves it alone.
func packed[P Packer](op string, ep *braid.Endpoint, src P, send func([]byte) error) error {
	if l, ok := any(src).(List); ok {
		if b, ok := l.whole(); ok {
			return send(b)
		}
	}
	n := src.Len()
	if err := counted(op, ep, n); err != nil {
		return err
	}
	b := buffer(n)
	defer give(b)
	src.Pack(*b)
	return send(*b)
}

// unpacked receives one slice, and has dst take it.
func unpacked[U Unpacker](op string, dst U, receive func([]byte) (braid.TagInfo, error)) (braid.TagInfo, error) {
	if l, ok := any(dst).(List); ok {
		if b, ok := l.whole(); ok {
			return receive(b)
		}
	}
	n := dst.Len()
	if err := counted(op, nil, n); err != nil {
		return braid.TagInfo{}, err
	}
	b := buffer(n)
	defer give(b)
	info, err := receive(*b)
	if err == nil || errors.Is(err, braid.ErrTruncated) {
		if e := dst.Unpack((*b)[:min(info.Len, len(*b))]); e != nil {
			err = errors.Join(err, e)
		}
	}
	return info, err
}

// requests are kept for lists to come.
var requests = sync.Pool{New: func() any { return new([]braid.Request) }}

// each has an operation for each piece, and waits for all, well or not: the pieces are the caller's again then. A piece for which there is no room yet is waited for.
func each(ctx context.Context, l List, offset uint64, post func([]byte, uint64) braid.Request, do func([]byte, uint64) error) (err error) {
	rs := requests.Get().(*[]braid.Request)
	defer func() {
		clear(*rs)
		*rs = (*rs)[:0]
		requests.Put(rs)
	}()
	for _, b := range l {
		r := post(b, offset)
		if done, e := r.Test(); done && e != nil {
			var full *braid.OpError
			if errors.As(e, &full) && full.Temporary() {
				e = do(b, offset)
			}
			if e != nil {
				err = e
				break
			}
		} else {
			*rs = append(*rs, r)
		}
		offset += uint64(len(b))
	}
	for _, r := range *rs {
		if e := r.Wait(ctx); e != nil && err == nil {
			err = e
		}
	}
	return err
}
