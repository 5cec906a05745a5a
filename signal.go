package braid

import (
	"context"

	"github.com/openbraid/braid/internal/outbox"
	"github.com/openbraid/braid/internal/request"
)

// Signal is a word of the peer's memory that is changed once a put is there.
type Signal struct {
	Key    RKey   // of the memory that the word is in, which may be other memory than the put's
	Offset uint64 // of the word: a multiple of 8
	Value  uint64
	Add    bool // add Value to the word, as a counter; otherwise store it, as a flag
}

func (s Signal) engine() outbox.Signal {
	return outbox.Signal{Key: s.Key.k, Offset: s.Offset, Value: s.Value, Add: s.Add}
}

// PutSignal writes src into the peer's memory, and then changes a word there: who sees the word's new value by Memory.Load64 sees all of
// src. It is what people build from a put, a fence and another put, and costs less: nothing else is kept in order by it.
//
// Shape:  as Put; the word is 8 bytes at a multiple of 8.
// Owns:   src is the library's until PutSignal returns.
// Order:  the word after src, over any number of lanes and across their loss. Otherwise none.
// Done:   sent: src may be reused; executed, bytes and word, when a Flush says so. The word is changed once.
// Errors: as Put. If src or the word can't be written, neither the rest of src nor the word is; ErrVersion: the peer doesn't know signals.
// Source: nvshmem_put_signal, ucp_put_nbx with ucp_worker_fence and ucp_atomic_op_nbx.
func (ep *Endpoint) PutSignal(ctx context.Context, src []byte, key RKey, offset uint64, s Signal) error {
	return ep.do(ctx, func() (*request.Request, error) { return ep.e.PostPutSignal(src, key.k, offset, s.engine()) })
}

// PostPutSignal is PutSignal without waiting.
//
// Owns:   src is the library's until the request has ended.
// Errors: as PutSignal, from the request; ErrLimit if too many operations wait: make progress and try again.
func (ep *Endpoint) PostPutSignal(src []byte, key RKey, offset uint64, s Signal) Request {
	ep.w.lock()
	defer ep.w.unlock()
	return ep.w.request(ep.e.PostPutSignal(src, key.k, offset, s.engine()))
}
