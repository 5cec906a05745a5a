//go:build linux && verbs

package verbs

/*
#cgo LDFLAGS: -ldl
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/internal/poll"
	"github.com/openbraid/braid/rdma"
)

// Built says whether this program has the code for adapters in it.
const Built = true

// live counts the objects of libibverbs that the process has.
var live atomic.Int64

// Objects is how many objects of libibverbs the process has at the moment.
func Objects() int { return int(live.Load()) }

// device is one port of an opened adapter.
type device struct {
	ctx     *C.struct_ibv_context
	channel *C.struct_ibv_comp_channel
	port    C.uint8_t
	attr    rdma.DeviceAttr
	fds     poll.Poller // of the channel, of asynchronous events and of the bell

	habits

	serial uint32 // of the queue pair or completion queue made last
	qps    map[uint32]*queuePair
	cqs    map[uint32]*completionQueue
	pds    map[*domain]bool
	last   *queuePair // that owner found
	locked uint64     // bytes that are registered

	events  []rdma.Event
	removal removal
	calls   int  // of PollEvents until it looks for some
	woken   bool // a completion queue was armed since the channel was looked at

	scratch
	crossings uint64
	closed    bool

	waker
}

// habits are what a provider does in its own way.
type habits struct {
	invalidated C.uint // flags of a completion that say that a window was invalidated
	retries     uint8  // the most that come to an end
}

// waker is what makes the descriptor readable while completions wait that Arm or an overrun took.
type waker struct {
	bell    int
	waiting int
	rung    bool
}

// looks is how many calls of PollEvents there are to each that asks the system, while nobody sleeps.
const looks = 64

// rxeVendor is the vendor of the kernel's device in software.
const rxeVendor = 0xffffff

// Crossings is how often Go called C for posts, polls, arms and events.
func (d *device) Crossings() uint64 { return d.crossings }

// Open opens a port of an adapter.
//
// Errors: ErrNotBuilt, ErrNoDevice; rdma.ErrUnsupported for a port that is no Ethernet one.
// Source: ibv_open_device.
func Open(c Config) (rdma.Device, error) {
	i, err := Find(c)
	if err != nil {
		return nil, err
	}
	ctx, err := openNamed(i.Name)
	if err != nil {
		return nil, err
	}
	d := &device{
		ctx: ctx, port: C.uint8_t(i.Port), qps: map[uint32]*queuePair{}, cqs: map[uint32]*completionQueue{}, pds: map[*domain]bool{},
	}
	d.attr.Name = i.Name
	if err := d.open(); err != nil {
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

// open makes what every user of the device needs.
func (d *device) open() error {
	var p C.struct_ibv_port_attr
	if e := C.braid_query_port(d.ctx, d.port, &p); e != 0 {
		return fmt.Errorf("verbs: port %d of %s: %w", d.port, d.attr.Name, errnoOf(e))
	}
	if p.link_layer != C.IBV_LINK_LAYER_ETHERNET {
		return fmt.Errorf("%w: port %d of %s is no Ethernet port: braid's peers are IP addresses (RoCE)", rdma.ErrUnsupported, d.port, d.attr.Name)
	}
	channel, err := C.ibv_create_comp_channel(d.ctx)
	if channel == nil {
		return fmt.Errorf("verbs: a completion channel of %s: %w", d.attr.Name, err)
	}
	d.channel = channel
	live.Add(1)
	bell, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return err
	}
	if err := d.fds.Open(); err != nil {
		_ = unix.Close(bell)
		return err
	}
	d.bell = bell
	for _, fd := range []C.int{d.channel.fd, d.ctx.async_fd, C.int(bell)} {
		if e := C.braid_nonblocking(fd); e != 0 {
			return fmt.Errorf("verbs: descriptors of %s can't be polled", d.attr.Name)
		}
		if err := d.fds.Set(int(fd), poll.None, poll.Readable); err != nil {
			return err
		}
	}
	d.removal.watch(C.GoString(&d.ctx.device.dev_name[0]), &d.fds)
	return d.query(&p)
}

// query finds out what the device can.
func (d *device) query(p *C.struct_ibv_port_attr) error {
	var a C.struct_ibv_device_attr
	if e := C.ibv_query_device(d.ctx, &a); e != 0 {
		return fmt.Errorf("verbs: asking %s what it can: %w", d.attr.Name, errnoOf(e))
	}
	d.attr = rdma.DeviceAttr{
		Name: d.attr.Name, MaxCQE: int(a.max_cqe), MaxSendBlocks: int(a.max_qp_wr) - 1, MaxRecvWR: int(a.max_qp_wr), MaxSGE: int(a.max_sge),
		MaxWRBlocks: 1, MaxMessageBytes: uint32(p.max_msg_sz),
		MaxReadsOut: uint8(min(a.max_qp_init_rd_atom, 255)), MaxReadsIn: uint8(min(a.max_qp_rd_atom, 255)),
	}
	d.habits = habits{C.IBV_WC_WITH_INV, 7}
	if a.vendor_id == rxeVendor {
		d.invalidated |= C.IBV_WC_IP_CSUM_OK // the number that the flag has within the kernel
		d.retries = 6                        // seven are without end there
	}
	if a.device_cap_flags&C.IBV_DEVICE_MEM_WINDOW != 0 {
		d.attr.Windows = append(d.attr.Windows, rdma.Window1)
	}
	if a.device_cap_flags&(C.IBV_DEVICE_MEM_WINDOW_TYPE_2A|C.IBV_DEVICE_MEM_WINDOW_TYPE_2B) != 0 {
		d.attr.Windows = append(d.attr.Windows, rdma.Window2)
	}
	return d.probe()
}

// probe finds MaxInline, which no query tells: by making queue pairs.
func (d *device) probe() error {
	pd, err := d.AllocPD()
	if err != nil {
		return err
	}
	defer pd.Dealloc() //nolint:errcheck // empty
	cq, err := d.CreateCQ(1)
	if err != nil {
		return err
	}
	defer cq.Destroy() //nolint:errcheck // unused
	for _, n := range []int{512, 256, 128, 64, 0} {
		d.attr.MaxInline = n
		qp, e := pd.CreateQP(rdma.QPInit{Type: rdma.TypeRC, SendCQ: cq, RecvCQ: cq, Cap: rdma.QPCap{SendBlocks: 1, RecvWR: 1, SendSGE: 1, RecvSGE: 1, Inline: n}})
		if err = e; err == nil {
			return qp.Destroy()
		}
	}
	return err
}

// Attr implements rdma.Device.
func (d *device) Attr() rdma.DeviceAttr { return d.attr }

// Port implements rdma.Device.
func (d *device) Port() rdma.PortAttr {
	a := rdma.PortAttr{State: rdma.PortDown, UDPPort: rdma.RoCEPort}
	var p C.struct_ibv_port_attr
	if d.closed || C.braid_query_port(d.ctx, d.port, &p) != 0 {
		return a
	}
	if p.state == C.IBV_PORT_ACTIVE {
		a.State = rdma.PortActive
	}
	a.ActiveMTU, a.MaxMTU = rdma.MTU(p.active_mtu), rdma.MTU(p.max_mtu)
	a.BytesPerSecond = bytesPerSecond(uint8(p.active_speed), uint8(p.active_width))
	return a
}

// bytesPerSecond of a lane's speed and the number of lanes, as ibv_port_attr codes them.
func bytesPerSecond(speed, width uint8) int64 {
	mbits := map[uint8]int64{1: 2500, 2: 5000, 4: 10000, 8: 10000, 16: 14000, 32: 25000, 64: 50000, 128: 100000}[speed]
	lanes := map[uint8]int64{1: 1, 2: 4, 4: 8, 8: 12, 16: 2}[width]
	return mbits * lanes * 1e6 / 8
}

// GIDs implements rdma.Device.
func (d *device) GIDs() []rdma.GIDEntry {
	if d.closed {
		return nil
	}
	return gids(d.ctx, d.port)
}

func gids(ctx *C.struct_ibv_context, port C.uint8_t) (list []rdma.GIDEntry) {
	for _, r := range rows(ctx, port) {
		list = append(list, r.GIDEntry)
	}
	return list
}

// row is one of a port's table, and the index of the interface that has its address.
type row struct {
	rdma.GIDEntry
	link int
}

func rows(ctx *C.struct_ibv_context, port C.uint8_t) (list []row) {
	var table [256]C.struct_ibv_gid_entry
	n := C.braid_gids(ctx, &table[0], C.size_t(len(table)))
	for i := range table[:max(0, n)] {
		e := &table[i]
		g := row{rdma.GIDEntry{Index: int(e.gid_index), GID: rdma.GID(e.gid)}, int(e.ndev_ifindex)}
		switch {
		case e.port_num != C.uint32_t(port):
			continue
		case e.gid_type == C.IBV_GID_TYPE_ROCE_V2:
			g.Type = rdma.RoCEv2
		case e.gid_type == C.IBV_GID_TYPE_ROCE_V1:
			g.Type = rdma.RoCEv1
		default:
			continue
		}
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b row) int { return a.Index - b.Index })
	return list
}

// Progress implements rdma.Device: adapters need no help. Only what woke a sleeper is taken off the channel.
func (d *device) Progress() int {
	if d.woken && !d.closed {
		d.woken = false
		d.crossings++
		C.braid_drain(d.channel)
	}
	if d.rung && d.waiting == 0 {
		d.rung = false
		var b [8]byte
		_, _ = unix.Read(d.bell, b[:])
	}
	return 0
}

// ring has whoever sleeps poll what waits.
func (d *device) ring() {
	if !d.rung && d.waiting > 0 {
		d.rung = true
		_, _ = unix.Write(d.bell, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	}
}

// Deadline implements rdma.Device: none.
func (d *device) Deadline() time.Duration { return 0 }

// EventFD implements rdma.Device.
func (d *device) EventFD() int {
	if d.closed {
		return -1
	}
	return d.fds.FD()
}

// Close implements rdma.Device.
func (d *device) Close() error {
	if d.closed {
		return nil
	}
	d.closed = true
	for _, q := range d.qps {
		q.end()
	}
	for p := range d.pds {
		p.end()
	}
	for _, q := range d.cqs {
		q.end()
	}
	d.removal.close()
	if d.bell > 0 {
		_ = d.fds.Close()
		_ = unix.Close(d.bell)
	}
	if d.channel != nil {
		C.ibv_destroy_comp_channel(d.channel)
		live.Add(-1)
	}
	d.scratch.free()
	C.ibv_close_device(d.ctx)
	live.Add(-1)
	d.last, d.events = nil, nil
	return nil
}

// owner finds a queue pair by the serial in a work request's number; nil: it is gone.
func (d *device) owner(serial uint32) *queuePair {
	if q := d.last; q != nil && q.serial == serial && !q.gone {
		return q
	}
	d.last = d.qps[serial]
	return d.last
}

// next is the serial of a new object; contexts of objects must not be 0.
func (d *device) next() uint32 {
	d.serial++
	return d.serial
}

// name is what C calls an object of ours.
func name(serial uint32) C.uintptr_t { return C.uintptr_t(serial) }

// addressOf is memory as work requests name it.
func addressOf(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
