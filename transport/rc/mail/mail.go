package mail

import (
	"fmt"
	"time"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport/rc/queue"
	"github.com/openbraid/braid/transport/rc/wire"
)

const (
	mailSlots = 64
	mailSlot  = 128 // bytes of a receive: the network header, and a message
)

// Config is what an office stands on.
type Config struct {
	// Device whose queue pair 1 is used, and where its datagrams are.
	Device rdma.Device
	// Memory of the device; nil: the device is the office's alone, which turns it and closes it.
	Memory *queue.Memory
	PSN    uint32
	// Said is called from Progress with each message that arrives.
	Said func(m *wire.Message, from rdma.GID, udp uint16)
}

// Office is a port's datagrams: the queue pair with the well-known number.
type Office struct {
	dev   rdma.Device
	own   *queue.Memory // of dev, if that is the office's alone
	pd    rdma.PD
	said  func(m *wire.Message, from rdma.GID, udp uint16)
	qp    rdma.QP
	cq    rdma.CQ
	box   *queue.Block // receives
	under [mailSlots]*handle
	sent  uint64
	out   int // sends that are under way

	handles []*handle
	buf     [wire.MessageLen]byte
	closed  bool
	bad     uint64 // datagrams that are none of ours
}

// handle is a resolved address, for as long as sends use it.
type handle struct {
	rdma.AH
	attr  rdma.AHAttr
	users int
	stale bool
}

// Open makes the queue pair and brings it up. Also after an error, Close.
func (m *Office) Open(c Config) (err error) {
	mem := c.Memory
	if m.dev = c.Device; mem == nil {
		mem = &queue.Memory{}
		m.own = mem
		if mem.PD, err = m.dev.AllocPD(); err != nil {
			return err
		}
	}
	m.pd, m.said = mem.PD, c.Said
	a := m.dev.Attr()
	if !a.GSI || a.MaxInline < wire.MessageLen {
		return fmt.Errorf("%w: connections are made over queue pair 1, which %s keeps to itself", rdma.ErrUnsupported, a.Name)
	}
	if m.cq, err = m.dev.CreateCQ(2 * mailSlots); err != nil {
		return err
	}
	// A send takes a few blocks since it is inline.
	caps := rdma.QPCap{SendBlocks: mailSlots * a.MaxWRBlocks, RecvWR: mailSlots, SendSGE: 1, RecvSGE: 1, Inline: wire.MessageLen}
	m.qp, err = m.pd.CreateQP(rdma.QPInit{Type: rdma.TypeGSI, SendCQ: m.cq, RecvCQ: m.cq, Cap: caps, SigAll: true})
	if err != nil {
		return err
	}
	if m.box, err = mem.Get(mailSlots * mailSlot); err != nil {
		return err
	}
	for _, s := range []struct {
		to   rdma.QPState
		mask rdma.AttrMask
	}{{rdma.Init, rdma.MaskQKey}, {rdma.RTR, 0}, {rdma.RTS, rdma.MaskSQPSN}} {
		to := rdma.QPAttr{State: s.to, QKey: rdma.GSIQKey, SQPSN: c.PSN & rdma.MaxNum}
		if err = m.qp.Modify(to, s.mask); err != nil {
			return err
		}
	}
	for i := range mailSlots {
		m.give(i)
	}
	return nil
}

// give posts one receive.
func (m *Office) give(i int) {
	sge := [1]rdma.SGE{m.box.SGE(i*mailSlot, mailSlot)}
	wr := [1]rdma.RecvWR{{ID: mailSlots + uint64(i), SGL: sge[:]}}
	m.qp.PostRecv(wr[:])
}

// Post sends a message, or doesn't: who needs it to arrive sends it again.
func (m *Office) Post(to rdma.AHAttr, msg *wire.Message) error {
	if m.out == mailSlots {
		return nil
	}
	h, err := m.handle(to)
	if err != nil {
		return err
	}
	msg.Emit(m.buf[:])
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
func (m *Office) handle(to rdma.AHAttr) (*handle, error) {
	for _, h := range m.handles {
		if h.attr == to && !h.stale {
			h.users++
			return h, nil
		}
	}
	ah, err := m.pd.CreateAH(to)
	if err != nil {
		return nil, err
	}
	h := &handle{AH: ah, attr: to, users: 1}
	m.handles = append(m.handles, h)
	return h, nil
}

// drop gives up one use; the last one ends the handle.
func (m *Office) drop(h *handle) {
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

// Moved: sends that begin from now on resolve the address anew; those under way end with what they have.
func (m *Office) Moved(gid rdma.GID) {
	for _, h := range m.handles {
		h.stale = h.stale || h.attr.DGID == gid
	}
}

// Progress takes what has arrived and what has left.
func (m *Office) Progress(wcs []rdma.WC) (n int) {
	if m.own != nil {
		n = m.dev.Progress()
	}
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

func (m *Office) completed(wc *rdma.WC) {
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
	if msg, ok := wire.ParseMessage(body); ok {
		m.said(&msg, wc.SrcGID, wc.SrcPort)
	} else {
		m.bad++
	}
	if !m.closed {
		m.give(slot)
	}
}

// Arm has a completion wake whoever sleeps; false: there are some already.
func (m *Office) Arm() bool { return m.cq.Arm(false) }

// Out is how many messages have not left yet.
func (m *Office) Out() int { return m.out }

// Handles is how many addresses are resolved at the moment.
func (m *Office) Handles() int { return len(m.handles) }

// Bad is how many datagrams came that are no message.
func (m *Office) Bad() uint64 { return m.bad }

// Port is where its datagrams arrive.
func (m *Office) Port() uint16 { return m.dev.Port().UDPPort }

// Row is the row of its device's GIDs for the address that the port has as g.
func (m *Office) Row(g rdma.GIDEntry) int {
	if m.own == nil {
		return g.Index
	}
	for _, e := range m.dev.GIDs() {
		if e.GID == g.GID {
			return e.Index
		}
	}
	return 0
}

// Deadline is when Progress must run for it: of its own device.
func (m *Office) Deadline() time.Duration {
	if m.own == nil {
		return 0
	}
	return m.dev.Deadline()
}

// EventFD is its own device's descriptor; -1: it has none.
func (m *Office) EventFD() int {
	if m.own == nil {
		return -1
	}
	return m.dev.EventFD()
}

// Close: the device is about to be closed; its own is here.
func (m *Office) Close() {
	m.closed = true
	if m.own != nil {
		m.own.Close()
		_ = m.dev.Close()
	}
}
