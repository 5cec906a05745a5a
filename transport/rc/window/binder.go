package window

import (
	"bytes"
	"slices"
	"time"

	"github.com/openbraid/braid/internal/timer"
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport/rc/queue"
)

const (
	depth = 64 // binds under way
	// patience is how long a bind may take, and the probe.
	patience = 100 * time.Millisecond
	// restFor is the first pause before it is proven again; it doubles, up to restMost.
	restFor, restMost = 10 * time.Millisecond, 5 * time.Second
	// tries in a row that fail end it.
	tries = 10
	// The queue pair's own patience is shorter than ours: 67 ms.
	timeoutCode = 14

	probeLen = 64
)

// Config is what a Binder stands on. All is the owner's, who calls everything from his turns.
type Config struct {
	Device rdma.Device
	Memory *queue.Memory
	// Way is the address vector that data connections would use to this device.
	Way    rdma.AHAttr
	Timers *timer.Set
	Now    func() time.Duration
	Rand   func() uint64
}

// Binder binds memory windows.
//
// Source: uct_ib_mlx5dv_md's self-connected queue pair for UMR, and what chapter on #11828 says of its end.
type Binder struct {
	c    Config
	pd   rdma.PD
	life Life

	cq    rdma.CQ
	qp    rdma.QP
	era   uint32 // of the queue pair's life: completions of an earlier one say nothing
	first uint32 // number of the first of under
	under []*Key // posted, in order; nil: part of the probe
	timer *timer.Timer
	fails int // in a row

	block  *queue.Block // of the probe
	probe  rdma.MW
	doomed []rdma.MW // to be given back when their work requests are
	spare  []*Key
	wr     [1]rdma.SendWR
}

// New makes a Binder. Nothing is made of the device before Begin.
func New(c Config) *Binder {
	b := &Binder{c: c, pd: c.Memory.PD}
	b.timer = timer.New(b.late)
	return b
}

// Life is how its queue pair is.
func (b *Binder) Life() Life { return b.life }

// Begin makes the queue pair and has it prove itself. Later calls do nothing.
func (b *Binder) Begin() {
	if b.life != Idle {
		return
	}
	if !slices.Contains(b.c.Device.Attr().Windows, rdma.Window1) || b.make() != nil {
		b.note(evGaveUp)
		return
	}
	b.note(evBegan)
	b.prove()
}

func (b *Binder) make() (err error) {
	if b.cq, err = b.c.Device.CreateCQ(2 * depth); err != nil {
		return err
	}
	blocks := min((depth+2)*b.c.Device.Attr().MaxWRBlocks, b.c.Device.Attr().MaxSendBlocks)
	b.qp, err = b.pd.CreateQP(rdma.QPInit{Type: rdma.TypeRC, SendCQ: b.cq, RecvCQ: b.cq, SigAll: true, Cap: rdma.QPCap{SendBlocks: blocks, SendSGE: 1}})
	return err
}

// connect connects the queue pair to itself. The own address is resolved afresh: it may have moved.
func (b *Binder) connect() error {
	psn := uint32(b.c.Rand()) & rdma.MaxNum
	for _, s := range []struct {
		a    rdma.QPAttr
		mask rdma.AttrMask
	}{
		{rdma.QPAttr{State: rdma.Init, Access: rdma.AccessRemoteRead}, rdma.MaskAccess},
		{rdma.QPAttr{State: rdma.RTR, AV: b.c.Way, PathMTU: b.c.Device.Port().ActiveMTU, DestQPN: b.qp.Num(), RQPSN: psn, MaxDestReads: 1, MinRNRTimer: 12},
			rdma.MaskAV | rdma.MaskPathMTU | rdma.MaskDestQPN | rdma.MaskRQPSN | rdma.MaskMaxDestReads | rdma.MaskMinRNRTimer},
		{rdma.QPAttr{State: rdma.RTS, SQPSN: psn, Timeout: timeoutCode, RetryCount: 1, MaxReads: 1},
			rdma.MaskSQPSN | rdma.MaskTimeout | rdma.MaskRetryCount | rdma.MaskRNRRetry | rdma.MaskMaxReads},
	} {
		if err := b.qp.Modify(s.a, s.mask); err != nil {
			return err
		}
	}
	return nil
}

// prove binds a window and reads through it, from here to here.
func (b *Binder) prove() {
	err := b.connect()
	if err == nil {
		b.block, err = b.c.Memory.Get(probeLen)
	}
	if err == nil {
		b.probe, err = b.pd.AllocMW(rdma.Window1)
	}
	if err != nil {
		b.failed()
		return
	}
	for i := range b.block.Bytes[:probeLen] {
		b.block.Bytes[i] = byte(b.c.Rand())
	}
	half := b.block.SGE(probeLen/2, probeLen/2)
	bind := rdma.SendWR{Op: rdma.OpBindMW, Bind: rdma.Bind{MW: b.probe, MR: b.block.Region(), Addr: b.block.SGE(0, 0).Addr, Length: probeLen / 2, Access: rdma.AccessRemoteRead}}
	if !b.post(bind, nil) {
		b.failed()
		return
	}
	read := rdma.SendWR{Op: rdma.OpRead, SGL: []rdma.SGE{half}, RKey: b.probe.RKey(), Addr: b.block.SGE(0, 0).Addr}
	if !b.post(read, nil) {
		b.failed()
	}
}

// post posts one work request.
func (b *Binder) post(wr rdma.SendWR, k *Key) bool {
	if len(b.under) >= depth {
		return false
	}
	b.wr[0] = wr
	b.wr[0].ID = uint64(b.era)<<32 | uint64(b.first+uint32(len(b.under)))
	if n, _ := b.qp.PostSend(b.wr[:]); n == 0 {
		return false
	}
	b.under = append(b.under, k)
	if !b.timer.Pending() {
		b.c.Timers.Set(b.timer, b.c.Now()+patience)
	}
	return true
}

// Open asks for a key to [at, at+n) of a block; its State says how it is, and owner is told if it is Binding now. Nil: there is none to be had.
//
// Owns: blk has the key until Close says true.
func (b *Binder) Open(blk *queue.Block, at, n int, owner Owner) *Key {
	b.Begin()
	k := b.key()
	k.blk, k.at, k.n = blk, at, n
	if b.life == Ready && k.bind() {
		k.owner, k.state = owner, Binding
		return k
	}
	if k.plain() {
		k.state = Open
		return k
	}
	k.give()
	return nil
}

// key is one that nobody uses.
func (b *Binder) key() *Key {
	i := len(b.spare) - 1
	if i < 0 {
		return &Key{b: b}
	}
	k := b.spare[i]
	b.spare = b.spare[:i]
	return k
}

// bind posts the bind of a key.
func (k *Key) bind() bool {
	b := k.b
	if k.mw == nil {
		mw, err := b.pd.AllocMW(rdma.Window1)
		if err != nil {
			return false
		}
		k.mw = mw
	}
	addr := k.blk.SGE(k.at, 0).Addr
	ok := b.post(rdma.SendWR{Op: rdma.OpBindMW, Bind: rdma.Bind{
		MW: k.mw, MR: k.blk.Region(), Addr: addr, Length: uint64(k.n), Access: rdma.AccessRemoteRead}}, k)
	k.RKey, k.Addr = k.mw.RKey(), addr
	return ok
}

// unbind posts the bind of no bytes, which closes a key.
func (b *Binder) unbind(k *Key) bool {
	return b.life == Ready && b.post(rdma.SendWR{Op: rdma.OpBindMW, Bind: rdma.Bind{MW: k.mw, MR: k.blk.Region()}}, k)
}

// Busy says whether completions are to be expected.
func (b *Binder) Busy() bool { return len(b.under) > 0 }

// Arm has completions wake whoever sleeps; false: there are some already.
func (b *Binder) Arm() bool { return !b.Busy() || b.cq.Arm(false) }

// Progress takes what was bound. wcs is memory to poll into.
func (b *Binder) Progress(wcs []rdma.WC) (n int) {
	if !b.Busy() && len(b.doomed) == 0 {
		return 0
	}
	for k := b.cq.Poll(wcs); k > 0; k = b.cq.Poll(wcs) {
		for i := range wcs[:k] {
			b.took(&wcs[i])
		}
		if n += k; k < len(wcs) {
			break
		}
	}
	b.doomed = slices.DeleteFunc(b.doomed, func(w rdma.MW) bool { return w.Dealloc() == nil })
	return n
}

// took takes one completion.
func (b *Binder) took(wc *rdma.WC) {
	if uint32(wc.ID>>32) != b.era || len(b.under) == 0 || uint32(wc.ID) != b.first {
		return // of an earlier life, or none of ours
	}
	if wc.Status != rdma.StatusSuccess {
		b.failed()
		return
	}
	k := b.under[0]
	b.first++
	b.under = b.under[:copy(b.under, b.under[1:])]
	b.c.Timers.Stop(b.timer)
	if len(b.under) > 0 {
		b.c.Timers.Set(b.timer, b.c.Now()+patience)
	}
	switch {
	case k == nil && wc.Op == rdma.WCRead:
		b.proved()
	case k == nil:
	case k.state == Binding && k.owner == nil: // it was shut meanwhile
		k.end()
		k.state = Shut
	case k.state == Binding:
		k.opened(Open)
	case k.state == Closing:
		k.state = Free
	}
}

// proved: the probe came back.
func (b *Binder) proved() {
	mem := b.block.Bytes[:probeLen]
	if !bytes.Equal(mem[:probeLen/2], mem[probeLen/2:]) {
		b.failed()
		return
	}
	b.unprobe()
	b.fails = 0
	b.note(evProved)
}

func (b *Binder) unprobe() {
	if b.probe != nil {
		b.forget(b.probe)
		b.probe = nil
	}
	if b.block != nil {
		b.block.Release()
		b.block = nil
	}
}

// forget gives a window back; its key ends at once.
func (b *Binder) forget(w rdma.MW) {
	if w.Dealloc() != nil {
		b.doomed = append(b.doomed, w)
	}
}

// late is the timer: of a bind or probe that takes too long, or of a rest that is over.
func (b *Binder) late() {
	if b.life == Resting {
		b.note(evAgain)
		b.prove()
		return
	}
	b.failed()
}

// failed repairs: the queue pair is as new, which gives back what is posted; keys that wait become plain ones.
func (b *Binder) failed() {
	b.era++
	_ = b.qp.Modify(rdma.QPAttr{State: rdma.Reset}, 0)
	under := b.under
	b.under, b.first = nil, 0
	b.c.Timers.Stop(b.timer)
	b.unprobe()
	if b.fails++; b.fails >= tries {
		b.note(evGaveUp)
	} else {
		b.note(evFailed)
		b.c.Timers.Set(b.timer, b.c.Now()+min(restFor<<(b.fails-1), restMost))
	}
	for _, k := range under {
		if k != nil {
			k.lost()
		}
	}
}

// Close ends it; the device ends what is left.
func (b *Binder) Close() {
	b.c.Timers.Stop(b.timer)
	b.under = nil
}
