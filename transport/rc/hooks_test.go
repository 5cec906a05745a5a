package rc_test

import (
	"fmt"

	"github.com/openbraid/braid/rdma"
)

// hooks stand between the transport and the devices of a network. What is nil, or 0, changes nothing.
type hooks struct {
	table []rdma.GIDEntry     // instead of the device's; with rows of addresses that it doesn't have
	mtu   map[string]rdma.MTU // of ports, by address
	down  bool                // ports say so
	regMR func() error        // before each registration
	takes func(n int) int     // of so many work requests
	tried []int               // rows with which handles were asked for
	paths []rdma.QPAttr       // with which queue pairs were connected
	pairs []*hookPair         // in the order in which they were made
}

// hookDomain is a domain with hooks.
type hookDomain struct {
	rdma.PD
	n *nic
	h *hooks
}

// hookPair is a queue pair with hooks.
type hookPair struct {
	rdma.QP
	d        *hookDomain
	posted   int
	signaled int // of these
	doorbell int // of the last one: how many work requests, and whether the last one is signaled
	last     bool
}

// AllocPD implements rdma.Device.
func (n *nic) AllocPD() (rdma.PD, error) {
	p, err := n.Device.AllocPD()
	if err != nil || n.hooks == nil {
		return p, err
	}
	return &hookDomain{p, n, n.hooks}, nil
}

// Port implements rdma.Device.
func (n *nic) Port() rdma.PortAttr {
	a := n.Device.Port()
	if n.hooks != nil && n.hooks.mtu[n.Addr().Addr().String()] != 0 {
		a.ActiveMTU = n.hooks.mtu[n.Addr().Addr().String()]
	}
	if n.hooks != nil && n.hooks.down {
		a.State = rdma.PortDown
	}
	return a
}

// row is the device's own row for one of the table. As of a driver, a row can't be used whose address is not there, or whose packets
// the device can't make.
func (d *hookDomain) row(a rdma.AHAttr) (rdma.AHAttr, error) {
	if d.h.table == nil {
		return a, nil
	}
	for _, e := range d.h.table {
		if e.Index == a.SGIDIndex && e.GID.IP() == d.n.Addr().Addr() {
			a.SGIDIndex = 0
			return a, nil
		}
	}
	return a, fmt.Errorf("%w: nothing is sent from row %d", rdma.ErrInvalid, a.SGIDIndex)
}

// CreateAH implements rdma.PD.
func (d *hookDomain) CreateAH(a rdma.AHAttr) (rdma.AH, error) {
	d.h.tried = append(d.h.tried, a.SGIDIndex)
	a, err := d.row(a)
	if err != nil {
		return nil, err
	}
	return d.PD.CreateAH(a)
}

// RegMR implements rdma.PD.
func (d *hookDomain) RegMR(buf []byte, access rdma.Access) (rdma.MR, error) {
	if d.h.regMR != nil {
		if err := d.h.regMR(); err != nil {
			return nil, err
		}
	}
	return d.PD.RegMR(buf, access)
}

// CreateQP implements rdma.PD.
func (d *hookDomain) CreateQP(a rdma.QPInit) (rdma.QP, error) {
	q, err := d.PD.CreateQP(a)
	if err != nil || a.Type != rdma.TypeRC {
		return q, err
	}
	p := &hookPair{QP: q, d: d}
	d.h.pairs = append(d.h.pairs, p)
	return p, nil
}

// Modify implements rdma.QP.
func (q *hookPair) Modify(a rdma.QPAttr, mask rdma.AttrMask) (err error) {
	if mask&rdma.MaskAV != 0 {
		q.d.h.paths = append(q.d.h.paths, a)
		if a.AV, err = q.d.row(a.AV); err != nil {
			return err
		}
	}
	return q.QP.Modify(a, mask)
}

// PostSend implements rdma.QP.
func (q *hookPair) PostSend(wrs []rdma.SendWR) (int, rdma.Status) {
	n := len(wrs)
	if q.d.h.takes != nil {
		n = q.d.h.takes(n)
	}
	k, st := q.QP.PostSend(wrs[:n])
	q.posted += k
	q.doorbell, q.last = k, k > 0 && wrs[k-1].Flags&rdma.FlagSignaled != 0
	for i := range wrs[:k] {
		if wrs[i].Flags&rdma.FlagSignaled != 0 {
			q.signaled++
		}
	}
	if k == n && n < len(wrs) {
		st = rdma.Full
	}
	return k, st
}
