//go:build linux && verbs

package verbs

// #include "shim.h"
import "C"

import (
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"unsafe"

	"github.com/openbraid/braid/internal/rail"
	"github.com/openbraid/braid/rdma"
)

// domain is a protection domain.
type domain struct {
	d       *device
	pd      *C.struct_ibv_pd
	regions map[uint32]*region // by local key
	windows map[*window]bool
	handles map[*handle]bool
	qps     map[*queuePair]bool
}

// AllocPD implements rdma.Device.
func (d *device) AllocPD() (rdma.PD, error) {
	if d.closed {
		return nil, rdma.ErrClosed
	}
	pd, err := C.ibv_alloc_pd(d.ctx)
	if pd == nil {
		return nil, wrap(err, "a protection domain of %s", d.attr.Name)
	}
	live.Add(1)
	p := &domain{d: d, pd: pd, regions: map[uint32]*region{}, windows: map[*window]bool{}, handles: map[*handle]bool{}, qps: map[*queuePair]bool{}}
	d.pds[p] = true
	return p, nil
}

// Dealloc implements rdma.PD.
func (p *domain) Dealloc() error {
	if n := len(p.regions) + len(p.windows) + len(p.handles) + len(p.qps); n > 0 {
		return fmt.Errorf("%w: %d objects of the protection domain are left", rdma.ErrBusy, n)
	}
	p.end()
	return nil
}

// end ends the domain and what is left of it; its queue pairs have ended before.
func (p *domain) end() {
	if p.pd == nil {
		return
	}
	for w := range p.windows {
		w.revoke()
		w.gone = true
	}
	for h := range p.handles {
		h.end()
	}
	for _, m := range p.regions {
		m.end()
	}
	C.ibv_dealloc_pd(p.pd)
	live.Add(-1)
	p.pd = nil
	delete(p.d.pds, p)
}

func (p *domain) open() error {
	if p.pd == nil || p.d.closed {
		return rdma.ErrClosed
	}
	return nil
}

// uses says whether a posted work request names a key.
func (p *domain) uses(key uint32) bool {
	for q := range p.qps {
		if q.sends.Names(key) || q.recvs.Names(key) {
			return true
		}
	}
	return false
}

// holds says whether a posted work request names an object.
func (p *domain) holds(object any) bool {
	for q := range p.qps {
		if q.sends.Holds(object) {
			return true
		}
	}
	return false
}

// region is a memory region: two of libibverbs, so that remote access can end while local access goes on.
type region struct {
	p      *domain
	buf    []byte
	pin    runtime.Pinner
	local  *C.struct_ibv_mr // windows are bound to it
	remote *C.struct_ibv_mr // nil: no remote right, or it has ended
	rkey   uint32
	lkey   uint32
}

// RegMR implements rdma.PD.
func (p *domain) RegMR(buf []byte, access rdma.Access) (rdma.MR, error) {
	if err := p.open(); err != nil {
		return nil, err
	}
	switch {
	case len(buf) == 0:
		return nil, fmt.Errorf("%w: a region of no bytes", rdma.ErrInvalid)
	case access&(rdma.AccessRemoteWrite|rdma.AccessRemoteAtomic) != 0 && !access.Has(rdma.AccessLocalWrite):
		return nil, fmt.Errorf("%w: remote write or atomic access needs AccessLocalWrite", rdma.ErrInvalid)
	}
	m := &region{p: p, buf: buf}
	at := unsafe.Pointer(unsafe.SliceData(buf))
	m.pin.Pin(at)
	var err error
	if m.local, err = C.braid_reg_mr(p.pd, at, C.size_t(len(buf)), C.int(access&^rdma.AccessRemote)); m.local == nil {
		m.pin.Unpin()
		return nil, p.d.noMemory(err, len(buf))
	}
	live.Add(1)
	p.d.locked += uint64(len(buf))
	m.lkey, m.rkey = uint32(m.local.lkey), uint32(m.local.rkey)
	p.regions[m.lkey] = m
	if access&rdma.AccessRemote != 0 {
		if m.remote, err = C.braid_reg_mr(p.pd, at, C.size_t(len(buf)), C.int(access&^rdma.AccessMWBind)); m.remote == nil {
			m.end()
			return nil, p.d.noMemory(err, len(buf))
		}
		live.Add(1)
		p.d.locked += uint64(len(buf))
		m.rkey = uint32(m.remote.rkey)
	}
	return m, nil
}

func (m *region) Bytes() []byte { return m.buf }
func (m *region) Addr() uint64  { return addressOf(m.buf) }
func (m *region) LKey() uint32  { return m.lkey }
func (m *region) RKey() uint32  { return m.rkey }

// Deregister implements rdma.MR.
func (m *region) Deregister() error {
	if m.local == nil {
		return nil
	}
	m.shut()
	bound := 0
	for w := range m.p.windows {
		if w.bound == m {
			w.revoke()
			bound++
		}
	}
	if bound > 0 || m.p.uses(m.lkey) {
		return fmt.Errorf("%w: windows bound to the region: %d; work requests name it: %v", rdma.ErrBusy, bound, m.p.uses(m.lkey))
	}
	m.end()
	return nil
}

// shut ends remote access.
func (m *region) shut() {
	if m.remote == nil {
		return
	}
	C.ibv_dereg_mr(m.remote)
	live.Add(-1)
	m.p.d.locked -= uint64(len(m.buf))
	m.remote = nil
}

func (m *region) end() {
	if m.local == nil {
		return
	}
	m.shut()
	C.ibv_dereg_mr(m.local)
	live.Add(-1)
	m.p.d.locked -= uint64(len(m.buf))
	m.local = nil
	m.pin.Unpin()
	delete(m.p.regions, m.lkey)
}

// window is a memory window.
type window struct {
	p     *domain
	mw    *C.struct_ibv_mw // nil: its key was ended with its region or by Dealloc
	typ   rdma.MWType
	rkey  uint32
	bound *region // by the bind posted last
	gone  bool
}

// AllocMW implements rdma.PD.
func (p *domain) AllocMW(t rdma.MWType) (rdma.MW, error) {
	if err := p.open(); err != nil {
		return nil, err
	}
	if !slices.Contains(p.d.attr.Windows, t) {
		return nil, fmt.Errorf("%w: %s has no windows of type %d", rdma.ErrUnsupported, p.d.attr.Name, t)
	}
	w := &window{p: p, typ: t}
	if err := w.alloc(); err != nil {
		return nil, err
	}
	p.windows[w] = true
	return w, nil
}

// alloc gives it a window of libibverbs.
func (w *window) alloc() error {
	var e C.int
	w.mw = C.braid_alloc_mw(w.p.pd, C.enum_ibv_mw_type(w.typ), &e)
	if w.mw == nil {
		return wrap(errnoOf(e), "a memory window of %s", w.p.d.attr.Name)
	}
	live.Add(1)
	w.rkey = uint32(w.mw.rkey)
	return nil
}

// revoke ends the key.
func (w *window) revoke() {
	if w.mw != nil {
		C.ibv_dealloc_mw(w.mw)
		live.Add(-1)
		w.mw = nil
	}
}

func (w *window) Type() rdma.MWType { return w.typ }
func (w *window) RKey() uint32      { return w.rkey }

// Dealloc implements rdma.MW.
func (w *window) Dealloc() error {
	if w.gone {
		return nil
	}
	w.revoke()
	if w.p.holds(w) {
		return fmt.Errorf("%w: a posted work request names the window", rdma.ErrBusy)
	}
	w.gone, w.bound = true, nil
	delete(w.p.windows, w)
	return nil
}

// handle is an address handle.
type handle struct {
	p    *domain
	ah   *C.struct_ibv_ah
	attr rdma.AHAttr
}

// CreateAH implements rdma.PD. The system resolves the address, and may take a second for it.
func (p *domain) CreateAH(a rdma.AHAttr) (rdma.AH, error) {
	if err := p.open(); err != nil {
		return nil, err
	}
	if err := p.d.route(&a); err != nil {
		return nil, err
	}
	c := p.d.address(&a)
	ah, err := C.ibv_create_ah(p.pd, &c)
	if ah == nil {
		return nil, wrap(err, "the way to %v from %s", a.DGID, p.d.attr.Name)
	}
	live.Add(1)
	h := &handle{p: p, ah: ah, attr: a}
	p.handles[h] = true
	return h, nil
}

// route says whether an address can be: there is such a GID, of the peer's family, and no port but the standard's.
func (d *device) route(a *rdma.AHAttr) error {
	if a.Port != 0 && a.Port != rdma.RoCEPort {
		return fmt.Errorf("%w: %v takes packets at port %d, and %s sends to port %d only", rdma.ErrInvalid, a.DGID, a.Port, d.attr.Name, rdma.RoCEPort)
	}
	all := rows(d.ctx, d.port)
	for _, g := range all {
		if g.Index == a.SGIDIndex {
			if family(g.GID.IP()) != family(a.DGID.IP()) {
				return fmt.Errorf("%w: %v and %v are of different families", rdma.ErrInvalid, g.GID, a.DGID)
			}
			return d.leads(&g, a.DGID, all)
		}
	}
	return fmt.Errorf("%w: %s has no GID %d: %v", rdma.ErrInvalid, d.attr.Name, a.SGIDIndex, d.GIDs())
}

// leads says whether packets to a peer leave by this row's interface. Where the system would take another one it is not asked: it would believe that the peer is a
// neighbour all the same, and wait a second for that one to say so, with the turn of whoever asks, and so all of its lanes.
func (d *device) leads(from *row, to rdma.GID, all []row) error {
	ip := to.IP()
	if from.link == 0 || ip.IsLinkLocalUnicast() || slices.ContainsFunc(all, func(g row) bool { return g.GID == to }) {
		return nil
	}
	hop := rail.Route(from.GID.IP(), ip)
	switch {
	case !hop.Known || hop.Index == from.link && !hop.None:
		return nil
	case hop.None:
		return fmt.Errorf("%w: there is no way from %v (%s) to %v", rdma.ErrUnreachable, from.GID, d.attr.Name, to)
	}
	return fmt.Errorf("%w: from %v to %v the system sends through %s, which is not the interface of %s", rdma.ErrUnreachable, from.GID, to, hop.Name, d.attr.Name)
}

func family(a netip.Addr) bool { return a.Is4() }

// address is a route as libibverbs wants it.
func (d *device) address(a *rdma.AHAttr) (c C.struct_ibv_ah_attr) {
	c.is_global, c.port_num = 1, d.port
	c.grh.dgid = a.DGID
	c.grh.sgid_index, c.grh.hop_limit = C.uint8_t(a.SGIDIndex), C.uint8_t(a.HopLimit)
	if a.HopLimit == 0 {
		c.grh.hop_limit = 64
	}
	c.grh.traffic_class, c.grh.flow_label = C.uint8_t(a.TrafficClass), C.uint32_t(a.FlowLabel&0xfffff)
	return c
}

func (h *handle) Attr() rdma.AHAttr { return h.attr }

// MAC implements rdma.AH: the system's business.
func (h *handle) MAC() rdma.MAC { return rdma.MAC{} }

// Destroy implements rdma.AH.
func (h *handle) Destroy() error {
	if h.ah != nil && h.p.holds(h) {
		return fmt.Errorf("%w: a posted work request uses the address handle", rdma.ErrBusy)
	}
	h.end()
	return nil
}

func (h *handle) end() {
	if h.ah == nil {
		return
	}
	C.ibv_destroy_ah(h.ah)
	live.Add(-1)
	h.ah = nil
	delete(h.p.handles, h)
}
