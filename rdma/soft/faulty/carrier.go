package faulty

import (
	"container/heap"
	"time"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/rdma/soft/carrier"
)

// New puts an injector in front of a carrier. now is the clock of the device.
func New(c carrier.Carrier, inj *fault.Injector, now func() time.Duration) carrier.Carrier {
	return &faulty{Carrier: c, link: inj.Link(c.Local().String()), now: now}
}

type faulty struct {
	carrier.Carrier
	link *fault.Link
	now  func() time.Duration
	out  []carrier.Out
	late late
	came late
	seq  uint64
	down bool
}

// Send implements carrier.Carrier.
func (f *faulty) Send(batch []carrier.Out) int {
	f.release()
	f.out = f.out[:0]
	for _, o := range batch {
		fate := f.link.Judge(true, len(o.Data))
		switch {
		case fate.Lost:
			continue
		case fate.Late > 0:
			f.keep(&f.late, o.Data, fate.Late).route = *o.Route
		default:
			f.out = append(f.out, o)
		}
		if fate.Twice {
			f.out = append(f.out, o)
		}
	}
	f.send()
	return len(batch)
}

// send hands on what there is. What the carrier below has no room for is lost: that is a fault, too.
func (f *faulty) send() {
	if len(f.out) > 0 {
		f.Carrier.Send(f.out)
		clear(f.out)
	}
}

// keep puts a datagram aside.
func (f *faulty) keep(l *late, data []byte, d time.Duration) *kept {
	k := &kept{at: f.now() + d, seq: f.seq, data: append([]byte(nil), data...)}
	f.seq++
	heap.Push(l, k)
	return k
}

// release sends what is due.
func (f *faulty) release() {
	for len(f.late) > 0 && f.late[0].at <= f.now() {
		k := heap.Pop(&f.late).(*kept)
		f.Carrier.Send([]carrier.Out{{Route: &k.route, Data: k.data}})
	}
}

// Recv implements carrier.Carrier.
func (f *faulty) Recv(batch []carrier.In) int {
	f.release()
	n := 0
	for n < len(batch) && len(f.came) > 0 && f.came[0].at <= f.now() {
		batch[n] = heap.Pop(&f.came).(*kept).in
		n++
	}
	if n > 0 {
		return n // of memory of their own: the next ones come with the next call
	}
	got := f.Carrier.Recv(batch)
	for _, in := range batch[:got] {
		fate := f.link.Judge(false, len(in.Data))
		if fate.Lost {
			continue
		}
		if fate.Spoiled {
			in.Data = f.spoil(in.Data)
		}
		if fate.Twice || fate.Late > 0 {
			k := f.keep(&f.came, in.Data, fate.Late)
			k.in = carrier.In{From: in.From, Data: k.data, ID: in.ID}
		}
		if fate.Late == 0 {
			batch[n] = in
			n++
		}
	}
	return n
}

// spoil changes a bit, but not in the byte that the ICRC leaves out.
func (f *faulty) spoil(b []byte) []byte {
	if len(b) > 8 {
		bit := 8*5 + f.link.Luck()%uint64(8*(len(b)-5))
		b[bit/8] ^= 1 << (bit % 8)
	}
	return b
}

// Deadline implements carrier.Carrier.
func (f *faulty) Deadline() time.Duration {
	d := f.Carrier.Deadline()
	for _, l := range []late{f.late, f.came} {
		if len(l) > 0 && (d == 0 || l[0].at < d) {
			d = max(1, l[0].at)
		}
	}
	return d
}

// Event implements carrier.Carrier: a reset takes the link down.
func (f *faulty) Event() (carrier.Event, bool) {
	if down := f.link.Down(); down != f.down {
		f.down = down
		if down {
			return carrier.Event{Type: carrier.Down}, true
		}
		return carrier.Event{Type: carrier.Up}, true
	}
	return f.Carrier.Event()
}

// Close implements carrier.Carrier.
func (f *faulty) Close() error {
	f.link.Close()
	return f.Carrier.Close()
}

// kept is a datagram that goes on later.
type kept struct {
	at    time.Duration
	seq   uint64
	route carrier.Route
	data  []byte
	in    carrier.In
}

type late []*kept

func (l late) Len() int { return len(l) }
func (l late) Less(i, j int) bool {
	return l[i].at < l[j].at || l[i].at == l[j].at && l[i].seq < l[j].seq
}
func (l late) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l *late) Push(x any)   { *l = append(*l, x.(*kept)) }
func (l *late) Pop() any {
	old := *l
	x := old[len(old)-1]
	*l = old[:len(old)-1]
	return x
}
