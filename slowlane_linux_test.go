package braid_test

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/tcp"
)

// late is a network with long queues while hold is set: the peer's system acknowledges, bit by bit, what was sent, but nothing that
// the peer says arrives. swallow loses what is sent, and no more is acknowledged.
type late struct {
	hold, swallow atomic.Bool
	reached       atomic.Uint64
}

type lateStream struct {
	transport.Stream
	net *late
}

func (s *lateStream) Read(p []byte) (int, error) {
	if s.net.hold.Load() {
		return 0, transport.ErrAgain
	}
	return s.Stream.Read(p)
}

// Reached grows with each look: new work avoids a lane that is late, so that what makes it grow is what stands in the queue.
func (s *lateStream) Reached() uint64 {
	if s.net.hold.Load() && !s.net.swallow.Load() {
		return s.net.reached.Add(1)
	}
	return s.net.reached.Load() + 1
}

func (s *lateStream) Writev(p [][]byte) (n int, err error) {
	if !s.net.swallow.Load() {
		return s.Stream.Writev(p)
	}
	for _, b := range p {
		n += len(b)
	}
	return n, nil
}

// perRail is such a network for each rail of the peer.
type perRail map[string]*late

func (r perRail) Wrap(s transport.Stream, _, remote string) transport.Stream {
	host, _, _ := net.SplitHostPort(remote)
	if l := r[host]; l != nil {
		return &lateStream{Stream: s, net: l}
	}
	return s
}

// TestLoadedLane: a lane whose answers are late is not given up while the peer's system takes more of what was sent on it, though the peer
// answers on another one at once. When that ends it is.
func TestLoadedLane(t *testing.T) {
	var down atomic.Int32
	rails := perRail{"127.0.0.1": {}, "127.0.0.2": {}}
	opts := braid.Options{
		Transports: []transport.Transport{tcp.New(tcp.Options{Wrapper: rails})}, Rails: []string{"127.0.0.1", "127.0.0.2"},
		Times: braid.Times{Probe: 60 * time.Millisecond, Lost: 200 * time.Millisecond},
		OnEvent: func(e braid.Event) {
			if e.Kind == braid.LaneDown {
				down.Add(1)
			}
		},
	}
	// What the peer itself asks on an idle lane is held, too: it would be right to give it up.
	p := connect(t, opts, braid.Options{Rails: opts.Rails, Times: braid.Times{Keepalive: time.Minute}})
	if !eventually(func() bool { return len(p.a.Lanes()) == 2 }) {
		t.Fatal("not two lanes")
	}
	mem, err := p.bn.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	key := mem.Key(braid.Write)
	word := make([]byte, 8)
	trickle := func(d time.Duration) {
		for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
			p.a.PostPut(word, key, 0).Release()
			p.a.PostPut(word, key, 8).Release()
		}
	}
	trickle(50 * time.Millisecond)
	slow, most := (*late)(nil), uint64(0) // of the lane that puts go on
	for _, l := range p.a.Lanes() {
		if host, _, _ := net.SplitHostPort(l.Remote); l.PostedBytes >= most {
			slow, most = rails[host], l.PostedBytes
		}
	}
	before := down.Load()
	slow.hold.Store(true)
	trickle(time.Second)
	if n := down.Load() - before; n > 0 {
		t.Errorf("%d lanes were given up though what was sent reached the peer's system", n)
	}
	slow.hold.Store(false)
	if err := p.a.Flush(testContext(t)); err != nil {
		t.Error(err)
	}
	slow.swallow.Store(true)
	slow.hold.Store(true)
	for end := time.Now().Add(patience); down.Load() == before && time.Now().Before(end); {
		trickle(10 * time.Millisecond)
	}
	if down.Load() == before {
		t.Error("a lane that carries nothing is not given up")
	}
	slow.swallow.Store(false)
	slow.hold.Store(false)
	if err := p.a.Flush(testContext(t)); err != nil {
		t.Error(err)
	}
}
