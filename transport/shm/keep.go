//go:build linux

package shm

import (
	"github.com/openbraid/braid/internal/ledger"
	"github.com/openbraid/braid/internal/mpool"
	"github.com/openbraid/braid/transport"
)

// chunkLen is the size of the buffers in which frames are kept.
const chunkLen = 64 << 10

// keeper is private memory for frames that are not acknowledged: several to a chunk, which goes back with the last of them.
type keeper struct {
	chunk *transport.Buffer
	fill  int
	last  uint64 // number of the last frame that is in it
}

// take copies the frame whose entry is e, number n.
func (k *keeper) take(p *mpool.Pool, led *ledger.Ledger, e *ledger.Entry, n uint64) {
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
}

// memory is where size bytes go. What is larger than a chunk has a buffer of its own.
func (k *keeper) memory(p *mpool.Pool, led *ledger.Ledger, e *ledger.Entry, size int, n uint64) []byte {
	if size > chunkLen {
		e.Mem = p.Get(size)
		return e.Mem.Bytes[:size:size]
	}
	if k.chunk != nil && k.fill+size > chunkLen {
		k.handOver(led)
	}
	if k.chunk == nil {
		k.chunk, k.fill = p.Get(chunkLen), 0
	}
	at := k.fill
	k.fill += size
	k.last = n
	return k.chunk.Bytes[at : at+size : at+size]
}

// handOver gives the full chunk to the last frame in it, with which it ends.
func (k *keeper) handOver(led *ledger.Ledger) {
	if k.last >= led.Acked() {
		if e := led.At(k.last); !e.Released && e.Mem == nil {
			e.Mem, k.chunk = k.chunk, nil
			return
		}
	}
	k.release()
}

func (k *keeper) release() {
	if k.chunk != nil {
		k.chunk.Release()
		k.chunk = nil
	}
}
