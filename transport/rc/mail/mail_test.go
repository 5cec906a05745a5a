package mail_test

import (
	"net/netip"
	"testing"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport/rc/mail"
	"github.com/openbraid/braid/transport/rc/queue"
	"github.com/openbraid/braid/transport/rc/wire"
)

// device is just enough of one: sends stay under way until they are let go.
type device struct {
	rdma.Device
	rdma.PD
	rdma.QP
	rdma.CQ
	sends  []rdma.SendWR
	done   []rdma.WC
	live   int // handles
	made   int
	posted int // receives
}

type ah struct {
	rdma.AH
	d    *device
	gone bool
}

func (h *ah) Destroy() error {
	if !h.gone {
		h.gone = true
		h.d.live--
	}
	return nil
}

type region struct{ rdma.MR }

func (region) Addr() uint64 { return 0 }
func (region) LKey() uint32 { return 1 }

func (d *device) Destroy() error { return nil }
func (d *device) Attr() rdma.DeviceAttr {
	return rdma.DeviceAttr{GSI: true, MaxInline: 128, MaxWRBlocks: 2}
}
func (d *device) CreateCQ(int) (rdma.CQ, error)              { return d, nil }
func (d *device) CreateQP(rdma.QPInit) (rdma.QP, error)      { return d, nil }
func (d *device) RegMR([]byte, rdma.Access) (rdma.MR, error) { return region{}, nil }
func (d *device) Modify(rdma.QPAttr, rdma.AttrMask) error    { return nil }
func (d *device) State() rdma.QPState                        { return rdma.RTS }
func (d *device) PostRecv(wrs []rdma.RecvWR) (int, rdma.Status) {
	d.posted += len(wrs)
	return len(wrs), rdma.Posted
}
func (d *device) Poll(dst []rdma.WC) (n int)            { n = copy(dst, d.done); d.done = d.done[n:]; return n }
func (d *device) CreateAH(rdma.AHAttr) (rdma.AH, error) { d.live++; d.made++; return &ah{d: d}, nil }
func (d *device) PostSend(wrs []rdma.SendWR) (int, rdma.Status) {
	for _, w := range wrs {
		if w.AH.(*ah).gone {
			panic("a send with a handle that was destroyed")
		}
		d.sends = append(d.sends, w)
	}
	return len(wrs), rdma.Posted
}

// left lets the first n sends leave.
func (d *device) left(n int) {
	for _, w := range d.sends[:n] {
		if w.AH.(*ah).gone {
			panic("the handle of a send under way was destroyed")
		}
		d.done = append(d.done, rdma.WC{ID: w.ID})
	}
	d.sends = d.sends[n:]
}

// TestHandles: an address is resolved for the sends that use it, anew after the neighbour moved, and by nobody for longer.
func TestHandles(t *testing.T) {
	d := &device{}
	mem := &queue.Memory{PD: d}
	var m mail.Office
	if err := m.Open(mail.Config{Device: d, Memory: mem, PSN: 1, Said: func(*wire.Message, rdma.GID, uint16) {}}); err != nil {
		t.Fatal(err)
	}
	to := rdma.AHAttr{DGID: rdma.GIDFrom(netip.MustParseAddr("10.0.0.1")), Port: 7}
	msg := &wire.Message{Verb: wire.Leave}
	post := func() {
		if err := m.Post(to, msg); err != nil {
			t.Fatal(err)
		}
	}
	post()
	post()
	if d.made != 1 || m.Handles() != 1 {
		t.Errorf("%d resolved for two sends at a time", d.made)
	}
	m.Moved(to.DGID)
	post()
	if d.made != 2 || m.Handles() != 2 {
		t.Errorf("after the move %d resolved, %d kept: a new send takes a new one, those under way keep theirs", d.made, m.Handles())
	}
	d.left(2)
	m.Progress(make([]rdma.WC, 4))
	if d.live != 1 || m.Handles() != 1 {
		t.Errorf("%d handles, the old one's last send has left", d.live)
	}
	d.left(1)
	m.Progress(make([]rdma.WC, 4))
	if d.live != 0 || m.Handles() != 0 || m.Out() != 0 {
		t.Errorf("%d handles, %d under way: nothing is", d.live, m.Out())
	}
	// More than there are places for: dropped, not blocked.
	for range 100 {
		post()
	}
	if m.Out() != 64 || d.live != 1 {
		t.Errorf("%d under way, %d handles", m.Out(), d.live)
	}
}
