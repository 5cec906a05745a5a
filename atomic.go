package braid

import (
	"context"

	"github.com/openbraid/braid/internal/handle"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
)

// Word is a word of a peer's memory, to be read and changed by atomic operations: what atomic.Uint64 and atomic.Uint32 are for memory of one's own.
//
// Each operation is done once, in one step towards all others on the word: those of any endpoint, over lanes of any transport; the target's own
// (Memory.Word64); signals; puts and gets of just this word. Words of different sizes that overlap are not atomic to each other. See docs/atomics.md.
//
// Shape:  4 or 8 bytes at a multiple of that, in the byte order of the target's machine. Sums wrap: to subtract n add -n.
// Order:  none, until Fence or Flush.
// Done:   of a fetch, that is what returns the word as it was before: the word is changed. Of the others: sent; changed when a Flush says so.
// Errors: *OpError: ErrAccess (the key needs the right Atomic; also from a later Flush, if only the peer can tell), ErrPeerFailed, ErrPeerRestarted, ErrClosed, the
// context's; ErrVersion: the peer knows no atomics.
// Source: ucp_atomic_op_nbx; FETCH & ADD and CMP & SWAP in the InfiniBand specification.
type Word[T uint32 | uint64] struct {
	ep     *Endpoint
	key    RKey
	offset uint64
}

// Word64 is the word of 64 bits at offset of key's memory.
func (ep *Endpoint) Word64(key RKey, offset uint64) Word[uint64] {
	return Word[uint64]{ep, key, offset}
}

// Word32 is the word of 32 bits at offset of key's memory.
func (ep *Endpoint) Word32(key RKey, offset uint64) Word[uint32] {
	return Word[uint32]{ep, key, offset}
}

// Add adds v.
func (w Word[T]) Add(ctx context.Context, v T) error { return w.do(ctx, wire.ChangeAdd, v) }

// And clears the bits that v has not.
func (w Word[T]) And(ctx context.Context, v T) error { return w.do(ctx, wire.ChangeAnd, v) }

// Or sets the bits that v has.
func (w Word[T]) Or(ctx context.Context, v T) error { return w.do(ctx, wire.ChangeOr, v) }

// Xor flips the bits that v has.
func (w Word[T]) Xor(ctx context.Context, v T) error { return w.do(ctx, wire.ChangeXor, v) }

// FetchAdd adds v. With 0 it only reads.
func (w Word[T]) FetchAdd(ctx context.Context, v T) (T, error) { return w.get(ctx, wire.ChangeAdd, v) }

// FetchAnd clears the bits that v has not.
func (w Word[T]) FetchAnd(ctx context.Context, v T) (T, error) { return w.get(ctx, wire.ChangeAnd, v) }

// FetchOr sets the bits that v has.
func (w Word[T]) FetchOr(ctx context.Context, v T) (T, error) { return w.get(ctx, wire.ChangeOr, v) }

// FetchXor flips the bits that v has.
func (w Word[T]) FetchXor(ctx context.Context, v T) (T, error) { return w.get(ctx, wire.ChangeXor, v) }

// Swap stores v.
func (w Word[T]) Swap(ctx context.Context, v T) (T, error) { return w.get(ctx, wire.ChangeSwap, v) }

// CompareSwap stores new if the word is old: then that is what it returns.
func (w Word[T]) CompareSwap(ctx context.Context, old, new T) (T, error) {
	res, err := w.ep.get(ctx, func() (*request.Request, error) { return w.atomic(wire.ChangeCompare, new, old, true) })
	return T(res.Old), err
}

// PostAdd is Add without waiting. It, and those below, end with ErrLimit too, if too many operations wait: make progress and try again.
func (w Word[T]) PostAdd(v T) Request { return w.post(wire.ChangeAdd, v, 0, false) }

// PostAnd is And without waiting.
func (w Word[T]) PostAnd(v T) Request { return w.post(wire.ChangeAnd, v, 0, false) }

// PostOr is Or without waiting.
func (w Word[T]) PostOr(v T) Request { return w.post(wire.ChangeOr, v, 0, false) }

// PostXor is Xor without waiting.
func (w Word[T]) PostXor(v T) Request { return w.post(wire.ChangeXor, v, 0, false) }

// PostFetchAdd is FetchAdd without waiting.
func (w Word[T]) PostFetchAdd(v T) Fetch[T] { return Fetch[T]{w.post(wire.ChangeAdd, v, 0, true)} }

// PostFetchAnd is FetchAnd without waiting.
func (w Word[T]) PostFetchAnd(v T) Fetch[T] { return Fetch[T]{w.post(wire.ChangeAnd, v, 0, true)} }

// PostFetchOr is FetchOr without waiting.
func (w Word[T]) PostFetchOr(v T) Fetch[T] { return Fetch[T]{w.post(wire.ChangeOr, v, 0, true)} }

// PostFetchXor is FetchXor without waiting.
func (w Word[T]) PostFetchXor(v T) Fetch[T] { return Fetch[T]{w.post(wire.ChangeXor, v, 0, true)} }

// PostSwap is Swap without waiting.
func (w Word[T]) PostSwap(v T) Fetch[T] { return Fetch[T]{w.post(wire.ChangeSwap, v, 0, true)} }

// PostCompareSwap is CompareSwap without waiting.
func (w Word[T]) PostCompareSwap(old, new T) Fetch[T] {
	return Fetch[T]{w.post(wire.ChangeCompare, new, old, true)}
}

func (w Word[T]) do(ctx context.Context, c wire.Change, v T) error {
	return w.ep.do(ctx, func() (*request.Request, error) { return w.atomic(c, v, 0, false) })
}

func (w Word[T]) get(ctx context.Context, c wire.Change, v T) (T, error) {
	res, err := w.ep.get(ctx, func() (*request.Request, error) { return w.atomic(c, v, 0, true) })
	return T(res.Old), err
}

func (w Word[T]) post(c wire.Change, v, compare T, fetch bool) Request {
	w.ep.w.lock()
	defer w.ep.w.unlock()
	return w.ep.w.request(w.atomic(c, v, compare, fetch))
}

// atomic posts. Under the lock.
func (w Word[T]) atomic(c wire.Change, v, compare T, fetch bool) (*request.Request, error) {
	h := wire.AtomicOp{Change: c, Size: 4, Fetch: fetch, Offset: w.offset, Value: uint64(v), Compare: uint64(compare)}
	if uint64(^T(0)) > 1<<32 {
		h.Size = 8
	}
	return w.ep.e.PostAtomic(w.key.k, h)
}

// Fetch is the Request of an operation that returns the word as it was before.
type Fetch[T uint32 | uint64] struct{ Request }

// Wait is Request.Wait.
func (f Fetch[T]) Wait(ctx context.Context) (T, error) {
	res, err := f.h.Wait(ctx)
	return T(res.Old), err
}

// Test is Request.Test.
func (f Fetch[T]) Test() (done bool, old T, err error) {
	done, res, err := f.h.Test()
	if err == nil {
		old = T(res.Old)
	}
	return done, old, err
}

// Then is Request.Then.
func (f Fetch[T]) Then(fn func(old T, err error)) {
	f.h.ThenResult(func(res handle.Result, err error) { fn(T(res.Old), err) })
}
