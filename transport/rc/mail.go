package rc

import (
	"fmt"
	"net/netip"

	"github.com/openbraid/braid/rdma"
)

const (
	mailSlots = 64
	mailSlot  = 128 // bytes of a receive: the network header, and a message
)

// mail is the port's datagrams: the queue pair with the well-known number.
type mail struct {
	p     *port
	qp    rdma.QP
	cq    rdma.CQ
	box   *block // receives
	under [mailSlots]*handle
	sent  uint64
	out   int // sends that are under way

	handles []*handle
	buf     [messageLen]byte
	bad     uint64 // datagrams that are none of ours
}

// handle is a resolved address, for as long as sends use it.
type handle struct {
	rdma.AH
	attr  rdma.AHAttr
	users int
	stale bool
}

// open makes the queue pair and brings it up.
func (m *mail) open(p *port) (err error) {
	m.p = p
	if a := p.dev.Attr(); !a.GSI || a.MaxInline < messageLen {
		return fmt.Errorf("%w: connections are made over queue pair 1, which %s keeps to itself", rdma.ErrUnsupported, a.Name)
	}
	if m.cq, err = p.dev.CreateCQ(2 * mailSlots); err != nil {
		return err
	}
	// A send takes a few blocks since it is inline.
	caps := rdma.QPCap{SendBlocks: mailSlots * p.dev.Attr().MaxWRBlocks, RecvWR: mailSlots, SendSGE: 1, RecvSGE: 1, Inline: messageLen}
	m.qp, err = p.pd.CreateQP(rdma.QPInit{Type: rdma.TypeGSI, SendCQ: m.cq, RecvCQ: m.cq, Cap: caps, SigAll: true})
	if err != nil {
		return err
	}
	if m.box, err = p.mem.get(mailSlots * mailSlot); err != nil {
		return err
	}
	for _, s := range []struct {
		to   rdma.QPState
		mask rdma.AttrMask
	}{{rdma.Init, rdma.MaskQKey}, {rdma.RTR, 0}, {rdma.RTS, rdma.MaskSQPSN}} {
		a := rdma.QPAttr{State: s.to, QKey: rdma.GSIQKey, SQPSN: uint32(p.f.env.Rand()) & rdma.MaxNum}
		if err = m.qp.Modify(a, s.mask); err != nil {
			return err
		}
	}
	for i := range mailSlots {
		m.give(i)
	}
	return nil
}

// give posts one receive.
func (m *mail) give(i int) {
	sge := [1]rdma.SGE{m.box.sge(i*mailSlot, mailSlot)}
	wr := [1]rdma.RecvWR{{ID: mailSlots + uint64(i), SGL: sge[:]}}
	m.qp.PostRecv(wr[:])
}

// post sends a message, or doesn't: who needs it to arrive sends it again.
func (m *mail) post(to rdma.AHAttr, msg *message) error {
	if m.out == mailSlots {
		return nil
	}
	h, err := m.handle(to)
	if err != nil {
		return err
	}
	msg.emit(m.buf[:])
	slot := m.sent % mailSlots
	wr := [1]rdma.SendWR{{ID: slot, Op: rdma.OpSend, Flags: rdma.FlagSignaled, Inline: m.buf[:], AH: h.AH, DestQPN: 1, DestQKey: rdma.GSIQKey}}
	if n, _ := m.qp.PostSend(wr[:]); n == 0 {
		m.drop(h)
		return nil
	}
	m.under[slot] = h
	m.sent++
	m.out++
	return nil
}

// handle finds the handle that sends to the address use now, or resolves it.
func (m *mail) handle(to rdma.AHAttr) (*handle, error) {
	for _, h := range m.handles {
		if h.attr == to && !h.stale {
			h.users++
			return h, nil
		}
	}
	ah, err := m.p.pd.CreateAH(to)
	if err != nil {
		return nil, err
	}
	h := &handle{AH: ah, attr: to, users: 1}
	m.handles = append(m.handles, h)
	return h, nil
}

// drop gives up one use; the last one ends the handle.
func (m *mail) drop(h *handle) {
	if h.users--; h.users > 0 {
		return
	}
	_ = h.Destroy()
	for i, o := range m.handles {
		if o == h {
			m.handles = append(m.handles[:i], m.handles[i+1:]...)
			return
		}
	}
}

// moved: sends that begin from now on resolve the address anew; those under way end with what they have.
func (m *mail) moved(gid rdma.GID) {
	for _, h := range m.handles {
		h.stale = h.stale || h.attr.DGID == gid
	}
}

// progress takes what has arrived and what has left.
func (m *mail) progress(wcs []rdma.WC) (n int) {
	for k := m.cq.Poll(wcs); k > 0; k = m.cq.Poll(wcs) {
		for i := range wcs[:k] {
			m.completed(&wcs[i])
		}
		n += k
	}
	if m.qp.State() == rdma.SQE {
		_ = m.qp.Modify(rdma.QPAttr{State: rdma.RTS}, 0)
		n++
	}
	return n
}

func (m *mail) completed(wc *rdma.WC) {
	if wc.ID < mailSlots {
		if h := m.under[wc.ID]; h != nil {
			m.under[wc.ID] = nil
			m.out--
			m.drop(h)
		}
		return
	}
	slot := int(wc.ID - mailSlots)
	if wc.Status != rdma.StatusSuccess || slot >= mailSlots {
		return
	}
	at := slot * mailSlot
	body := m.box.Bytes[at+rdma.GRHBytes : at+max(rdma.GRHBytes, min(int(wc.Length), mailSlot))]
	if msg, ok := parseMessage(body); ok {
		m.p.said(&msg, m.p.av(wc.SrcGID, wc.SrcPort))
	} else {
		m.bad++
	}
	if !m.p.closed {
		m.give(slot)
	}
}

// av is the way to a peer.
func (p *port) av(gid rdma.GID, udp uint16) rdma.AHAttr {
	return rdma.AHAttr{DGID: gid, SGIDIndex: p.gid.Index, Port: udp, TrafficClass: p.f.o.TrafficClass, HopLimit: p.f.o.HopLimit}
}

// addrOf is the address of a peer, for people.
func addrOf(a rdma.AHAttr) netip.AddrPort { return netip.AddrPortFrom(a.DGID.IP(), a.Port) }
