package frames

import (
	"github.com/openbraid/braid/internal/ledger"
	"github.com/openbraid/braid/internal/mpool"
	"github.com/openbraid/braid/transport"
)

// ChunkLen is the size of the buffers in which frames are kept.
const ChunkLen = 64 << 10

// Keeper is private memory for frames that are not acknowledged: several to a chunk, which goes back with the last of them.
type Keeper struct {
	chunk *transport.Buffer
	fill  int
	last  uint64 // number of the last frame that is in it
}

// Take copies the frame whose entry is e, number n. What it returns is the copy: of a payload that is not copied the head only.
func (k *Keeper) Take(p *mpool.Pool, led *ledger.Ledger, e *ledger.Entry, n uint64) []byte {
	h := len(e.Head)
	size := h
	if !e.ZeroCopy {
		size += len(e.Payload)
	}
	b := k.memory(p, led, e, size, n)
	copy(b, e.Head)
	e.Head = b[:h:h]
	if !e.ZeroCopy {
		copy(b[h:], e.Payload)
		e.Payload = b[h:]
	}
	return b
}

// memory is where size bytes go. What is larger than a chunk has a buffer of its own.
func (k *Keeper) memory(p *mpool.Pool, led *ledger.Ledger, e *ledger.Entry, size int, n uint64) []byte {
	if size > ChunkLen {
		e.Mem = p.Get(size)
		return e.Mem.Bytes[:size:size]
	}
	if k.chunk != nil && k.fill+size > ChunkLen {
		k.handOver(led)
	}
	if k.chunk == nil {
		k.chunk, k.fill = p.Get(ChunkLen), 0
	}
	at := k.fill
	k.fill += size
	k.last = n
	return k.chunk.Bytes[at : at+size : at+size]
}

// handOver gives the full chunk to the last frame in it, with which it ends.
func (k *Keeper) handOver(led *ledger.Ledger) {
	if k.last >= led.Acked() {
		if e := led.At(k.last); !e.Released && e.Mem == nil {
			e.Mem, k.chunk = k.chunk, nil
			return
		}
	}
	k.Release()
}

// Release gives the chunk back: no frame is in it.
func (k *Keeper) Release() {
	if k.chunk != nil {
		k.chunk.Release()
		k.chunk = nil
	}
}

// Reuse begins the chunk anew: no frame is in it.
func (k *Keeper) Reuse() { k.fill = 0 }
