package braid_test

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// A flag that is put behind a fence is seen only after the data, which goes over two lanes; and so does a message.
func TestFence(t *testing.T) {
	for name, fence := range map[string]func(*braid.Endpoint){
		"endpoint": func(ep *braid.Endpoint) { ep.Fence() },
		"worker":   func(ep *braid.Endpoint) { ep.Worker().Fence() },
	} {
		t.Run(name, func(t *testing.T) {
			p := connect(t, braid.Options{}, braid.Options{Rails: []string{"127.0.0.1", "127.0.0.2"}})
			flagBehindData(t, p, fence, func(int) {})
		})
	}
}

// flagBehindData puts data, a flag behind a fence, and a message behind another, and looks whether the flag is ever here first.
func flagBehindData(t *testing.T, p *pair, fence func(*braid.Endpoint), round func(int)) {
	ctx := testContext(t)
	mem, err := p.bn.Alloc(2 << 20)
	if err != nil {
		t.Fatal(err)
	}
	key := mem.Key(braid.Write)
	const flag, rounds = 1 << 20, 30
	told := make(chan byte, rounds)
	p.bw.HandleAM(1, func(m *braid.Message) { told <- m.Payload()[0] })
	lanes := 0 // on a busy machine the second one may come late
	for _, l := range p.a.Lanes() {
		if l.State == "up" {
			lanes++
		}
	}
	data := make([]byte, 1<<20)
	for i := range byte(rounds) {
		for j := range data {
			data[j] = i
		}
		round(int(i))
		big := p.a.PostPut(data, key, 0)
		fence(p.a)
		if err := p.a.PostPut(binary.LittleEndian.AppendUint64(nil, uint64(i)+1), key, flag).Wait(ctx); err != nil {
			t.Fatal(err)
		}
		fence(p.a)
		if err := p.a.SendAM(ctx, 1, nil, []byte{i}); err != nil {
			t.Fatal(err)
		}
		for mem.Load64(flag) <= uint64(i) {
			if ctx.Err() != nil {
				t.Fatal("the flag does not come")
			}
			time.Sleep(10 * time.Microsecond)
		}
		if !bytes.Equal(mem.Bytes()[:1<<20], data) {
			t.Fatalf("round %d: the flag is here before the data", i)
		}
		p.bw.Progress() // the race detector does not see that it was read before it is written again
		if n := <-told; n != i {
			t.Fatalf("message %d instead of %d", n, i)
		}
		if err := big.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.a.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if s := p.a.Stats(); s.Fenced == 0 && s.Handovers == 0 && lanes == 2 {
		t.Error("no operation waited for a fence: nothing was tested")
	}
}

// A fence may be called from handlers and callbacks, and makes no progress by itself.
func TestRow7_FenceInsideCallbacks(t *testing.T) {
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{Rails: []string{"127.0.0.1", "127.0.0.2"}})
	mem, err := p.an.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	key := mem.Key(braid.Write)
	var inside atomic.Int32
	src := make([]byte, 300_000)
	ended := make(chan error, 64)
	p.bw.HandleAM(1, func(m *braid.Message) {
		if inside.Add(1) > 1 {
			t.Error("a handler runs inside another")
		}
		defer inside.Add(-1)
		ep := m.Endpoint()
		ep.PostPut(src, key, 0).Then(func(err error) {
			ep.Fence()
			ep.Worker().Fence()
			ep.PostPut(src[:8], key, 0).Then(func(err error) { ended <- err })
		})
		ep.Fence()
		ep.PostAM(2, nil, src).Then(func(err error) { ended <- err })
	})
	p.aw.HandleAM(2, func(*braid.Message) {})
	for range 20 {
		if err := p.a.SendAM(ctx, 1, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	for range 40 {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
		case <-ctx.Done():
			t.Fatal("what was posted behind a fence in a callback does not end")
		}
	}
}
