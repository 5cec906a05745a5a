package braid

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/wire"
)

// Rights are what a key allows its holder to do.
type Rights uint8

const (
	Read   = Rights(wire.Read)   // get
	Write  = Rights(wire.Write)  // put
	Atomic = Rights(wire.Atomic) // atomic operations: to read and change words by them
)

func (r Rights) String() string { return wire.Rights(r).String() }

// Memory is memory that peers may be given access to. It is safe for concurrent use; its bytes follow the
// rules of docs/memory.md.
//
// Source: ucp_mem_h.
type Memory struct {
	n *Node
	r *memory.Region
}

// mostAlloc is beyond what any system gives to a process, and what make would panic for.
const mostAlloc = 1 << 46

// Alloc makes zeroed memory of size bytes, aligned to a cache line, and registers it. Peers on this host may share it (docs/shm.md).
//
// Errors: *OpError: ErrClosed; a size that can't be. What can be and isn't there ends the process, as with make.
// Source: ucp_mem_map with UCP_MEM_MAP_ALLOCATE.
func (n *Node) Alloc(size int) (*Memory, error) {
	if size < 0 {
		return nil, opError("alloc", "", fmt.Errorf("size %d is negative", size))
	}
	if size > mostAlloc {
		return nil, opError("alloc", "", fmt.Errorf("%w: size %d is more than a process can have", ErrLimit, size))
	}
	return n.memory("alloc", func() *memory.Region { return n.mem.Alloc(size, memory.Lends(n.opts.Transports), n.log) })
}

// Register makes b accessible to peers that hold a key of it.
//
// Owns:   b stays the caller's, and must not be used for anything else until Deregister.
// Errors: *OpError: ErrClosed.
// Source: ucp_mem_map.
func (n *Node) Register(b []byte) (*Memory, error) {
	return n.memory("register", func() *memory.Region { return n.mem.Add(b) })
}

// memory is what add adds, of a node that is not closed: nobody would take it away.
func (n *Node) memory(op string, add func() *memory.Region) (*Memory, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, opError(op, "", fmt.Errorf("the node is %w", ErrClosed))
	}
	return &Memory{n, add()}, nil
}

// Bytes is the memory itself. Reading bytes that a peer may write meanwhile is a race.
func (m *Memory) Bytes() []byte { return m.r.Bytes }

// Key is the right of access to all of the memory, for peers over whatever transport. Its bytes may travel by any way. Of rights that there are not the key grants nothing.
//
// Source: ucp_rkey_pack.
func (m *Memory) Key(rights Rights) RKey { return RKey{m.r.Key(wire.Rights(rights), m.n.incarnation)} }

// Load64 reads the aligned 64-bit word at offset: whoever sees the value of a peer's put of eight bytes sees
// it whole.
//
// Errors: panics if offset is not a multiple of 8 inside of the memory, as an index out of range does.
func (m *Memory) Load64(offset uint64) uint64 { return m.Word64(offset).Load() }

// Store64 writes the aligned 64-bit word at offset. See Load64.
func (m *Memory) Store64(offset, v uint64) { m.Word64(offset).Store(v) }

// Word64 is the aligned 64-bit word at offset, for this program's own atomics: they and peers' operations on it (Endpoint.Word64) are
// atomic to each other.
//
// Errors: panics as Load64 does.
func (m *Memory) Word64(offset uint64) *atomic.Uint64 {
	w := m.r.Word64(offset)
	if w == nil {
		m.noWord(offset, 8)
	}
	return w
}

// Word32 is Word64 of a word of 32 bits, at a multiple of 4.
func (m *Memory) Word32(offset uint64) *atomic.Uint32 {
	w := m.r.Word32(offset)
	if w == nil {
		m.noWord(offset, 4)
	}
	return w
}

func (m *Memory) noWord(offset uint64, size int) {
	panic(fmt.Sprintf("braid: word at offset %d of memory of %d bytes: must be aligned to %d and inside", offset, len(m.r.Bytes), size))
}

// Deregister ends remote access at once: what peers do with keys from now on is refused. ErrBusy says that a
// transfer which began before is still writing; access has ended all the same, call again until it is nil.
//
// Source: ucp_mem_unmap.
func (m *Memory) Deregister() error {
	m.n.mem.Remove(m.r)
	if m.r.Busy() {
		return opError("deregister", "", ErrBusy)
	}
	return nil
}

// RKey is a right to access memory of some node.
//
// Source: ucp_rkey_h.
type RKey struct{ k wire.RKey }

// ParseRKey reads a packed key. Whether it is valid is for its owner to say.
//
// Errors: ErrKey, with what is wrong.
// Source: ucp_ep_rkey_unpack.
func ParseRKey(b []byte) (RKey, error) {
	k, err := wire.DecodeRKey(b)
	if err != nil {
		return RKey{}, opError("rkey", "", err)
	}
	return RKey{k}, nil
}

// Bytes is the packed key, 36 bytes.
func (k RKey) Bytes() []byte { return k.k.AppendTo(nil) }

// Size is the size of the memory in bytes: offsets of operations count from its beginning.
func (k RKey) Size() uint64 { return k.k.Size }

// Rights are what its holder may do. They are told, not granted by this: who makes more of them is refused.
func (k RKey) Rights() Rights { return Rights(k.k.Rights) }

// String says what the key is for, and keeps its secret.
func (k RKey) String() string {
	return fmt.Sprintf("rkey{region %d, %d bytes, %v}", k.k.Index, k.k.Size, k.k.Rights)
}

// Format says the same, whatever the verb.
func (k RKey) Format(f fmt.State, _ rune) { io.WriteString(f, k.String()) }
