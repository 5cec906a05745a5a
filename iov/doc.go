// Package iov sends and receives what isn't one slice: lists of buffers, and what packs itself.
//
//	err := iov.SendTag(ctx, ep, 7, iov.List{header, body, trailer})
//	info, err := iov.RecvTag(ctx, worker, iov.List{head[:], rest}, 7, braid.ExactTag)
//	err = iov.Put(ctx, ep, iov.List{rows[3], rows[7]}, key, 0)      // one behind the other, there
//	err = iov.Get(ctx, ep, &matrix, key, 0)                         // an Unpacker of one's own
//
// The two sides need not use the same pieces, or pieces at all: what travels are the bytes, one behind the other.
//
//	pieces of 4 KiB and more on average, put or get    one operation each, from and to where they are
//	a single piece                                     as if it were passed by itself
//	all else                                           through one buffer, which is kept for the next call up to 4 MiB
//
// All calls block, as the plain ones of package braid do, and promise the same: when they return, whatever they return, the pieces are the caller's. It stands above package braid, as programs do.
//
// Invariants:
//
//  1. After a call has returned nothing of the library reads or writes the pieces.
//  2. An Unpacker is called once, with what came whole, or not at all.
//  3. In the steady state a list of up to 4 MiB costs no allocation.
package iov
