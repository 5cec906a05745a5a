package faulty_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/faulty"
)

// wire hands back what was sent.
type wire struct {
	sent [][]byte
	came []carrier.In
}

func (*wire) Local() netip.AddrPort { return netip.MustParseAddrPort("10.0.0.1:4791") }
func (*wire) LinkBytes() int        { return 1500 }
func (*wire) MAC() rdma.MAC         { return rdma.MAC{} }
func (*wire) BufferBytes() int      { return 0 }
func (*wire) Sources() []uint16     { return nil }
func (*wire) Resolve(to netip.AddrPort, _ uint32) (carrier.Route, error) {
	return carrier.Route{To: to}, nil
}
func (w *wire) Send(batch []carrier.Out) int {
	for _, o := range batch {
		w.sent = append(w.sent, append([]byte(nil), o.Data...))
	}
	return len(batch)
}
func (w *wire) Recv(batch []carrier.In) int {
	n := copy(batch, w.came)
	w.came = w.came[n:]
	return n
}
func (*wire) MaxID() uint16                { return 0 }
func (*wire) Event() (carrier.Event, bool) { return carrier.Event{}, false }
func (*wire) FD() int                      { return -1 }
func (*wire) Deadline() time.Duration      { return 0 }
func (*wire) Close() error                 { return nil }

// rig is a carrier with an injector in front of it.
type rig struct {
	carrier.Carrier
	t    *testing.T
	now  time.Duration
	inj  *fault.Injector
	wire *wire
}

const data = "0123456789abcdef"

func newRig(t *testing.T) *rig {
	r := &rig{t: t, now: 1, wire: &wire{}}
	r.inj = fault.New(func() time.Duration { return r.now })
	r.Carrier = faulty.New(r.wire, r.inj, func() time.Duration { return r.now })
	return r
}

// apply replaces the rules.
func (r *rig) apply(plan string) {
	r.t.Helper()
	r.inj.Heal("")
	p, err := fault.ParsePlan(plan)
	if err != nil {
		r.t.Fatal(err)
	}
	r.inj.Apply(p...)
}

// sent sends one datagram, and says how many left.
func (r *rig) sent() int {
	r.wire.sent = nil
	r.Send([]carrier.Out{{Route: &carrier.Route{}, Data: []byte(data)}})
	return len(r.wire.sent)
}

// got has one arrive, and says what comes.
func (r *rig) got() (list []string) {
	r.wire.came = append(r.wire.came, carrier.In{Data: []byte(data)})
	for {
		batch := make([]carrier.In, 4)
		n := r.Recv(batch)
		for _, in := range batch[:n] {
			list = append(list, string(in.Data))
		}
		if n == 0 {
			return list
		}
	}
}

func TestFaults(t *testing.T) {
	r := newRig(t)
	if n, l := r.sent(), r.got(); n != 1 || len(l) != 1 || l[0] != data {
		t.Errorf("no fault: %d sent, %q received", n, l)
	}
	r.apply("drop 100%")
	if n, l := r.sent(), r.got(); n != 0 || len(l) != 0 {
		t.Errorf("drop: %d, %q", n, l)
	}
	r.apply("duplicate 100%")
	if n, l := r.sent(), r.got(); n != 2 || len(l) != 2 || l[1] != data {
		t.Errorf("duplicate: %d, %q", n, l)
	}
	r.apply("corrupt 100%")
	if n, l := r.sent(), r.got(); n != 1 || string(r.wire.sent[0]) != data || len(l) != 1 || l[0] == data {
		t.Errorf("corrupt: %d, %q", n, l)
	}
	r.apply("delay 5ms")
	if n, l := r.sent(), r.got(); n != 0 || len(l) != 0 || r.Deadline() != r.now+5*time.Millisecond {
		t.Errorf("delay: %d, %q, due %v", n, l, r.Deadline())
	}
	r.now += 5 * time.Millisecond
	r.inj.Heal("")
	if l := r.got(); len(l) != 2 || len(r.wire.sent) != 1 || r.Deadline() != 0 {
		t.Errorf("late: %d sent, %q received, due %v", len(r.wire.sent), l, r.Deadline())
	}
	r.apply("cut kind=reset for=1ms")
	if e, ok := r.Event(); !ok || e.Type != carrier.Down {
		t.Errorf("a reset takes the link down: %v, %v", e, ok)
	}
	r.now += time.Millisecond
	r.inj.Advance()
	if e, ok := r.Event(); !ok || e.Type != carrier.Up {
		t.Errorf("and it comes up again: %v, %v", e, ok)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestTwiceAndLate: what two rules do to one datagram is done, both.
func TestTwiceAndLate(t *testing.T) {
	r := newRig(t)
	r.apply("duplicate 100%; delay 5ms")
	if n, l := r.sent(), r.got(); n != 0 || len(l) != 0 {
		t.Errorf("%d sent, %q received at once", n, l)
	}
	r.now += 5 * time.Millisecond
	r.inj.Heal("")
	if l := r.got(); len(l) != 3 || len(r.wire.sent) != 2 || r.Deadline() != 0 { // both, and that of this call
		t.Errorf("%d sent, %q received, due %v", len(r.wire.sent), l, r.Deadline())
	}
}
