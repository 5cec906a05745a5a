package rc_test

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/openbraid/braid/internal/timer"
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/fabric"
	"github.com/openbraid/braid/transport/rc/queue"
	"github.com/openbraid/braid/transport/rc/window"
)

// device is one in software, whose binds can be swallowed.
type keyDevice struct {
	*soft.Device
	attr    func(*rdma.DeviceAttr)
	swallow bool // binds are never executed
	binds   int
	busy    bool // windows can't be given back
	windows int  // that were made and not given back
}

func (d *keyDevice) Attr() rdma.DeviceAttr {
	a := d.Device.Attr()
	if d.attr != nil {
		d.attr(&a)
	}
	return a
}

func (d *keyDevice) AllocPD() (rdma.PD, error) {
	p, err := d.Device.AllocPD()
	return &keyDomain{p, d}, err
}

type keyDomain struct {
	rdma.PD
	d *keyDevice
}

func (p *keyDomain) CreateQP(a rdma.QPInit) (rdma.QP, error) {
	q, err := p.PD.CreateQP(a)
	return &keyPair{q, p.d}, err
}

func (p *keyDomain) AllocMW(t rdma.MWType) (rdma.MW, error) {
	w, err := p.PD.AllocMW(t)
	if err == nil {
		p.d.windows++
	}
	return &keyWindow{w, p.d}, err
}

type keyWindow struct {
	rdma.MW
	d *keyDevice
}

// Dealloc ends the key at once in any case, as devices do.
func (w *keyWindow) Dealloc() error {
	err := w.MW.Dealloc()
	if w.d.busy {
		return rdma.ErrBusy
	}
	if err == nil {
		w.d.windows--
	}
	return err
}

type keyPair struct {
	rdma.QP
	d *keyDevice
}

func (q *keyPair) PostSend(wrs []rdma.SendWR) (int, rdma.Status) {
	if wrs[0].Op == rdma.OpBindMW {
		if q.d.binds++; q.d.swallow {
			return 1, rdma.Posted
		}
		wrs[0].Bind.MW = wrs[0].Bind.MW.(*keyWindow).MW
	}
	return q.QP.PostSend(wrs)
}

// keyWorld is a binder on a device in memory, and a queue pair of the same domain by which keys are tried.
type keyWorld struct {
	testing.TB
	net    *fabric.Net
	faults *carrier.Faults
	dev    *keyDevice
	mem    queue.Memory
	timers timer.Set
	b      *window.Binder
	opened int
	rng    *rand.Rand
}

var keyAddr = netip.MustParseAddr("10.0.0.1")

func newKeyWorld(t testing.TB, attr func(*rdma.DeviceAttr)) *keyWorld {
	t.Helper()
	w := &keyWorld{TB: t, net: fabric.New(fabric.Config{Latency: 3 * time.Microsecond}), rng: rand.New(rand.NewPCG(7, 7))}
	p, err := w.net.Port(netip.AddrPortFrom(keyAddr, 5000))
	if err != nil {
		t.Fatal(err)
	}
	w.faults = carrier.WithFaults(p, w.net.Now, w.rng.Uint64)
	d, err := soft.Open(soft.Config{Carrier: w.faults, Now: w.net.Now, Rand: w.rng.Uint64})
	if err != nil {
		t.Fatal(err)
	}
	w.dev = &keyDevice{Device: d, attr: attr}
	if w.mem.PD, err = w.dev.AllocPD(); err != nil {
		t.Fatal(err)
	}
	w.b = window.New(window.Config{Device: w.dev, Memory: &w.mem, Way: rdma.AHAttr{DGID: rdma.GIDFrom(keyAddr), Port: 5000},
		Timers: &w.timers, Now: w.net.Now, Rand: w.rng.Uint64})
	return w
}

// Opened implements window.Owner.
func (w *keyWorld) Opened() { w.opened++ }

func (w *keyWorld) turn() {
	w.dev.Progress()
	var wcs [8]rdma.WC
	w.b.Progress(wcs[:])
	w.mem.Trim()
	w.timers.Run(w.net.Now())
	next := w.net.Now() + 50*time.Microsecond
	for _, at := range []time.Duration{w.dev.Deadline(), w.timers.Next()} {
		if at != 0 {
			next = min(next, at)
		}
	}
	w.net.Step(max(next, w.net.Now()+1000))
}

func (w *keyWorld) until(what string, ok func() bool) {
	w.Helper()
	for end := w.net.Now() + time.Minute; !ok(); w.turn() {
		if w.net.Now() > end {
			w.Fatalf("waited for %s; the binder is %v", what, w.b.Life())
		}
	}
}

func (w *keyWorld) ready() { w.until("proof", func() bool { return w.b.Life() == window.Ready }) }

func (w *keyWorld) block(n int) *queue.Block {
	b, err := w.mem.Get(n)
	if err != nil {
		w.Fatal(err)
	}
	for i := range b.Bytes {
		b.Bytes[i] = byte(i % 251)
	}
	return b
}

// open opens [100, 600) of a block, and waits for the key.
func (w *keyWorld) open(b *queue.Block) *window.Key {
	w.Helper()
	k := w.b.Open(b, 100, 500, w)
	if k == nil {
		w.Fatal("no key")
	}
	b.Lock = k
	w.until("a key", func() bool { return k.State() == window.Open })
	return k
}

// read reads n bytes at keyAddr with a key, by a queue pair of its own.
func (w *keyWorld) read(rkey uint32, at uint64, n int) rdma.WCStatus {
	w.Helper()
	must := func(err error) {
		w.Helper()
		if err != nil {
			w.Fatal(err)
		}
	}
	cq, err := w.dev.CreateCQ(8)
	must(err)
	q, err := w.mem.PD.CreateQP(rdma.QPInit{Type: rdma.TypeRC, SendCQ: cq, RecvCQ: cq, Cap: rdma.QPCap{SendBlocks: 8, SendSGE: 1}})
	must(err)
	must(q.Modify(rdma.QPAttr{State: rdma.Init, Access: rdma.AccessRemote}, rdma.MaskAccess))
	must(q.Modify(rdma.QPAttr{State: rdma.RTR, AV: rdma.AHAttr{DGID: rdma.GIDFrom(keyAddr), Port: 5000}, PathMTU: rdma.MTU1024, DestQPN: q.Num(), MaxDestReads: 1, MinRNRTimer: 1},
		rdma.MaskAV|rdma.MaskPathMTU|rdma.MaskDestQPN|rdma.MaskRQPSN|rdma.MaskMaxDestReads|rdma.MaskMinRNRTimer))
	must(q.Modify(rdma.QPAttr{State: rdma.RTS, Timeout: 14, RetryCount: 7, MaxReads: 1},
		rdma.MaskSQPSN|rdma.MaskTimeout|rdma.MaskRetryCount|rdma.MaskRNRRetry|rdma.MaskMaxReads))
	into := w.block(n)
	q.PostSend([]rdma.SendWR{{Op: rdma.OpRead, Flags: rdma.FlagSignaled, SGL: []rdma.SGE{into.SGE(0, n)}, RKey: rkey, Addr: at}})
	var wc [1]rdma.WC
	w.until("a READ", func() bool { return cq.Poll(wc[:]) == 1 })
	if wc[0].Status == rdma.StatusSuccess && into.Bytes[0] != 100 {
		w.Errorf("read %d, want what stands at 100", into.Bytes[0])
	}
	must(q.Destroy())
	must(cq.Destroy())
	into.Release()
	return wc[0].Status
}

// closes gives a block back, and waits until it is free.
func (w *keyWorld) closes(b *queue.Block) {
	w.Helper()
	idle := w.mem.Idle()
	b.Release()
	if w.mem.Idle() != idle {
		w.Error("a block is free while peers may read it")
	}
	w.until("a closed key", func() bool { return w.mem.Idle() == idle+1 })
}

// TestKeys: a key opens what it says and no more, until it is closed; by windows and by plain keys.
func TestKeys(t *testing.T) {
	for _, plain := range []bool{false, true} {
		w := newKeyWorld(t, func(a *rdma.DeviceAttr) {
			if plain {
				a.Windows = nil
			}
		})
		w.b.Begin()
		if plain != (w.b.Life() == window.Plain) {
			t.Fatal(w.b.Life())
		}
		if !plain {
			w.ready()
		}
		for range 3 { // the same block and window again
			b := w.block(4000)
			k := w.open(b)
			rkey, at := k.RKey, k.Addr
			if k.Plain() != plain {
				t.Errorf("plain %v, want %v", k.Plain(), plain)
			}
			if st := w.read(rkey, at, 500); st != rdma.StatusSuccess {
				t.Fatalf("what is open: %v", st)
			}
			if st := w.read(rkey, at, 501); st == rdma.StatusSuccess {
				t.Errorf("a byte more: %v", st)
			}
			w.closes(b)
			if st := w.read(rkey, at, 500); st == rdma.StatusSuccess {
				t.Errorf("what is closed: %v", st)
			}
		}
		b := w.block(4000)
		k := w.open(b)
		rkey, at := k.RKey, k.Addr
		k.Shut()
		if st := w.read(rkey, at, 500); st == rdma.StatusSuccess {
			t.Errorf("what was shut: %v", st)
		}
		w.closes(b)
	}
}

// TestKeysShutWhileBinding: a key that is shut before its bind is executed opens nothing then either, although the block is held on.
func TestKeysShutWhileBinding(t *testing.T) {
	w := newKeyWorld(t, nil)
	w.b.Begin()
	w.ready()
	b := w.block(4000)
	k := w.b.Open(b, 100, 500, w)
	b.Lock = k
	rkey, at := k.RKey, k.Addr
	if k.State() != window.Binding || rkey == 0 {
		t.Fatalf("state %d, key %#x", k.State(), rkey)
	}
	k.Shut()
	w.until("the end of the bind", func() bool { return !w.b.Busy() })
	if st := w.read(rkey, at, 500); st == rdma.StatusSuccess {
		t.Error("it was shut, and opens")
	}
	if w.opened != 0 {
		t.Error("told of a key that was shut")
	}
	w.closes(b)
	w.open(w.block(4000)) // the binder goes on
}

// TestNotProven: without a way to itself keys are plain; when the way is there again they are windows; and nobody tries for ever.
func TestKeysNotProven(t *testing.T) {
	w := newKeyWorld(t, nil)
	w.faults.SetRules(carrier.Rule{Share: 1, Drop: true})
	w.b.Begin()
	w.until("a failed proof", func() bool { return w.b.Life() == window.Resting })
	b := w.block(4000)
	if k := w.open(b); !k.Plain() {
		t.Error("a window that was never proven")
	}
	w.closes(b)
	w.faults.SetRules()
	w.ready()

	w = newKeyWorld(t, nil)
	w.faults.SetRules(carrier.Rule{Share: 1, Drop: true})
	w.b.Begin()
	w.until("the end of it", func() bool { return w.b.Life() == window.Plain })
	w.faults.SetRules()
	for range 200 {
		w.turn()
	}
	if w.b.Life() != window.Plain || w.timers.Next() != 0 {
		t.Errorf("%v, a timer at %v", w.b.Life(), w.timers.Next())
	}
}

// TestRepairedForEver: only failures in a row end the windows: one that is repaired each time is repaired as often as it takes.
func TestRepairedForEver(t *testing.T) {
	w := newKeyWorld(t, nil)
	w.b.Begin()
	for range 15 {
		w.ready()
		w.dev.swallow = true
		b := w.block(4000)
		if k := w.open(b); !k.Plain() {
			t.Fatal("a bind that was swallowed")
		}
		w.dev.swallow = false
		w.closes(b)
	}
}

// TestCompletionsOfEarlierLife: what the queue pair did before it was repaired says nothing about the probe after.
func TestCompletionsOfEarlierLife(t *testing.T) {
	w := newKeyWorld(t, nil)
	w.b.Begin()
	for range 100 { // the owner of the binder sleeps, and the probe comes back
		w.dev.Progress()
		w.net.Step(w.net.Now() + 2*time.Millisecond)
	}
	w.timers.Run(w.net.Now())
	if w.b.Life() != window.Resting {
		t.Fatalf("%v after the deadline", w.b.Life())
	}
	w.net.Step(w.net.Now() + 10*time.Millisecond)
	w.timers.Run(w.net.Now())
	if w.b.Life() != window.Proving {
		t.Fatalf("%v after the rest", w.b.Life())
	}
	w.until("an end of the proof", func() bool { return w.b.Life() != window.Proving })
	if w.b.Life() != window.Ready {
		t.Errorf("%v: the probe was taken for the one before", w.b.Life())
	}
}

// TestBindThatHangsBehindAnother: each bind has its deadline, also one that was posted before another came back.
func TestBindThatHangsBehindAnother(t *testing.T) {
	w := newKeyWorld(t, nil)
	w.b.Begin()
	w.ready()
	first, second := w.block(4000), w.block(4000)
	k := w.b.Open(first, 100, 500, w)
	first.Lock = k
	w.dev.swallow = true
	began := w.net.Now()
	if l := w.open(second); k.Plain() || !l.Plain() || w.net.Now()-began > 110*time.Millisecond {
		t.Errorf("the first is plain: %v, the second: %v, after %v", k.Plain(), l.Plain(), w.net.Now()-began)
	}
	w.dev.swallow = false
	w.closes(first)
	w.closes(second)
}

// TestBindsThatHang: keys that wait become plain ones after their deadline; the queue pair repairs itself, also when the own address moved meanwhile.
func TestBindsThatHang(t *testing.T) {
	w := newKeyWorld(t, nil)
	w.b.Begin()
	w.ready()
	closing := w.block(4000)
	w.open(closing)
	w.dev.swallow = true
	idle := w.mem.Idle()
	closing.Release()
	b := w.block(4000)
	k := w.b.Open(b, 100, 500, w)
	b.Lock = k
	for range 100 {
		w.turn()
	}
	if k.State() != window.Binding || w.opened != 1 || w.mem.Idle() != idle {
		t.Fatalf("state %v, told %d times, %d blocks free", k.State(), w.opened, w.mem.Idle()-idle)
	}
	w.net.Move(keyAddr)
	began := w.net.Now()
	w.until("a plain key", func() bool { return k.State() == window.Open })
	if !k.Plain() || w.opened != 2 || w.net.Now()-began > 110*time.Millisecond {
		t.Errorf("plain %v, told %d times, after %v", k.Plain(), w.opened, w.net.Now()-began)
	}
	if st := w.read(k.RKey, k.Addr, 500); st != rdma.StatusSuccess {
		t.Errorf("the plain key: %v", st)
	}
	w.until("what was being closed", func() bool { return w.mem.Idle() > idle })
	w.dev.swallow = false
	w.ready()
	w.closes(b)
	b = w.block(4000)
	if k := w.open(b); k.Plain() {
		t.Error("it was repaired, and binds no windows")
	}
	w.closes(b)
}

// TestRandom: whatever is opened, shut, closed and broken in whatever order, each key is answered, no closed key opens anything, and all memory comes back.
func TestKeysRandom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newKeyWorld(t, nil)
		n := func(limit int) int { return rapid.IntRange(0, limit-1).Draw(rt, "n") }
		var held []*queue.Block
		var old [][2]uint64
		for range 40 {
			switch n(8) {
			case 0, 1, 2:
				b := w.block(4000)
				k := w.b.Open(b, 100, 500, w)
				b.Lock = k
				held = append(held, b)
			case 3, 4:
				if len(held) > 0 {
					b := held[0]
					held = held[1:]
					k := b.Lock.(*window.Key)
					if k.State() == window.Open {
						old = append(old, [2]uint64{uint64(k.RKey), k.Addr})
					}
					if n(2) == 0 {
						k.Shut()
					}
					b.Release()
				}
			case 5:
				if n(4) == 0 {
					w.dev.swallow = !w.dev.swallow
				}
			default:
				for range n(30) {
					w.turn()
				}
			}
		}
		w.dev.swallow = false
		for _, b := range held {
			w.until("an answer", func() bool { return b.Lock.(*window.Key).State() == window.Open })
			b.Release()
		}
		w.until("all memory", func() bool { return w.mem.Idle() == w.mem.All })
		for i, o := range old {
			if i%7 == 0 {
				if st := w.read(uint32(o[0]), o[1], 500); st == rdma.StatusSuccess {
					rt.Fatalf("a closed key: %v", st)
				}
			}
		}
		if t.Failed() {
			rt.Fatalf("see above")
		}
	})
}
