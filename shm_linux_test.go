package braid_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/self"
	"github.com/openbraid/braid/transport/shm"
	"github.com/openbraid/braid/transport/tcp"
)

// knife cuts all lanes of a kind, on both sides.
type knife struct{ tcp, shm atomic.Int32 } // a shm.Fault

func (k *knife) Wrap(s transport.Stream, _, _ string) transport.Stream { return &cutStream{s, k} }

type cutStream struct {
	transport.Stream
	k *knife
}

func (s *cutStream) sound() error {
	switch shm.Fault(s.k.tcp.Load()) {
	case shm.Silent:
		return transport.ErrAgain
	case shm.Reset:
		return transport.ErrReset
	case shm.Sound, shm.Mute, shm.Deaf, shm.Hide, shm.Apart: // the last four are not for a stream
	}
	return nil
}

func (s *cutStream) Read(p []byte) (int, error) {
	if err := s.sound(); err != nil {
		return 0, err
	}
	return s.Stream.Read(p)
}

func (s *cutStream) Writev(p [][]byte) (int, error) {
	if err := s.sound(); err != nil {
		return 0, err
	}
	return s.Stream.Writev(p)
}

func (k *knife) transports() []transport.Transport {
	fault := func(string, string) shm.Fault { return shm.Fault(k.shm.Load()) }
	return []transport.Transport{tcp.New(tcp.Options{Wrapper: k}), self.New(self.Options{}), shm.New(shm.Options{Fault: fault})}
}

// kinds says which lanes there are.
func kinds(ep *braid.Endpoint) string {
	var list []string
	for _, l := range ep.Lanes() {
		kind := "tcp"
		if strings.Contains(l.Local+l.Remote, "shm") {
			kind = "shm"
		}
		list = append(list, kind)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// prefersShm: what there is to do, of at least so many bytes, went through shared memory.
func prefersShm(t *testing.T, ep *braid.Endpoint, least uint64) {
	for _, l := range ep.Lanes() {
		if strings.Contains(l.Remote, "shm") != (l.PostedBytes >= least) {
			t.Errorf("with both lanes up, on %s went %d bytes", l.Name, l.PostedBytes)
		}
	}
}

// overTCP is how many bytes went over lanes of the network that are there.
func overTCP(ep *braid.Endpoint) (n uint64) {
	for _, l := range ep.Lanes() {
		if !strings.Contains(l.Remote, "shm") {
			n += l.PostedBytes
		}
	}
	return n
}

// cut is one way to lose a lane, and the lane that is left.
type cut struct {
	name string
	cut  *atomic.Int32
	left string
	how  shm.Fault
}

func cuts(k *knife) []cut {
	return []cut{
		{"tcp is reset", &k.tcp, "shm", shm.Reset}, {"shm is reset", &k.shm, "tcp", shm.Reset},
		{"tcp is silent", &k.tcp, "shm", shm.Silent}, {"shm is silent", &k.shm, "tcp", shm.Silent},
	}
}

// TestB17_ShmCarriesOn: a peer on this host gets a lane through shared memory by itself, beside the one over the network, and what there is to do goes
// there. When one of the two dies, in whichever way, the other carries on, and the lost one comes back. Nothing is lost, doubled or out of order.
func TestB17_ShmCarriesOn(t *testing.T) {
	ctx := testContext(t)
	k := &knife{}
	p := connect(t, braid.Options{Transports: k.transports()}, braid.Options{Transports: k.transports()})
	if got := kinds(p.a); got != "shm tcp" {
		t.Fatalf("the lanes after Dial: %q (%v)", got, p.a.Lanes())
	}
	var mu sync.Mutex
	var got []uint32
	p.bw.HandleAM(1, func(m *braid.Message) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, binary.LittleEndian.Uint32(m.Header()))
	})
	const slot, slots = 8 << 10, 64
	mem, lent := bothKinds(t, p, slots*slot)
	key, direct, sent := mem.Key(braid.Write|braid.Read), lent.Key(braid.Write), uint32(0)
	say := func(n int) {
		t.Helper()
		buf, head := make([]byte, slot), make([]byte, 4)
		for range n {
			sent++
			binary.LittleEndian.PutUint32(head, sent)
			binary.LittleEndian.PutUint32(buf, sent)
			if err := errors.Join(p.a.Put(ctx, buf, key, uint64(sent%slots)*slot), p.a.Put(ctx, buf, direct, uint64(sent%slots)*slot)); err != nil {
				t.Fatal(err)
			}
			if err := p.a.SendAM(ctx, 1, head, buf[:sent%3000]); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.a.Flush(ctx); err != nil {
			t.Fatal(err)
		}
	}
	say(100)
	prefersShm(t, p.a, 100*slot)
	for _, c := range cuts(k) {
		c.cut.Store(int32(c.how))
		for end := time.Now().Add(15 * time.Second); kinds(p.a) != c.left || kinds(p.b) != c.left; {
			if say(5); time.Now().After(end) {
				t.Fatalf("%s: the lanes are %q and %q", c.name, kinds(p.a), kinds(p.b))
			}
		}
		say(50)
		c.cut.Store(0)
		if !eventually(func() bool { return kinds(p.a) == "shm tcp" && kinds(p.b) == "shm tcp" }) {
			t.Fatalf("%s: it does not come back: %q and %q", c.name, kinds(p.a), kinds(p.b))
		}
		say(50)
		before := overTCP(p.a)
		if say(50); overTCP(p.a) > before+4096 {
			t.Errorf("%s: with both lanes up again, %d bytes go over the network", c.name, overTCP(p.a)-before)
		}
	}
	if err := p.a.Close(ctx); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if !eventually(func() bool { return len(got) == int(sent) }) {
		t.Fatalf("%d messages of %d", len(got), sent)
	}
	inOrder(t, got)
	lastPuts(t, mem.Bytes(), slot, slots, sent)
	lastPuts(t, lent.Bytes(), slot, slots, sent)
	if n := p.a.Stats().Direct; n < 100 || n == uint64(sent) {
		t.Errorf("of %d puts %d were direct", sent, n)
	}
}

// bothKinds is memory of b's into which puts go by frames, and such where they go directly while the lane through shared memory is up.
func bothKinds(t *testing.T, p *pair, size int) (framed, lent *braid.Memory) {
	t.Helper()
	framed, err := p.bn.Register(make([]byte, size))
	if err != nil {
		t.Fatal(err)
	}
	if lent, err = p.bn.Alloc(size); err != nil {
		t.Fatal(err)
	}
	return framed, lent
}

// lastPuts: each slot has the newest put to it.
func lastPuts(t *testing.T, mem []byte, slot, slots int, sent uint32) {
	t.Helper()
	for s := sent - uint32(slots) + 1; s <= sent; s++ {
		if v := binary.LittleEndian.Uint32(mem[int(s)%slots*slot:]); v != s {
			t.Errorf("slot %d has put %d, want %d", int(s)%slots, v, s)
		}
	}
}

func inOrder(t *testing.T, got []uint32) {
	t.Helper()
	for i, v := range got {
		if v != uint32(i+1) {
			t.Fatalf("message %d comes as number %d", v, i+1)
		}
	}
}

// TestOneLaneIsOne: who wants one lane gets no second one through shared memory.
func TestOneLaneIsOne(t *testing.T) {
	k := &knife{}
	p := connect(t, braid.Options{Transports: k.transports(), Lanes: 1}, braid.Options{Transports: k.transports()})
	if got := kinds(p.a); got != "tcp" {
		t.Errorf("the lanes: %q", got)
	}
}

// TestShmAlone: without a network.
func TestShmAlone(t *testing.T) {
	ctx := testContext(t)
	o := braid.Options{Transports: []transport.Transport{shm.New(shm.Options{})}}
	p := connect(t, o, o)
	heard := make(chan string, 1)
	p.bw.HandleAM(1, func(m *braid.Message) { heard <- fmt.Sprintf("%s %d", m.Header(), len(m.Payload())) })
	if err := p.a.SendAM(ctx, 1, []byte("large"), make([]byte, 3<<20)); err != nil {
		t.Fatal(err)
	}
	if got := <-heard; got != "large 3145728" {
		t.Errorf("heard %q", got)
	}
	if err := p.a.Close(ctx); err != nil {
		t.Fatal(err)
	}
}
