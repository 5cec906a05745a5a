package soft

import (
	"fmt"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/ring"
)

// pd is a protection domain.
type pd struct {
	d     *Device
	users int // regions, windows, handles, queue pairs
	gone  bool
}

// AllocPD implements rdma.Device.
func (d *Device) AllocPD() (rdma.PD, error) {
	if d.closed {
		return nil, rdma.ErrClosed
	}
	return &pd{d: d}, nil
}

func (p *pd) Dealloc() error {
	if p.users > 0 {
		return fmt.Errorf("%w: %d objects of the protection domain are left", rdma.ErrBusy, p.users)
	}
	p.gone = true
	return nil
}

func (p *pd) open() error {
	if p.gone || p.d.closed {
		return rdma.ErrClosed
	}
	return nil
}

// remote is what a remote key opens: a region or a window.
type remote struct {
	mr *region
	mw *window
}

// region is a memory region.
type region struct {
	pd         *pd
	buf        []byte
	base       uint64
	access     rdma.Access
	lkey, rkey uint32
	uses       int // by posted SGEs and binds
	windows    int // bound to it
	gone       bool
}

func (p *pd) RegMR(buf []byte, access rdma.Access) (rdma.MR, error) {
	if err := p.open(); err != nil {
		return nil, err
	}
	if len(buf) == 0 {
		return nil, fmt.Errorf("%w: a region of no bytes", rdma.ErrInvalid)
	}
	if access&(rdma.AccessRemoteWrite|rdma.AccessRemoteAtomic) != 0 && !access.Has(rdma.AccessLocalWrite) {
		return nil, fmt.Errorf("%w: remote write or atomic access needs AccessLocalWrite", rdma.ErrInvalid)
	}
	d := p.d
	m := &region{pd: p, buf: buf, access: access}
	// The address is random, so that it is one more thing that a stranger doesn't know; it is aligned as the memory is.
	m.base = d.cfg.Rand()>>2&^4095 | uint64(misaligned(buf))
	m.lkey = d.number(32, 1, func(k uint32) bool { return d.lkeys[k] != nil })
	m.rkey = d.remoteKey()
	d.lkeys[m.lkey] = m
	d.rkeys[m.rkey] = remote{mr: m}
	p.users++
	return m, nil
}

func (d *Device) remoteKey() uint32 {
	return d.number(32, 1, func(k uint32) bool { _, taken := d.rkeys[k]; return taken })
}

func (m *region) Bytes() []byte { return m.buf }
func (m *region) Addr() uint64  { return m.base }
func (m *region) LKey() uint32  { return m.lkey }
func (m *region) RKey() uint32  { return m.rkey }

func (m *region) Deregister() error {
	if m.gone {
		return nil
	}
	d := m.pd.d
	delete(d.rkeys, m.rkey)
	m.access &^= rdma.AccessRemote | rdma.AccessMWBind // for the windows over it
	if m.uses > 0 || m.windows > 0 {
		return fmt.Errorf("%w: %d work requests use the region, %d windows are bound to it; remote access has ended",
			rdma.ErrBusy, m.uses, m.windows)
	}
	m.gone = true
	delete(d.lkeys, m.lkey)
	m.pd.users--
	m.buf = nil
	return nil
}

// slice is [addr, addr+n) of the region, or false.
func (m *region) slice(addr uint64, n uint32) ([]byte, bool) {
	off := addr - m.base
	if addr < m.base || off > uint64(len(m.buf)) || uint64(n) > uint64(len(m.buf))-off {
		return nil, false
	}
	return m.buf[off : off+uint64(n) : off+uint64(n)], true
}

// window is a memory window.
type window struct {
	pd     *pd
	typ    rdma.MWType
	rkey   uint32 // what RKey says: of the last bind that was posted
	live   uint32 // what opens it: of the last bind that was executed; 0: nothing
	mr     *region
	qp     *queuePair // type 2
	addr   uint64
	length uint64
	access rdma.Access
	uses   int // posted work requests
	gone   bool
	freed  bool
}

func (p *pd) AllocMW(t rdma.MWType) (rdma.MW, error) {
	if err := p.open(); err != nil {
		return nil, err
	}
	if t != rdma.Window1 && t != rdma.Window2 {
		return nil, fmt.Errorf("%w: no window of type %d", rdma.ErrUnsupported, t)
	}
	p.users++
	return &window{pd: p, typ: t}, nil
}

func (w *window) Type() rdma.MWType { return w.typ }
func (w *window) RKey() uint32      { return w.rkey }

func (w *window) Dealloc() error {
	w.close()
	w.gone = true // a bind that waits fails
	if w.uses > 0 {
		return fmt.Errorf("%w: %d work requests name the window; its key has ended", rdma.ErrBusy, w.uses)
	}
	if !w.freed {
		w.freed = true
		w.pd.users--
	}
	return nil
}

// close ends what is open.
func (w *window) close() {
	if w.live != 0 {
		delete(w.pd.d.rkeys, w.live)
		w.mr.windows--
		w.live, w.mr, w.qp = 0, nil, nil
	}
}

// bind executes a bind that was posted with key.
func (w *window) bind(q *queuePair, mr *region, a *ring.WQE, key uint32) bool {
	switch {
	case w.gone || mr.gone || mr.pd != q.pd || w.pd != q.pd:
		return false
	case w.typ == rdma.Window2 && (w.live != 0 || a.BindLength == 0):
		return false // it must be invalidated first
	case a.BindLength != 0 && (!mr.access.Has(rdma.AccessMWBind) || a.Access&^rdma.AccessRemote != 0):
		return false
	case a.Access&(rdma.AccessRemoteWrite|rdma.AccessRemoteAtomic) != 0 && !mr.access.Has(rdma.AccessLocalWrite):
		return false
	}
	if off := a.Addr - mr.base; a.BindLength != 0 && (a.Addr < mr.base || off > uint64(len(mr.buf)) || a.BindLength > uint64(len(mr.buf))-off) {
		return false
	}
	w.close()
	if a.BindLength == 0 {
		return true
	}
	w.live, w.mr, w.addr, w.length, w.access = key, mr, a.Addr, a.BindLength, a.Access
	if w.typ == rdma.Window2 {
		w.qp = q
	}
	mr.windows++
	w.pd.d.rkeys[key] = remote{mw: w}
	return true
}

// invalidate ends the window of type 2 with this key that belongs to the queue pair.
func (d *Device) invalidate(q *queuePair, key uint32) bool {
	w := d.rkeys[key].mw
	if w == nil || w.typ != rdma.Window2 || w.qp != q {
		return false
	}
	w.close()
	return true
}

// reach is the memory that a remote key opens to a queue pair's peer, with the rights of need, or false.
func (d *Device) reach(q *queuePair, key uint32, addr uint64, n uint32, need rdma.Access) ([]byte, bool) {
	if !q.attr.Access.Has(need) {
		return nil, false
	}
	if n == 0 {
		return nil, true
	}
	r := d.rkeys[key]
	switch {
	case r.mr != nil:
		if r.mr.pd != q.pd || !r.mr.access.Has(need) {
			return nil, false
		}
		return r.mr.slice(addr, n)
	case r.mw != nil:
		w := r.mw
		off := addr - w.addr
		// A region that is being deregistered has lost its right to be bound.
		if w.pd != q.pd || w.qp != nil && w.qp != q || !w.access.Has(need) || !w.mr.access.Has(rdma.AccessMWBind) ||
			addr < w.addr || off > w.length || uint64(n) > w.length-off {
			return nil, false
		}
		return w.mr.slice(addr, n)
	}
	return nil, false
}

// local is the memory of an SGE, or false.
func (p *pd) local(s rdma.SGE, write bool) ([]byte, bool) {
	if s.Length == 0 {
		return nil, true
	}
	m := p.d.lkeys[s.LKey]
	if m == nil || m.pd != p || write && !m.access.Has(rdma.AccessLocalWrite) {
		return nil, false
	}
	return m.slice(s.Addr, s.Length)
}

// use counts an SGE of a posted work request in its region, by +1 and -1.
func (p *pd) use(s rdma.SGE, by int) {
	if m := p.d.lkeys[s.LKey]; m != nil && m.pd == p {
		m.uses += by
	}
}
