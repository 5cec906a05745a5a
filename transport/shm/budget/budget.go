package budget

import (
	"errors"
	"fmt"
	"sync"
)

// ErrLimit: there is as much shared memory as there may be.
var ErrLimit = errors.New("the limit of shared memory is reached")

const allLimit, peerLimit = "shm-limit", "shm-peer-limit"

// Error says what did not fit, and into what.
type Error struct {
	Want, Has, Limit int    // bytes
	Peer             int    // process, if it is about one; 0: it can't be seen from here
	Setting          string // the limit's name
}

func (e *Error) Error() string {
	who := "this node"
	if e.Setting == peerLimit {
		who = fmt.Sprintf("process %d, the peer,", e.Peer)
	}
	return fmt.Sprintf("%v: %d bytes more, %s has %d of %d (setting %s)", ErrLimit, e.Want, who, e.Has, e.Limit, e.Setting)
}

// Unwrap is ErrLimit.
func (e *Error) Unwrap() error { return ErrLimit }

// Budget is what there may be, and what there is. The limits don't change once it is in use.
type Budget struct {
	Limit, Peer int // bytes: in all, with one peer

	mu    sync.Mutex
	used  int
	peers map[int]int
}

// Take counts n bytes that are shared with a process.
//
// Errors: *Error.
func (b *Budget) Take(peer, n int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch has := b.peers[peer]; {
	case n > b.Limit-b.used:
		return &Error{Want: n, Has: b.used, Limit: b.Limit, Setting: allLimit}
	case n > b.Peer-has:
		return &Error{Want: n, Has: has, Limit: b.Peer, Peer: peer, Setting: peerLimit}
	case b.peers == nil:
		b.peers = map[int]int{}
	}
	b.used += n
	b.peers[peer] += n
	return nil
}

// Give takes back what Take counted.
func (b *Budget) Give(peer, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	if b.peers[peer] -= n; b.peers[peer] == 0 {
		delete(b.peers, peer)
	}
}

// Used is how many bytes are taken, and by how many peers.
func (b *Budget) Used() (n, peers int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used, len(b.peers)
}
