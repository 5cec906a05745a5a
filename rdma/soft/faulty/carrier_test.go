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

func TestFaults(t *testing.T) {
	now := time.Duration(1)
	inj := fault.New(func() time.Duration { return now })
	w := &wire{}
	c := faulty.New(w, inj, func() time.Duration { return now })
	data := []byte("0123456789abcdef")
	apply := func(text string) {
		t.Helper()
		inj.Heal("")
		r, err := fault.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		inj.Apply(r)
	}
	sent := func() int {
		w.sent = nil
		c.Send([]carrier.Out{{Route: &carrier.Route{}, Data: data}})
		return len(w.sent)
	}
	got := func() (list []string) {
		w.came = append(w.came, carrier.In{Data: append([]byte(nil), data...)})
		for {
			batch := make([]carrier.In, 4)
			n := c.Recv(batch)
			for _, in := range batch[:n] {
				list = append(list, string(in.Data))
			}
			if n == 0 {
				return list
			}
		}
	}
	if n, l := sent(), got(); n != 1 || len(l) != 1 || l[0] != string(data) {
		t.Errorf("no fault: %d sent, %q received", n, l)
	}
	apply("drop 100%")
	if n, l := sent(), got(); n != 0 || len(l) != 0 {
		t.Errorf("drop: %d, %q", n, l)
	}
	apply("duplicate 100%")
	if n, l := sent(), got(); n != 2 || len(l) != 2 || l[1] != string(data) {
		t.Errorf("duplicate: %d, %q", n, l)
	}
	apply("corrupt 100%")
	if n, l := sent(), got(); n != 1 || string(w.sent[0]) != string(data) || len(l) != 1 || l[0] == string(data) {
		t.Errorf("corrupt: %d, %q", n, l)
	}
	apply("delay 5ms")
	if n, l := sent(), got(); n != 0 || len(l) != 0 || c.Deadline() != now+5*time.Millisecond {
		t.Errorf("delay: %d, %q, due %v", n, l, c.Deadline())
	}
	now += 5 * time.Millisecond
	inj.Heal("")
	if l := got(); len(l) != 2 || len(w.sent) != 1 || c.Deadline() != 0 {
		t.Errorf("late: %d sent, %q received, due %v", len(w.sent), l, c.Deadline())
	}
	apply("cut kind=reset for=1ms")
	if e, ok := c.Event(); !ok || e.Type != carrier.Down {
		t.Errorf("a reset takes the link down: %v, %v", e, ok)
	}
	now += time.Millisecond
	inj.Advance()
	if e, ok := c.Event(); !ok || e.Type != carrier.Up {
		t.Errorf("and it comes up again: %v, %v", e, ok)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
