package soft_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/fabric"
)

// seeds runs fn for BRAID_SEEDS seeds, or for BRAID_SEED only, the first 500 twice, and of the rest each eighth: the runs must be the same.
func seeds(t *testing.T, fn func(seed uint64) (digest uint64, err error)) {
	t.Helper()
	n := 300
	if testing.Short() {
		n = 60
	}
	if v, err := strconv.Atoi(os.Getenv("BRAID_SEEDS")); err == nil {
		n = max(1, v/4) // a share: whole workers have the rest
	}
	first := 1
	if v, err := strconv.Atoi(os.Getenv("BRAID_SEED")); err == nil {
		first, n = v, 1
	}
	for seed := uint64(first); seed < uint64(first+n); seed++ {
		one, err := fn(seed)
		if err != nil {
			t.Errorf("BRAID_SEED=%d go test ./rdma/soft -run %s\n%v", seed, t.Name(), err)
			continue
		}
		if i := seed - uint64(first); i >= 500 && i%8 != 0 {
			continue
		}
		if two, err := fn(seed); err != nil || one != two {
			t.Errorf("BRAID_SEED=%d go test ./rdma/soft -run %s: two runs differ (%#x, %#x, %v)", seed, t.Name(), one, two, err)
		}
	}
}

// pair is one connection of a run: side a works, side b is worked on.
type pair struct {
	qp     [2]rdma.QP
	mr     [2]rdma.MR
	mem    [2][]byte
	posted uint64 // sends of a
	done   uint64
	sends  uint64 // SENDs among them
	got    uint64
	adds   uint64
	slots  [16]byte        // what was last written to each
	writes map[uint64]byte // the slot of each

	read      uint64 // the last READ into memory that was cleared before
	readBytes int
}

const (
	slotBytes = 3000
	pairBytes = 40 * slotBytes
)

// run is one simulated run.
type run struct {
	w     *world
	dev   [2]*soft.Device
	cq    [2]rdma.CQ
	pairs []*pair
	byQP  [2]map[uint32]*pair
	late  bool // receives come late
	hash  uint64
	fail  error
}

func (r *run) note(v ...uint64) {
	for _, x := range v {
		r.hash = (r.hash ^ x) * 0x9fb21c651e98df25
		r.hash ^= r.hash >> 29
	}
}

func (r *run) failf(format string, args ...any) {
	if r.fail == nil {
		r.fail = fmt.Errorf(format, args...)
	}
}

// draw is a number below n.
func (r *run) draw(n int) int { return int(r.w.rand.Uint64() % uint64(n)) }

func newRun(seed uint64, rules ...carrier.Rule) (*run, error) {
	w := newWorld(seed, fabric.Config{Latency: 3 * time.Microsecond, Inbox: 64 << 10})
	r := &run{w: w, byQP: [2]map[uint32]*pair{{}, {}}, late: seed%2 == 0}
	w.config = func(c *soft.Config) {
		c.FirstBlock = uint16(65536 - r.draw(200))
		c.Window = 1 + r.draw(64)
	}
	var pds [2]rdma.PD
	for i := range r.dev {
		d, err := w.add(fmt.Sprintf("10.0.0.%d:%d", i+1, 4791+i), rules...)
		if err != nil {
			return nil, err
		}
		r.dev[i] = d
		if pds[i], err = d.AllocPD(); err != nil {
			return nil, err
		}
		if r.cq[i], err = d.CreateCQ(1024); err != nil {
			return nil, err
		}
	}
	for range 1 + r.draw(3) {
		p := &pair{writes: map[uint64]byte{}}
		for i := range p.qp {
			var err error
			p.mem[i] = make([]byte, pairBytes)
			if p.mr[i], err = pds[i].RegMR(p.mem[i], rdma.AccessLocalWrite|rdma.AccessRemote); err != nil {
				return nil, err
			}
			p.qp[i], err = pds[i].CreateQP(rdma.QPInit{Type: rdma.TypeRC, SendCQ: r.cq[i], RecvCQ: r.cq[i], SigAll: true,
				Cap: rdma.QPCap{SendBlocks: 8 + r.draw(40), RecvWR: 32, SendSGE: 2, RecvSGE: 1, Inline: 64}})
			if err != nil {
				return nil, err
			}
			r.byQP[i][p.qp[i].Num()] = p
		}
		for i := range slotBytes {
			p.mem[1][21*slotBytes+i] = byte(i%251 + 1)
		}
		r.pairs = append(r.pairs, p)
		if err := r.join(p); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// join brings a pair to RTS, near the wrap of packet numbers.
func (r *run) join(p *pair) error {
	psn := [2]uint32{uint32(rdma.MaxNum - r.draw(300)), uint32(r.draw(rdma.MaxNum))}
	mtu := rdma.MTU256 + rdma.MTU(r.draw(3))
	reads := uint8(1 + r.draw(5))
	for i, q := range p.qp {
		peer := r.dev[1-i].Addr()
		for _, s := range []struct {
			a rdma.QPAttr
			m rdma.AttrMask
		}{
			{rdma.QPAttr{State: rdma.Init, Access: rdma.AccessRemote}, rdma.MaskAccess},
			{rdma.QPAttr{State: rdma.RTR, AV: rdma.AHAttr{DGID: rdma.GIDFrom(peer.Addr()), Port: peer.Port()}, PathMTU: mtu, DestQPN: p.qp[1-i].Num(),
				RQPSN: psn[1-i], MaxDestReads: reads, MinRNRTimer: 1},
				rdma.MaskAV | rdma.MaskPathMTU | rdma.MaskDestQPN | rdma.MaskRQPSN | rdma.MaskMaxDestReads | rdma.MaskMinRNRTimer},
			{rdma.QPAttr{State: rdma.RTS, SQPSN: psn[i], Timeout: 8, RetryCount: 7, RNRRetry: 7, MaxReads: reads},
				rdma.MaskSQPSN | rdma.MaskTimeout | rdma.MaskRetryCount | rdma.MaskRNRRetry | rdma.MaskMaxReads},
		} {
			if err := q.Modify(s.a, s.m); err != nil {
				return err
			}
		}
	}
	return nil
}

// post posts one random work request of a pair. IDs are its place in the order of its queue.
func (r *run) post(p *pair) {
	slot := r.draw(16)
	n := 1 + r.draw(slotBytes-1)
	src := p.mem[0][slot*slotBytes:][:n]
	wr := rdma.SendWR{ID: p.posted, RKey: p.mr[1].RKey(), Addr: p.mr[1].Addr() + uint64(slot*slotBytes)}
	wr.SGL = []rdma.SGE{{Addr: p.mr[0].Addr() + uint64(slot*slotBytes), Length: uint32(n), LKey: p.mr[0].LKey()}}
	switch r.draw(4) {
	case 0:
		wr.Op = rdma.OpSend
		var b [16]byte
		binary.LittleEndian.PutUint64(b[:], p.sends)
		wr.SGL, wr.Inline = nil, b[:]
	case 1:
		wr.Op = rdma.OpFetchAdd
		wr.Addr, wr.CompareAdd = p.mr[1].Addr()+20*slotBytes, 1
		wr.SGL = []rdma.SGE{{Addr: p.mr[0].Addr() + 20*slotBytes, Length: 8, LKey: p.mr[0].LKey()}}
	case 2:
		// Only a slot that no write is under way to: its bytes are sent again if need be, so they must stay.
		wr.Op = rdma.OpWrite
		if p.done != p.posted {
			wr.SGL[0].Length = 0
			n = 0
			break
		}
		p.slots[slot] = byte(r.draw(255) + 1)
		for i := range src {
			src[i] = p.slots[slot]
		}
	case 3:
		wr.Op = rdma.OpRead
		wr.Addr = p.mr[1].Addr() + 21*slotBytes // it has a pattern of its own
		wr.SGL[0].Addr = p.mr[0].Addr() + 22*slotBytes
		if p.done == p.posted {
			clear(p.mem[0][22*slotBytes:][:slotBytes])
			p.read, p.readBytes = wr.ID, n
		}
	}
	if k, st := p.qp[0].PostSend([]rdma.SendWR{wr}); k == 1 {
		p.posted++
		switch {
		case wr.Op == rdma.OpSend:
			p.sends++
		case wr.Op == rdma.OpFetchAdd:
			p.adds++
		case wr.Op == rdma.OpWrite && n > 0:
			p.writes[wr.ID] = byte(slot)
		}
	} else if st != rdma.Full {
		r.failf("post: %v", st)
	}
}

// poll takes the completions of a side, and checks each.
func (r *run) poll(side int) {
	var wc [8]rdma.WC
	n := r.cq[side].Poll(wc[:1+r.draw(8)])
	for _, c := range wc[:n] {
		p := r.byQP[side][c.QPNum]
		r.note(uint64(r.w.net.Now()), c.ID, uint64(c.Status), uint64(c.QPNum))
		switch {
		case c.Status != rdma.StatusSuccess:
			r.failf("%v: side %d, work request %d: %v", r.w.net.Now(), side, c.ID, c.Status)
		case side == 0:
			if c.ID != p.done {
				r.failf("completion of %d, want %d", c.ID, p.done)
			}
			p.done++
			if slot, ok := p.writes[c.ID]; ok && p.mem[1][int(slot)*slotBytes] != p.slots[slot] {
				r.failf("WRITE %d is done, but not there", c.ID)
			}
			if c.ID == p.read && !bytes.Equal(p.mem[0][22*slotBytes:][:p.readBytes], p.mem[1][21*slotBytes:][:p.readBytes]) {
				r.failf("READ %d is done, but not there", c.ID)
			}
		default:
			at := int(c.ID) * 16
			if got := binary.LittleEndian.Uint64(p.mem[1][30*slotBytes+at:]); got != p.got {
				r.failf("message %d arrived, want %d", got, p.got)
			}
			p.got++
		}
	}
}

// feed posts receives, in some runs too few and too late.
func (r *run) feed(p *pair, next *uint64) {
	if r.late && r.draw(40) > 0 {
		return
	}
	for range r.draw(4) {
		id := *next % 64
		_, st := p.qp[1].PostRecv([]rdma.RecvWR{{ID: id, SGL: []rdma.SGE{{Addr: p.mr[1].Addr() + 30*slotBytes + id*16, Length: 16, LKey: p.mr[1].LKey()}}}})
		if st != rdma.Posted {
			return
		}
		*next++
	}
}

// work runs until every pair has done so many work requests.
func (r *run) work(total uint64) error {
	next := make([]uint64, len(r.pairs))
	for turns := 0; r.fail == nil; turns++ {
		if turns > 400000 {
			r.failf("%v: no end in sight: %s", r.w.net.Now(), r.state())
			break
		}
		busy := false
		for i, p := range r.pairs {
			if p.posted < total && r.draw(3) > 0 {
				r.post(p)
			}
			r.feed(p, &next[i])
			busy = busy || p.done < total || p.got < p.sends
		}
		if !busy {
			break
		}
		for i, d := range r.dev {
			if r.draw(4) > 0 {
				d.Progress()
			}
			r.poll(i)
		}
		r.w.tick()
	}
	return r.fail
}

func (r *run) state() (s string) {
	for i, p := range r.pairs {
		s += fmt.Sprintf("pair %d: %d posted, %d done, %d of %d messages; %+v; %+v\n", i, p.posted, p.done, p.got, p.sends, p.qp[0].Query(), p.qp[1].Query())
	}
	return s + fmt.Sprintf("%+v\n%+v", r.dev[0].Stats(), r.dev[1].Stats())
}

// end checks what is left, and that everything can be given back.
func (r *run) end() error {
	for i, p := range r.pairs {
		if got := binary.NativeEndian.Uint64(p.mem[1][20*slotBytes:]); got != p.adds {
			return fmt.Errorf("pair %d: counter is %d after %d adds", i, got, p.adds)
		}
		for k, q := range p.qp {
			if err := q.Destroy(); err != nil {
				return err
			}
			if err := p.mr[k].Deregister(); err != nil {
				return fmt.Errorf("pair %d, side %d: %w", i, k, err)
			}
		}
	}
	for i := range r.dev {
		if err := r.cq[i].Destroy(); err != nil {
			return err
		}
		_ = r.dev[i].Close()
	}
	return nil
}

// bad is 1 % loss, 1 % reordering and 0.1 % corruption, and some doubles.
var bad = []carrier.Rule{{Share: 0.01, Drop: true}, {Share: 0.01, Delay: 30 * time.Microsecond}, {Share: 0.001, Corrupt: true}, {Share: 0.005, Double: true}}

// worse is ten times that.
var worse = []carrier.Rule{{Share: 0.1, Drop: true}, {Share: 0.1, Delay: 50 * time.Microsecond}, {Share: 0.01, Corrupt: true}, {Share: 0.05, Double: true}}

// TestSeeds: every operation exactly once and in order, whatever the network does; the same seed, the same run.
func TestSeeds(t *testing.T) {
	var sum soft.Stats
	seeds(t, func(seed uint64) (uint64, error) {
		rules := bad
		if seed%3 == 0 {
			rules = worse
		}
		r, err := newRun(seed, rules...)
		if err != nil {
			return 0, err
		}
		if err := r.work(60); err != nil {
			return 0, err
		}
		for _, d := range r.dev {
			s := d.Stats()
			sum.GoBacks += s.GoBacks
			sum.Duplicates += s.Duplicates
			sum.BadICRC += s.BadICRC
			sum.RNRsTaken += s.RNRsTaken
			sum.Timeouts += s.Timeouts
			r.note(s.RxPackets, s.TxPackets)
		}
		return r.hash, r.end()
	})
	if sum.GoBacks == 0 || sum.Duplicates == 0 || sum.BadICRC == 0 || sum.RNRsTaken == 0 || sum.Timeouts == 0 {
		t.Errorf("something never happened: %+v", sum)
	}
}
