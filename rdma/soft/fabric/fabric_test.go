package fabric_test

import (
	"bytes"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/fabric"
	"github.com/openbraid/braid/rdma/soft/packet"
)

func port(t *testing.T, n *fabric.Net, addr string) *fabric.Port {
	t.Helper()
	p, err := n.Port(netip.MustParseAddrPort(addr))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// datagram is a packet for a queue pair, whose payload begins with id.
func datagram(qp uint32, id byte) []byte {
	p := packet.Packet{Opcode: packet.SendOnly, DestQP: qp, Payload: []byte{id, 0, 0, 0}}
	return p.Append(nil)
}

// ids takes what has arrived, and returns the first byte of each payload.
func ids(c carrier.Carrier) (got []byte) {
	var in [8]carrier.In
	for n := c.Recv(in[:]); n > 0; n = c.Recv(in[:]) {
		for _, d := range in[:n] {
			got = append(got, d.Data[12])
		}
	}
	return got
}

// TestNet: what is sent arrives after the latency, in order; what has no room or nobody is lost.
func TestNet(t *testing.T) {
	n := fabric.New(fabric.Config{Latency: 10 * time.Microsecond, Inbox: 60})
	a, b := port(t, n, "10.0.0.1:1"), port(t, n, "10.0.0.2:1")
	if _, err := n.Port(b.Local()); err == nil {
		t.Error("an address twice")
	}
	to, err := a.Resolve(b.Local(), 0)
	if err != nil || to.MAC != b.MAC() || to.MAC == a.MAC() {
		t.Fatalf("%+v %v", to, err)
	}
	for i := range byte(4) { // of 20 bytes each: one too many
		a.Send([]carrier.Out{{Route: &to, Data: datagram(1, i)}})
	}
	nobody := to
	nobody.To = netip.MustParseAddrPort("10.0.0.2:2")
	a.Send([]carrier.Out{{Route: &nobody, Data: datagram(1, 9)}})
	begin := n.Now()
	if got := ids(b); got != nil || b.Deadline() != begin+10*time.Microsecond {
		t.Errorf("%v at once; deadline %v", got, b.Deadline())
	}
	if n.Step(begin + 5*time.Microsecond); n.Now() != begin+5*time.Microsecond {
		t.Errorf("stepped to %v", n.Now())
	}
	if n.Step(0); n.Now() != begin+10*time.Microsecond || b.Deadline() != n.Now() {
		t.Errorf("stepped to %v, deadline %v", n.Now(), b.Deadline())
	}
	if got := ids(b); !bytes.Equal(got, []byte{0, 1, 2}) || n.Lost() != 2 {
		t.Errorf("%v arrived, %d lost", got, n.Lost())
	}
	if n.Step(0) {
		t.Error("something is left")
	}
	if _, err := a.Resolve(netip.MustParseAddrPort("10.0.0.3:1"), 0); !errors.Is(err, rdma.ErrUnreachable) {
		t.Errorf("nobody: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	port(t, n, "10.0.0.2:1") // it is free again
}

// TestFaults: each rule does what it says, to what it is about, as often as it may.
func TestFaults(t *testing.T) {
	one, ack := uint32(1), packet.Acknowledge
	for _, c := range []struct {
		name string
		rule carrier.Rule
		want []byte
	}{
		{"none", carrier.Rule{}, []byte{0, 1, 2, 3, 4, 5}},
		{"drop", carrier.Rule{Share: 1, Drop: true}, nil},
		{"after and count", carrier.Rule{Share: 1, Drop: true, After: 1, Count: 2}, []byte{0, 3, 4, 5}},
		{"queue pair", carrier.Rule{Share: 1, Drop: true, QP: &one}, []byte{0, 2, 4}},
		{"opcode", carrier.Rule{Share: 1, Drop: true, Opcode: &ack}, []byte{0, 1, 2, 3, 4, 5}},
		{"double", carrier.Rule{Share: 1, Double: true, Count: 1}, []byte{0, 0, 1, 2, 3, 4, 5}},
		{"delay", carrier.Rule{Share: 1, Delay: time.Microsecond, Count: 1}, []byte{1, 2, 3, 4, 5, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := fabric.New(fabric.Config{})
			a, b := port(t, n, "10.0.0.1:1"), port(t, n, "10.0.0.2:1")
			luck := uint64(5)
			f := carrier.WithFaults(a, n.Now, func() uint64 { luck += 999; return luck }, c.rule)
			to, err := f.Resolve(b.Local(), 0)
			if err != nil {
				t.Fatal(err)
			}
			var outs []carrier.Out
			for i := range byte(6) {
				outs = append(outs, carrier.Out{Route: &to, Data: datagram(uint32(i)%2, i)})
			}
			if k := f.Send(outs); k != 6 {
				t.Errorf("took %d", k)
			}
			if at := f.Deadline(); at != 0 {
				n.Step(at)
			}
			f.Recv(nil) // what is due leaves with any call
			if got := ids(b); !bytes.Equal(got, c.want) {
				t.Errorf("%v arrived, want %v", got, c.want)
			}
			f.SetRules()
			f.Cut()
			f.Send(outs[:1])
			f.Mend()
			f.Send(outs[1:2])
			if got := ids(b); !bytes.Equal(got, []byte{1}) {
				t.Errorf("%v after a cut", got)
			}
		})
	}
}

// TestSpoil: one bit of each is wrong, and the sum tells.
func TestSpoil(t *testing.T) {
	n := fabric.New(fabric.Config{})
	a, b := port(t, n, "10.0.0.1:1"), port(t, n, "10.0.0.2:1")
	luck := uint64(5)
	f := carrier.WithFaults(b, n.Now, func() uint64 { luck = luck*6364136223846793005 + 1; return luck >> 11 }, carrier.Rule{Share: 1, Corrupt: true})
	to, err := a.Resolve(b.Local(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var sum packet.Sum
	for range 200 {
		a.Send([]carrier.Out{{Route: &to, Data: datagram(1, 7)}})
		var in [2]carrier.In
		if k := f.Recv(in[:]); k != 1 || sum.Check(packet.Flow{Src: a.Local(), Dst: b.Local()}, in[0].Data, 0, 63) {
			t.Fatalf("%d arrived, and the sum is right: %x", k, in[0].Data)
		}
	}
	if f.Hits() != 200 {
		t.Errorf("%d hits", f.Hits())
	}
}
