package faulty

import (
	"time"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/rdma/soft/carrier"
)

// New puts an injector in front of a carrier. now is the clock of the device.
func New(c carrier.Carrier, inj *fault.Injector, now func() time.Duration) carrier.Carrier {
	return &faulty{Carrier: c, link: inj.Link(c.Local().String()), now: now, owns: true}
}

// Over puts a link that is somebody else's in front of a carrier: what is done to an adapter is also done to the datagrams beside it.
func Over(c carrier.Carrier, l *fault.Link, now func() time.Duration) carrier.Carrier {
	return &faulty{Carrier: c, link: l, now: now}
}

type faulty struct {
	carrier.Carrier
	link *fault.Link
	now  func() time.Duration
	out  []carrier.Out
	late carrier.Late[*carrier.Kept]
	came carrier.Late[carrier.In]
	down bool
	owns bool // the link
}

// Send implements carrier.Carrier.
func (f *faulty) Send(batch []carrier.Out) int {
	f.release()
	f.out = f.out[:0]
	for _, o := range batch {
		fate := f.link.Judge(true, len(o.Data))
		if fate.Lost {
			continue
		}
		for range copies(fate) {
			if fate.Late > 0 {
				f.late.Add(f.now()+fate.Late, carrier.Keep(o))
			} else {
				f.out = append(f.out, o)
			}
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

// release sends what is due.
func (f *faulty) release() {
	for k, ok := f.late.Take(f.now()); ok; k, ok = f.late.Take(f.now()) {
		f.Carrier.Send([]carrier.Out{k.Out()})
	}
}

// Recv implements carrier.Carrier.
func (f *faulty) Recv(batch []carrier.In) int {
	f.release()
	n := 0
	for ; n < len(batch); n++ {
		in, ok := f.came.Take(f.now())
		if !ok {
			break
		}
		batch[n] = in
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
			carrier.Spoil(in.Data, f.link.Luck)
		}
		for i := range copies(fate) {
			if i > 0 || fate.Late > 0 { // the batch has room for one of each
				f.came.Add(f.now()+fate.Late, carrier.In{From: in.From, Data: append([]byte(nil), in.Data...), ID: in.ID})
				continue
			}
			batch[n] = in
			n++
		}
	}
	return n
}

// copies is how often a datagram comes that is not lost.
func copies(f fault.Fate) int {
	if f.Twice {
		return 2
	}
	return 1
}

// Deadline implements carrier.Carrier.
func (f *faulty) Deadline() time.Duration {
	return f.came.Sooner(f.late.Sooner(f.Carrier.Deadline()))
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
	if f.owns {
		f.link.Close()
	}
	return f.Carrier.Close()
}
