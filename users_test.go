package braid_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/mix"
	"github.com/openbraid/braid/transport/shm"
	"github.com/openbraid/braid/transport/softrc"
	"github.com/openbraid/braid/transport/tcp"
)

// What users of other libraries have met, where one process is enough to see it. The others are in test/multiproc, test/sim and internal/worker.

// TestA10_CanceledGetIsNotWritten: a get whose context is over gives its buffer back; what the peer still answers is not written there.
func TestA10_CanceledGetIsNotWritten(t *testing.T) {
	tidy(t)
	p := connect(t, braid.Options{}, braid.Options{})
	mem, err := p.bn.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	key := mem.Key(braid.Read)
	dst, poison := make([]byte, 1<<20), bytes.Repeat([]byte{0xa5}, 1<<20)
	canceled := 0
	for i := range 200 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*5*time.Microsecond)
		err := p.a.Get(ctx, dst, key, 0)
		cancel()
		if err == nil {
			continue
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		canceled++
		copy(dst, poison)
		if err := p.a.Flush(testContext(t)); err != nil { // what was asked for is answered by then, or dropped
			t.Fatal(err)
		}
		if !bytes.Equal(dst, poison) {
			t.Fatalf("get %d was canceled, and written later", i)
		}
	}
	if canceled == 0 {
		t.Error("none was canceled: the test missed its moment")
	}
}

// TestA11_CancelLargeGetHalfWay: a get of 64 MiB that is given up half way ends with its bytes or with the context's error, and the next one works.
func TestA11_CancelLargeGetHalfWay(t *testing.T) {
	tidy(t)
	p := connect(t, braid.Options{}, braid.Options{})
	mem, err := p.bn.Alloc(64 << 20)
	if err != nil {
		t.Fatal(err)
	}
	copy(mem.Bytes(), tagBytes(64<<20, 0))
	key, dst := mem.Key(braid.Read), make([]byte, 64<<20)
	begun := time.Now()
	if err := p.a.Get(testContext(t), dst, key, 0); err != nil {
		t.Fatal(err)
	}
	whole := time.Since(begun)
	for i := range 8 {
		clear(dst)
		ctx, cancel := context.WithTimeout(context.Background(), whole*time.Duration(i)/8)
		err := p.a.Get(ctx, dst, key, 0)
		cancel()
		switch {
		case err == nil && !bytes.Equal(dst, mem.Bytes()):
			t.Fatal("it says that it is whole, and is not")
		case err != nil && !errors.Is(err, context.DeadlineExceeded):
			t.Fatal(err)
		}
	}
	clear(dst)
	if err := p.a.Get(testContext(t), dst, key, 0); err != nil || !bytes.Equal(dst, mem.Bytes()) {
		t.Error("the get after those:", err)
	}
}

// TestA19_EachModeOnEachTransport: an endpoint comes up, works and closes in each error mode over each set of transports.
func TestA19_EachModeOnEachTransport(t *testing.T) {
	sets := []struct {
		name string
		addr string
		make func() transport.Transport
	}{
		{"tcp", "127.0.0.1:0", func() transport.Transport { return tcp.New(tcp.Options{}) }},
	}
	if runtime.GOOS == "linux" {
		rc := func() transport.Transport { return softrc.New(softrc.Options{}) }
		memory := func() transport.Transport { return shm.New(shm.Options{}) }
		both := func(first, second transport.Transport) transport.Transport {
			return mix.New(first, mix.Part{Transport: second, Takes: func(host string) bool { return host == "127.0.0.2" }})
		}
		sets = append(sets, []struct {
			name string
			addr string
			make func() transport.Transport
		}{
			{"rc", "127.0.0.1:0", rc},
			{"shm", "127.0.0.1:0", memory},
			{"tcp and rc", "127.0.0.1:0", func() transport.Transport { return both(tcp.New(tcp.Options{}), rc()) }},
			{"tcp and shm", "127.0.0.1:0", func() transport.Transport { return both(tcp.New(tcp.Options{}), memory()) }},
			{"rc and shm", "127.0.0.1:0", func() transport.Transport { return both(rc(), memory()) }},
		}...)
	}
	for _, s := range sets {
		for _, mode := range []braid.ErrorMode{braid.Failover, braid.Peer, braid.None} {
			t.Run(fmt.Sprintf("%s %v", s.name, mode), func(t *testing.T) {
				tidy(t)
				o := func() braid.Options {
					return braid.Options{ErrorMode: mode, Transports: []transport.Transport{s.make()}, Rails: []string{"127.0.0.1", "127.0.0.2"}}
				}
				n, err := braid.Open(o())
				if err != nil {
					t.Fatal(err)
				}
				defer n.Close()
				w := newWorker(t, n)
				got := make(chan []byte, 1)
				w.HandleAM(1, func(m *braid.Message) { got <- bytes.Clone(m.Payload()) })
				ln, err := w.Listen(s.addr)
				if err != nil {
					t.Fatal(err)
				}
				c, err := braid.Open(o())
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				ctx := testContext(t)
				ep, err := newWorker(t, c).Dial(ctx, ln.Addr())
				if err != nil {
					t.Fatal(err)
				}
				if ep.Mode() != mode || len(ep.Lanes()) != 2 {
					t.Errorf("mode %v, want %v; %d lanes", ep.Mode(), mode, len(ep.Lanes()))
				}
				if err := errors.Join(ep.SendAM(ctx, 1, nil, []byte("hello")), ep.Flush(ctx), ep.Close(ctx)); err != nil {
					t.Error(err)
				}
				if m := <-got; string(m) != "hello" {
					t.Errorf("%q came", m)
				}
			})
		}
	}
}

// TestA21_OpenAndCloseFromBothEnds: 500 times an endpoint is opened and closed from both ends at once. Each close ends, with nothing worse than that the other
// side was first, and nothing is left.
func TestA21_OpenAndCloseFromBothEnds(t *testing.T) {
	tidy(t)
	p := connect(t, braid.Options{}, braid.Options{})
	times := 500
	if testing.Short() {
		times = 100
	}
	for i := range times {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second) // of each: all together take as long as the machine is busy
		a, err := p.aw.Dial(ctx, p.ln.Addr())
		if err != nil {
			t.Fatalf("dial %d: %v", i, err)
		}
		b, err := p.ln.Accept(ctx)
		if err != nil {
			t.Fatalf("accept %d: %v", i, err)
		}
		a.PostAM(1, nil, []byte("x")).Release()
		ends := make(chan error, 2)
		for _, ep := range []*braid.Endpoint{a, b} {
			go func() { ends <- ep.Close(ctx) }()
		}
		for range 2 {
			if err := <-ends; err != nil && !errors.Is(err, braid.ErrPeerClosed) && !errors.Is(err, braid.ErrHandler) {
				t.Fatalf("close %d: %v", i, err)
			}
		}
		cancel()
	}
}

// TestA2_AbortIsTold: who ends an endpoint by force right behind much that he has posted loses what was not there yet, and the peer is told: with an error that says what happened, and never with
// a message that is shorter than it was, or one after a gap.
func TestA2_AbortIsTold(t *testing.T) {
	for i := range 20 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			tidy(t)
			const size, messages = 300_000, 64
			told := make(chan error, 16)
			p := connect(t, braid.Options{}, braid.Options{OnEvent: func(e braid.Event) {
				if e.Kind == braid.Failed {
					told <- e.Err
				}
			}})
			var mu sync.Mutex
			var wrong error
			next := 0
			p.bw.HandleAM(1, func(m *braid.Message) {
				mu.Lock()
				defer mu.Unlock()
				got := m.Payload()
				if want := byte(next); wrong == nil && (len(got) != size || got[0] != want || got[size-1] != want) {
					wrong = fmt.Errorf("message %d has %d bytes, of message %d", next, len(got), got[0])
				}
				next++
			})
			for k := range messages {
				p.a.PostAM(1, nil, bytes.Repeat([]byte{byte(k)}, size)).Release()
			}
			time.Sleep(time.Duration(i) * 300 * time.Microsecond) // any moment will do
			p.a.Abort()
			ctx := testContext(t)
			select {
			case err := <-told:
				if !errors.Is(err, braid.ErrPeerClosed) && !errors.Is(err, braid.ErrPeerFailed) {
					t.Errorf("told of %v", err)
				}
			case <-ctx.Done():
				t.Fatal("the peer is not told")
			}
			if err := p.b.SendAM(ctx, 2, nil, nil); !errors.Is(err, braid.ErrPeerClosed) && !errors.Is(err, braid.ErrPeerFailed) {
				t.Errorf("SendAM: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			if wrong != nil || next > messages {
				t.Errorf("%d messages came: %v", next, wrong)
			}
		})
	}
}
