package queue

import (
	"fmt"

	"github.com/openbraid/braid/rdma"
)

// bankDepth is how many receives of how many connections one completion queue is for, if the device can.
const bankDepth = 8192

// Bank is a completion queue of receives: each connection has places in one for all that it ever posts at a time.
type Bank struct {
	CQ rdma.CQ
	Credits
}

// Banks are those of one device.
type Banks struct {
	Device rdma.Device
	All    []*Bank
}

// Find is a completion queue with n places, which are taken, or a new one.
func (b *Banks) Find(n int) (*Bank, error) {
	for _, k := range b.All {
		if k.Take(n) {
			return k, nil
		}
	}
	depth := min(max(bankDepth, n), b.Device.Attr().MaxCQE)
	cq, err := b.Device.CreateCQ(depth)
	if err != nil {
		return nil, err
	}
	k := &Bank{CQ: cq, Credits: NewCredits(depth)}
	b.All = append(b.All, k)
	if !k.Take(n) {
		return nil, fmt.Errorf("%w: a completion queue for %d receives", rdma.ErrLimit, n)
	}
	return k, nil
}
