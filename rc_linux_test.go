package braid_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
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

// rcRun is one run: what was sent and what came.
type rcRun struct {
	*pair
	t     *testing.T
	ctx   context.Context
	wires *cables
	rails []string
	mem   *braid.Memory

	mu   sync.Mutex
	lost int // lanes
	got  []uint32
	sent uint32
}

const rcSlots = 64

// carriers are transports over devices with these cables; mixed: with TCP on the first rail.
func (c *cables) carriers(mixed bool) []transport.Transport {
	lanes := softrc.New(softrc.Options{Wrap: c.wrap})
	if mixed {
		lanes = mix.New(tcp.New(tcp.Options{}), mix.Part{Transport: lanes, Takes: func(host string) bool { return host == "127.0.0.2" }})
	}
	return []transport.Transport{lanes, self.New(self.Options{})}
}

func testRC(t *testing.T, mixed bool) {
	r := &rcRun{t: t, ctx: testContext(t), wires: &cables{cut: map[netip.Addr]bool{}}, rails: []string{"127.0.0.1", "127.0.0.2"}}
	r.pair = connect(t, braid.Options{Transports: r.wires.carriers(mixed), Rails: r.rails, OnEvent: r.event}, braid.Options{Transports: r.wires.carriers(mixed), Rails: r.rails})
	if n := len(r.a.Lanes()); n != 2 {
		t.Fatalf("%d lanes", n)
	}
	r.bw.HandleAM(1, func(m *braid.Message) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, binary.LittleEndian.Uint32(m.Header()))
	})
	var err error
	if r.mem, err = r.bn.Alloc(rcSlots * 4096); err != nil {
		t.Fatal(err)
	}
	for round := range 12 {
		victim := r.rails[1]
		if !mixed {
			victim = r.rails[round%2]
		}
		r.round(round, victim)
		if round%4 == 3 {
			waitFor(t, "both lanes", func() bool { return len(r.a.Lanes()) == 2 })
		}
	}
	waitFor(t, "all messages", func() bool { r.mu.Lock(); defer r.mu.Unlock(); return len(r.got) >= int(r.sent) })
	if !slices.Equal(r.got, count(make([]uint32, r.sent))) {
		t.Errorf("%d messages of %d, or not in order", len(r.got), r.sent)
	}
	if r.lost == 0 {
		t.Error("no lane was lost: the cuts did nothing")
	}
	if err := r.a.Close(r.ctx); err != nil {
		t.Error(err)
	}
}

func (r *rcRun) event(e braid.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Kind == braid.LaneDown {
		r.lost++
	}
}

// round sends messages and puts, during which a rail is cut, and looks at the memory.
func (r *rcRun) round(round int, victim string) {
	key := r.mem.Key(braid.Write | braid.Read)
	data := make([]byte, 4096)
	for i := range 200 {
		if i == 50 {
			r.wires.set(victim, true)
		}
		for k := range data {
			data[k] = byte(round + i%rcSlots)
		}
		if err := errors.Join(r.a.SendAM(r.ctx, 1, binary.LittleEndian.AppendUint32(nil, r.sent), data[:i*20]),
			r.a.Put(r.ctx, data, key, uint64(i%rcSlots)*4096)); err != nil {
			r.t.Fatal(err)
		}
		r.sent++
	}
	back := make([]byte, rcSlots*4096)
	if err := errors.Join(r.a.Flush(r.ctx), r.a.Get(r.ctx, back, key, 0)); err != nil {
		r.t.Fatal(err)
	}
	for i, b := range back {
		if b != byte(round+i/4096) {
			r.t.Fatalf("round %d: byte %d is %d", round, i, b)
		}
	}
	r.wires.set(victim, false)
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
	if _, err := newWorker(t, n).Dial(testContext(t), "127.0.0.1:9"); err == nil || !strings.Contains(err.Error(), "AllowSecret") {
		t.Errorf("a secret over packets that anybody can forge: %v", err)
	}
	over := braid.Options{Transports: []transport.Transport{softrc.New(softrc.Options{RC: rc.Options{AllowSecret: true}})}, Secret: braid.NewSecret()}
	dialer, err := braid.Open(over)
	if err != nil {
		t.Fatal(err)
	}
	defer dialer.Close()
	ln, err := newWorker(t, n).Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newWorker(t, dialer).Dial(testContext(t), ln.Addr()); err == nil {
		t.Error("a listener that does not allow it let somebody in")
	}
	open, err := braid.Open(braid.Options{Transports: []transport.Transport{softrc.New(softrc.Options{})}})
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if _, err := newWorker(t, open).Listen("192.0.2.1:0"); err == nil {
		t.Error("an address beyond loopback without trust in the network")
	}
	p := connect(t, over, over)
	if err := p.a.Flush(testContext(t)); err != nil {
		t.Error(err)
	}
}

// TestRCFaults: a cut of the only lane by Options.Faults is over when its time is, though nobody drives the injector, and the endpoint goes on.
func TestRCFaults(t *testing.T) {
	inj := injector(t)
	p := connect(t, braid.Options{Settings: rcSettings(t), Faults: inj}, braid.Options{Settings: rcSettings(t)})
	inj.Cut("", fault.Reset, 200*time.Millisecond)
	if err := p.a.SendAM(testContext(t), 1, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := p.a.Flush(testContext(t)); err != nil && !errors.Is(err, braid.ErrHandler) {
		t.Errorf("after the cut: %v", err)
	}
}

// TestRCNobody: who dials rc where nobody speaks it learns that, although what ran out is the time for the dial.
func TestRCNobody(t *testing.T) {
	n, err := braid.Open(braid.Options{Settings: rcSettings(t), Times: braid.Times{Handshake: 3 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	const want = "is an rc listener of braid there, and do UDP packets pass?"
	if _, err = newWorker(t, n).Dial(testContext(t), "127.0.0.1:9"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("nobody there: %v, want %q", err, want)
	}
}

func rcSettings(t *testing.T) *braid.Settings {
	t.Helper()
	s := &braid.Settings{}
	if err := s.Set("transports", "rc", "the test"); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFenceOverMixedLanes: what is put before a fence goes over a lane of TCP and one of RDMA, which is cut now and then.
func TestFenceOverMixedLanes(t *testing.T) {
	wires := &cables{cut: map[netip.Addr]bool{}}
	rails := []string{"127.0.0.1", "127.0.0.2"}
	p := connect(t, braid.Options{Transports: wires.carriers(true), Rails: rails}, braid.Options{Transports: wires.carriers(true), Rails: rails})
	flagBehindData(t, p, func(ep *braid.Endpoint) { ep.Fence() }, func(i int) {
		switch i % 10 {
		case 4:
			wires.set(rails[1], true)
		case 6:
			wires.set(rails[1], false)
			waitFor(t, "both lanes", func() bool { return len(p.a.Lanes()) == 2 })
		}
	})
}
