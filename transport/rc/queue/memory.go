package queue

import (
	"slices"
	"sync"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport"
)

const (
	// memStep is what the sizes of registered memory are multiples of.
	memStep = 4 << 10
	// memKeep is how many bytes of one size are kept for the next.
	memKeep = 8 << 20
)

// Block is memory that the device knows.
type Block struct {
	*transport.Buffer
	// Lock is what opens the block to peers, nil: nothing. It is closed before anybody else gets the block. The owner's.
	Lock Lock
	mr   rdma.MR
}

// Lock opens a block to peers.
type Lock interface {
	// Close closes it; true: it is closed. Called again until it says so.
	Close() bool
}

// Region is what the device knows the block as.
func (b *Block) Region() rdma.MR { return b.mr }

// SGE names [at, at+n) of the block.
func (b *Block) SGE(at, n int) rdma.SGE {
	return rdma.SGE{Addr: b.mr.Addr() + uint64(at), Length: uint32(n), LKey: b.mr.LKey()}
}

// Memory is the registered memory of one port. Who kept a buffer may give it back on any goroutine; all else is the owner's.
type Memory struct {
	PD  rdma.PD
	All int // blocks that are registered

	mu     sync.Mutex
	free   [][]*Block // by size
	locked []*Block   // nobody has them, but peers may
	over   bool       // something is more than it may keep
	closed bool
}

// Get returns a block of at least size bytes with one holder.
func (m *Memory) Get(size int) (*Block, error) {
	c := (size + memStep - 1) / memStep
	m.mu.Lock()
	if c < len(m.free) {
		if n := len(m.free[c]); n > 0 {
			b := m.free[c][n-1]
			m.free[c][n-1] = nil
			m.free[c] = m.free[c][:n-1]
			m.mu.Unlock()
			b.Revive()
			return b, nil
		}
	} else {
		m.free = append(m.free, make([][]*Block, c+1-len(m.free))...)
	}
	m.mu.Unlock()
	b := new(Block)
	b.Buffer = transport.NewBuffer(c*memStep, func(*transport.Buffer) { m.put(b) })
	mr, err := m.PD.RegMR(b.Bytes, rdma.AccessLocalWrite|rdma.AccessMWBind)
	if err != nil {
		return nil, err
	}
	b.mr = mr
	m.All++
	return b, nil
}

func (m *Memory) put(b *Block) {
	m.mu.Lock()
	switch {
	case m.closed:
	case b.Lock != nil:
		m.locked = append(m.locked, b)
	default:
		m.keep(b)
	}
	m.mu.Unlock()
}

func (m *Memory) keep(b *Block) {
	c := len(b.Bytes) / memStep
	m.free[c] = append(m.free[c], b)
	m.over = m.over || len(m.free[c])*len(b.Bytes) > memKeep
}

// unlock closes to peers what nobody has any more.
func (m *Memory) unlock() {
	m.locked = slices.DeleteFunc(m.locked, func(b *Block) bool {
		if !b.Lock.Close() {
			return false
		}
		b.Lock = nil
		m.keep(b)
		return true
	})
}

// Trim closes blocks to peers that nobody has, and gives back what is more than is kept: on the owner's turn, since the device is his.
func (m *Memory) Trim() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.locked) > 0 {
		m.unlock()
	}
	if !m.over {
		return
	}
	m.over = false
	for c, list := range m.free {
		for n := len(list); n*c*memStep > memKeep; n-- {
			if list[n-1].mr.Deregister() != nil {
				m.over = true // a work request names it still; the next turn
				break
			}
			list[n-1] = nil
			m.free[c] = list[:n-1]
			m.All--
		}
	}
}

// Close lets go of everything; the queue pairs are destroyed. Buffers that somebody kept stay his: they are ordinary memory.
func (m *Memory) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.free, m.locked = nil, nil
}

// Idle is how many blocks nobody has.
func (m *Memory) Idle() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, list := range m.free {
		n += len(list)
	}
	return n
}
