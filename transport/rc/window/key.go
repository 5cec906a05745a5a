package window

import (
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport/rc/queue"
)

// State is how a key is.
type State uint8

// The states of a key.
const (
	Free    State = iota // nobody's, or closed
	Binding              // asked for
	Open                 // RKey and Addr may be told
	Refused              // it could not be had
	Closing              // the window is being closed
	Shut                 // it opens nothing
)

// Owner is told when a key that was Binding is Open or Refused.
type Owner interface{ Opened() }

// Key opens a part of a block to peers. It belongs to the block until Close says true.
//
// Source: ibv_mw, and mlx5's uct_ib_mlx5 indirect keys.
type Key struct {
	RKey uint32
	Addr uint64

	state State
	b     *Binder
	owner Owner
	mw    rdma.MW // kept for the next use
	mr    rdma.MR // of a plain key
	blk   *queue.Block
	at, n int
}

// State is how the key is.
func (k *Key) State() State { return k.state }

// Plain says whether it is the key of a region, not of a window.
func (k *Key) Plain() bool { return k.mr != nil }

// Shut closes the key to everybody, at once. For connections that are lost; the block is given back by Close as ever.
func (k *Key) Shut() {
	k.owner = nil
	if k.state == Open {
		k.end()
		k.state = Shut
	} // else it is ended when the bind is: without an owner
}

// end gives the window or the region back: either ends the key at once.
func (k *Key) end() {
	if k.mr != nil {
		_ = k.mr.Deregister() // no work request of ours names it: peers did
		k.mr = nil
	}
	if k.mw != nil {
		k.b.forget(k.mw)
		k.mw = nil
	}
}

// Close implements queue.Lock: the key is closed, and given back when that is so. A window is closed by a bind of no bytes, so that it
// can be used again.
func (k *Key) Close() bool {
	switch k.state {
	case Binding, Closing:
		return false
	case Open:
		if k.mr == nil && k.b.unbind(k) {
			k.state = Closing
			return false
		}
		k.end()
	case Free: // the window is closed, and kept
	case Refused, Shut:
		k.end()
	}
	k.give()
	return true
}

// give puts the key back for the next.
func (k *Key) give() {
	b, mw := k.b, k.mw
	*k = Key{b: b, mw: mw}
	b.spare = append(b.spare, k)
}

// opened: the bind is executed, or a plain key was taken, or neither could be.
func (k *Key) opened(s State) {
	k.state = s
	if o := k.owner; o != nil {
		k.owner = nil
		o.Opened()
	}
}

// lost: the queue pair on which the key was being bound or closed is as new.
func (k *Key) lost() {
	k.b.forget(k.mw)
	k.mw = nil
	switch {
	case k.state == Closing, k.owner == nil:
		k.state = Shut
	case k.plain():
		k.opened(Open)
	default:
		k.opened(Refused)
	}
}

// plain opens the part of the block by a region of its own.
func (k *Key) plain() bool {
	mr, err := k.b.pd.RegMR(k.blk.Bytes[k.at:k.at+k.n], rdma.AccessRemoteRead)
	if err != nil {
		return false
	}
	k.mr, k.RKey, k.Addr = mr, mr.RKey(), mr.Addr()
	return true
}
