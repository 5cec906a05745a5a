package braid_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/mix"
	"github.com/openbraid/braid/transport/rc"
	"github.com/openbraid/braid/transport/self"
	"github.com/openbraid/braid/transport/softrc"
	"github.com/openbraid/braid/transport/tcp"
)

// cables are the sockets of devices, to be cut. They belong to the worker's goroutine, so a cut is a flag that they look at.
type cables struct {
	sync.Mutex
	cut map[netip.Addr]bool
}

func (c *cables) set(addr string, cut bool) {
	c.Lock()
	defer c.Unlock()
	c.cut[netip.MustParseAddr(addr)] = cut
}

func (c *cables) wrap(below carrier.Carrier, _ rc.Place) carrier.Carrier {
	return &cable{Carrier: below, all: c}
}

type cable struct {
	carrier.Carrier
	all *cables
}

func (c *cable) isCut() bool {
	c.all.Lock()
	defer c.all.Unlock()
	return c.all.cut[c.Local().Addr()]
}

func (c *cable) Send(batch []carrier.Out) int {
	if c.isCut() {
		return len(batch)
	}
	return c.Carrier.Send(batch)
}

func (c *cable) Recv(batch []carrier.In) int {
	n := c.Carrier.Recv(batch)
	if c.isCut() {
		return 0
	}
	return n
}

// TestRC: an endpoint of two lanes over devices in software; and one of a lane over such and a lane over TCP. While messages and puts run, each
// rc lane is cut, several times. Nothing is lost, nothing comes twice or out of order, and the lanes come back.
func TestRC(t *testing.T) {
	for _, mixed := range []bool{false, true} {
		t.Run(fmt.Sprintf("mixed=%v", mixed), func(t *testing.T) { testRC(t, mixed) })
	}
}

func testRC(t *testing.T, mixed bool) {
	ctx := testContext(t)
	wires := &cables{cut: map[netip.Addr]bool{}}
	carriers := func() []transport.Transport {
		r := softrc.New(softrc.Options{Wrap: wires.wrap})
		if mixed {
			r = mix.New(tcp.New(tcp.Options{}), mix.Part{Transport: r, Takes: func(host string) bool { return host == "127.0.0.2" }})
		}
		return []transport.Transport{r, self.New(self.Options{})}
	}
	var mu sync.Mutex
	lost := 0
	rails := []string{"127.0.0.1", "127.0.0.2"}
	p := connect(t, braid.Options{Transports: carriers(), Rails: rails, OnEvent: func(e braid.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Kind == braid.LaneDown {
			lost++
		}
	}}, braid.Options{Transports: carriers(), Rails: rails})
	if n := len(p.a.Lanes()); n != 2 {
		t.Fatalf("%d lanes", n)
	}
	const slots, rounds = 64, 12
	var got []uint32
	p.bw.HandleAM(1, func(m *braid.Message) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, binary.LittleEndian.Uint32(m.Header()))
	})
	mem, err := p.bn.Alloc(slots * 4096)
	if err != nil {
		t.Fatal(err)
	}
	key := mem.Key(braid.Write | braid.Read)
	sent := uint32(0)
	data := make([]byte, 4096)
	for round := range rounds {
		victim := rails[round%2]
		if mixed {
			victim = rails[1]
		}
		for i := range 200 {
			if i == 50 {
				wires.set(victim, true)
			}
			if err := p.a.SendAM(ctx, 1, binary.LittleEndian.AppendUint32(nil, sent), data[:i*20]); err != nil {
				t.Fatal(err)
			}
			sent++
			for k := range data {
				data[k] = byte(round + i%slots)
			}
			if err := p.a.Put(ctx, data, key, uint64(i%slots)*4096); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.a.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		back := make([]byte, slots*4096)
		if err := p.a.Get(ctx, back, key, 0); err != nil {
			t.Fatal(err)
		}
		for i, b := range back {
			if b != byte(round+i/4096) {
				t.Fatalf("round %d: byte %d is %d", round, i, b)
			}
		}
		wires.set(victim, false)
		if round%4 == 3 {
			waitFor(t, "both lanes", func() bool { return len(p.a.Lanes()) == 2 })
		}
	}
	waitFor(t, "all messages", func() bool { mu.Lock(); defer mu.Unlock(); return len(got) >= int(sent) })
	if want := make([]uint32, sent); !slices.Equal(got, count(want)) {
		t.Errorf("%d messages of %d, or not in order", len(got), sent)
	}
	mu.Lock()
	if lost == 0 {
		t.Error("no lane was lost: the cuts did nothing")
	}
	mu.Unlock()
	if err := p.a.Close(ctx); err != nil {
		t.Error(err)
	}
}

// count fills in 0, 1, 2, …
func count(s []uint32) []uint32 {
	for i := range s {
		s[i] = uint32(i)
	}
	return s
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited for %s", what)
		}
	}
}

// TestRCTrust: what RDMA packets can't prove is not promised without being asked for.
func TestRCTrust(t *testing.T) {
	n, err := braid.Open(braid.Options{Transports: []transport.Transport{softrc.New(softrc.Options{})}, Secret: braid.NewSecret()})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if _, err := n.Worker().Listen("127.0.0.1:0"); !errors.Is(err, braid.ErrSecret) {
		t.Errorf("a secret over packets that anybody can forge: %v", err)
	}
	ctx := testContext(t)
	if _, err := n.Worker().Dial(ctx, "127.0.0.1:9"); !errors.Is(err, braid.ErrSecret) {
		t.Errorf("a secret over packets that anybody can forge: %v", err)
	}
	open, err := braid.Open(braid.Options{Transports: []transport.Transport{softrc.New(softrc.Options{})}})
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if _, err := open.Worker().Listen("192.0.2.1:0"); err == nil {
		t.Error("an address beyond loopback without trust in the network")
	}
	allowed, err := braid.Open(braid.Options{Transports: []transport.Transport{softrc.New(softrc.Options{RC: rc.Options{AllowSecret: true}})}, Secret: braid.NewSecret()})
	if err != nil {
		t.Fatal(err)
	}
	defer allowed.Close()
	if _, err := allowed.Worker().Listen("127.0.0.1:0"); err != nil {
		t.Error(err)
	}
}
