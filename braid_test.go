package braid_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// pair is two nodes in this process that are connected over loopback.
type pair struct {
	an, bn *braid.Node
	aw, bw *braid.Worker
	ln     *braid.Listener
	a, b   *braid.Endpoint
}

func connect(t testing.TB, ao, bo braid.Options) *pair {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	p := &pair{}
	var err error
	if p.bn, err = braid.Open(bo); err != nil {
		t.Fatal(err)
	}
	if p.an, err = braid.Open(ao); err != nil {
		t.Fatal(err)
	}
	p.aw, p.bw = newWorker(t, p.an), newWorker(t, p.bn)
	t.Cleanup(func() { p.an.Close(); p.bn.Close() })
	if p.ln, err = p.bw.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	if p.a, err = p.aw.Dial(ctx, p.ln.Addr()); err != nil {
		t.Fatal(err)
	}
	if p.b, err = p.ln.Accept(ctx); err != nil {
		t.Fatal(err)
	}
	return p
}

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestPutMessageFlushClose(t *testing.T) {
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{Rails: []string{"127.0.0.1", "127.0.0.2"}})
	if n := len(p.a.Lanes()); n != 2 {
		t.Fatalf("%d lanes", n)
	}
	got := make(chan []byte, 1)
	p.bw.HandleAM(7, func(m *braid.Message) { got <- append(append([]byte(nil), m.Header()...), m.Payload()...) })
	mem, err := p.bn.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	key, err := braid.ParseRKey(mem.Key(braid.Write).Bytes())
	if err != nil {
		t.Fatal(err)
	}
	big := bytes.Repeat([]byte("braid "), 100_000)
	if err := p.a.Put(ctx, big, key, 16); err != nil {
		t.Fatal(err)
	}
	if err := p.a.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	p.bw.Progress() // the race detector does not see what the flush learned through a socket
	if !bytes.Equal(mem.Bytes()[16:16+len(big)], big) {
		t.Fatal("memory differs")
	}
	back := make([]byte, len(big))
	if err := p.a.Get(ctx, back, mem.Key(braid.Read), 16); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(back, big) {
		t.Fatal("what was read differs from what was written")
	}
	if err := p.a.Get(ctx, back[:8], key, 0); !errors.Is(err, braid.ErrAccess) {
		t.Fatal("a key without the right to read:", err)
	}
	if err := p.a.SendAM(ctx, 7, []byte("head "), []byte("body")); err != nil {
		t.Fatal(err)
	}
	if s := string(<-got); s != "head body" {
		t.Fatal(s)
	}
	if err := p.a.SendAM(ctx, 7, nil, big); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(<-got, big) {
		t.Fatal("message differs")
	}
	if err := p.a.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := p.a.SendAM(ctx, 7, nil, nil); !errors.Is(err, braid.ErrClosed) {
		t.Fatal(err)
	}
	if err := p.b.Flush(ctx); err != nil && !errors.Is(err, braid.ErrPeerClosed) {
		t.Fatal(err)
	}
}

// TestLargeMessageUsesAllLanes: its parts go over both lanes, and what was sent behind it arrives behind it.
func TestLargeMessageUsesAllLanes(t *testing.T) {
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{Rails: []string{"127.0.0.1", "127.0.0.2"}})
	got := make(chan int, 10)
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<19) // 8 MiB
	p.bw.HandleAM(7, func(m *braid.Message) {
		if len(m.Payload()) > 8 && !bytes.Equal(m.Payload(), big) {
			t.Error("the large message differs")
		}
		got <- len(m.Payload())
	})
	for range 3 {
		large := p.a.PostAM(7, []byte("large"), big)
		small := p.a.PostAM(7, nil, []byte("small"))
		if err := errors.Join(large.Wait(ctx), small.Wait(ctx)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.a.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		if n := <-got; n != []int{len(big), 5}[i%2] {
			t.Fatalf("message %d has %d bytes", i, n)
		}
	}
	for _, l := range p.a.Lanes() {
		if l.PostedBytes < uint64(len(big)/8) { // how much depends on what each brings, on a busy machine
			t.Errorf("lane %s carried %d of %d bytes", l.Name, l.PostedBytes, 3*len(big))
		}
	}
}
