//go:build linux

package udp_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/packet"
	"github.com/openbraid/braid/rdma/soft/udp"
)

func open(t *testing.T, addr string, o udp.Options) carrier.Carrier {
	t.Helper()
	c, err := udp.Open(netip.MustParseAddrPort(addr), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// batch makes datagrams one behind the other in memory, as a device does, with these lengths of payload.
func batch(route *carrier.Route, first byte, lens ...int) (outs []carrier.Out) {
	var all []byte
	var ends []int
	for i, n := range lens {
		p := packet.Packet{Opcode: packet.SendOnly, PSN: uint32(first) + uint32(i), Payload: bytes.Repeat([]byte{first + byte(i)}, n)}
		all = append(all, p.Append(nil)...)
		ends = append(ends, len(all))
	}
	begin := 0
	for _, end := range ends {
		outs = append(outs, carrier.Out{Route: route, Data: all[begin:end:end]})
		begin = end
	}
	return outs
}

// TestBatches: whatever the lengths and whoever the peers, each datagram arrives whole, in order, and with the right sum.
func TestBatches(t *testing.T) {
	same := make([]int, 100)
	for i := range same {
		same[i] = 1000
	}
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
		for _, o := range [2][2]udp.Options{{{}, {NoSegment: true}}, {{NoSegment: true}, {}}} {
			for name, lens := range map[string][]int{
				"one": {4096}, "empty": {0, 0, 0}, "equal": same, "last shorter": {4096, 4096, 4096, 8}, "last longer": {8, 8, 4096},
				"mixed": {0, 4096, 4096, 1, 1, 5, 4096, 0}, "large": {4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096},
			} {
				t.Run(fmt.Sprintf("%s %s %v", addr, name, o[0].NoSegment), func(t *testing.T) {
					a, b, c := open(t, addr, o[0]), open(t, addr, o[1]), open(t, addr, o[1])
					toB, toC := carrier.Route{To: b.Local(), HopLimit: 64}, carrier.Route{To: c.Local(), HopLimit: 64}
					outs := append(batch(&toB, 1, lens...), batch(&toC, 101, lens...)...)
					for sent, end := 0, time.Now().Add(time.Minute); sent < len(outs); sent += a.Send(outs[sent:]) {
						if time.Now().After(end) {
							t.Fatalf("%d of %d sent in a minute", sent, len(outs))
						}
					}
					arrive(t, a, b, 1, lens)
					arrive(t, a, c, 101, lens)
				})
			}
		}
	}
}

// arrive waits for the datagrams of a batch.
func arrive(t *testing.T, from, at carrier.Carrier, first byte, lens []int) {
	t.Helper()
	var sum packet.Sum
	var in [7]carrier.In // fewer than come in one piece
	flow := packet.Flow{Src: from.Local(), Dst: at.Local()}
	got := 0
	for end := time.Now().Add(time.Minute); got < len(lens); {
		for _, d := range in[:at.Recv(in[:])] {
			var p packet.Packet
			if err := p.Parse(d.Data); err != nil || d.From != from.Local() || !sum.Check(flow, d.Data, d.ID, at.MaxID()) {
				t.Fatalf("datagram %d from %v: %v, or its sum is wrong", got, d.From, err)
			}
			if int(p.PSN) != int(first)+got || len(p.Payload) != lens[got] || !bytes.Equal(p.Payload, bytes.Repeat([]byte{first + byte(got)}, lens[got])) {
				t.Fatalf("datagram %d: %v", got, &p)
			}
			got++
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %d in a minute", got, len(lens))
		}
	}
}

// TestClass: traffic class and hop limit are those of each datagram's route.
func TestClass(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	for _, o := range []int{unix.IP_RECVTOS, unix.IP_RECVTTL} {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, o, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 60}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	a := open(t, "127.0.0.1:0", udp.Options{})
	to := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(name.(*unix.SockaddrInet4).Port))
	routes := []carrier.Route{{To: to, TrafficClass: 106, HopLimit: 7}, {To: to, TrafficClass: 0, HopLimit: 255}, {To: to, TrafficClass: 106, HopLimit: 7}}
	var outs []carrier.Out
	for i := range routes {
		outs = append(outs, batch(&routes[i], byte(i), 8)...)
	}
	if n := a.Send(outs); n != len(outs) {
		t.Fatalf("sent %d", n)
	}
	for i, r := range routes {
		var b [2048]byte
		var oob [128]byte
		_, n, _, _, err := unix.Recvmsg(fd, b[:], oob[:], 0)
		if err != nil {
			t.Fatal(err)
		}
		msgs, err := unix.ParseSocketControlMessage(oob[:n])
		if err != nil {
			t.Fatal(err)
		}
		var tos, ttl byte
		for _, m := range msgs {
			switch m.Header.Type {
			case unix.IP_TOS:
				tos = m.Data[0]
			case unix.IP_TTL:
				ttl = m.Data[0]
			}
		}
		if tos != r.TrafficClass || ttl != r.HopLimit {
			t.Errorf("datagram %d: class %d, hop limit %d; want %d, %d", i, tos, ttl, r.TrafficClass, r.HopLimit)
		}
	}
}
