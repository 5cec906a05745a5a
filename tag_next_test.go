package braid_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
)

// TestNextTag: a message that is waited for and taken is the waiter's alone, in its turn among the receives, small, kept or offered, and has its true size.
func TestNextTag(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	for _, n := range []int{0, 8, 5000, 300_000} {
		type got struct {
			m   *braid.TagMessage
			err error
		}
		src, taken := tagBytes(n, byte(n)), make(chan got, 1)
		go func() {
			m, err := p.bw.NextTag(ctx, 0x10, 0xf0)
			taken <- got{m, err}
		}()
		sent := p.a.PostTagSync(0x13, src) // before or after who waits
		g := <-taken
		if g.err != nil || g.m.Tag != 0x13 || g.m.Len != n || g.m.From != p.b {
			t.Fatalf("%d bytes: %+v, %v", n, g.m, g.err)
		}
		if done, _ := sent.Test(); done {
			t.Errorf("%d bytes: taken is not received", n)
		}
		if _, ok := p.bw.ProbeTag(0, braid.AnyTag); ok {
			t.Errorf("%d bytes: somebody else sees it", n)
		}
		buf := make([]byte, g.m.Len)
		if info, err := g.m.Recv(ctx, buf); err != nil || info.Len != n || !bytes.Equal(buf, src) {
			t.Fatalf("%d bytes: %+v, %v", n, info, err)
		}
		if err := sent.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := g.m.Recv(ctx, buf); !errors.Is(err, braid.ErrRequest) {
			t.Errorf("a second time: %v", err)
		}
	}
}

// TestNextTagEnds: who waits for a message goes when his time is over, and takes none after that; or when the endpoint is.
func TestNextTagEnds(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if m, err := p.bw.NextTag(short, 1, braid.ExactTag); m != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(m, err)
	}
	if err := p.a.SendTag(ctx, 1, []byte("late")); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 8)
	if info, err := p.bw.RecvTag(ctx, buf, 1, braid.ExactTag); err != nil || string(buf[:info.Len]) != "late" {
		t.Fatal(info, err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := p.b.NextTag(ctx, 1, braid.ExactTag)
		ended <- err
	}()
	p.a.Abort()
	if err := <-ended; !errors.Is(err, braid.ErrPeerFailed) {
		t.Error(err)
	}
	if _, err := p.a.NextTag(ctx, 1, braid.ExactTag); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// TestTagsOfOneEndpoint: what is probed, taken and waited for of one endpoint is its own, also behind what others have sent; and what waits is listed in order.
func TestTagsOfOneEndpoint(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	other, err := p.aw.Dial(ctx, p.ln.Addr())
	if err != nil {
		t.Fatal(err)
	}
	for i, ep := range []*braid.Endpoint{other, p.a, other} {
		if err := errors.Join(ep.SendTag(ctx, uint64(i), []byte{byte(i)}), ep.Flush(ctx)); err != nil {
			t.Fatal(err)
		}
	}
	var tags []uint64
	for info := range p.bw.WaitingTags() {
		tags = append(tags, info.Tag)
	}
	if !slices.Equal(tags, []uint64{0, 1, 2}) {
		t.Errorf("%v wait", tags)
	}
	if info, ok := p.b.ProbeTag(0, braid.AnyTag); !ok || info.Tag != 1 || info.From != p.b {
		t.Errorf("%+v, %v", info, ok)
	}
	if _, ok := p.b.ProbeTag(2, braid.ExactTag); ok {
		t.Error("it is another one's")
	}
	if m := p.b.TakeTag(2, braid.ExactTag); m != nil {
		t.Error("it is another one's")
	}
	m := p.b.TakeTag(0, braid.AnyTag)
	if m == nil || m.Tag != 1 {
		t.Fatalf("%+v", m)
	}
	if m, err := p.bw.NextTag(ctx, 2, braid.ExactTag); err != nil || m.From == p.b || m.Tag != 2 {
		t.Errorf("%+v, %v", m, err)
	}
	if n := len(slices.Collect(p.bw.Endpoints())); n != 2 {
		t.Errorf("%d endpoints", n)
	}
}

// TestNextTagUnderCuts: each message is taken once, in order, while both lanes are cut in turns.
func TestNextTagUnderCuts(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	faults, rails := injector(t), []string{"127.0.0.1", "127.0.0.2"}
	heals(t, faults)
	times := braid.Times{RedialMin: time.Millisecond, RedialMax: 20 * time.Millisecond, Probe: 5 * time.Millisecond, Lost: 20 * time.Millisecond, Keepalive: 100 * time.Millisecond, Peer: 500 * time.Millisecond}
	p := connect(t, braid.Options{Rails: rails, Faults: faults, Times: times}, braid.Options{Rails: rails, Times: times})
	for i := range uint32(60) {
		if i%10 == 5 {
			faults.Cut(rails[i/10%2], fault.Kind(i/20%2), 2*time.Millisecond)
		}
		n := cutSize(0, i)
		sent := p.a.PostTag(uint64(i), tagBytes(n, byte(i)))
		m, err := p.bw.NextTag(ctx, 0, braid.AnyTag)
		if err != nil || m.Tag != uint64(i) || m.Len != n {
			t.Fatalf("message %d: %+v, %v", i, m, err)
		}
		buf := make([]byte, n)
		if _, err := m.Recv(ctx, buf); err != nil || !bytes.Equal(buf, tagBytes(n, byte(i))) {
			t.Fatalf("message %d: %v", i, err)
		}
		if err := sent.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
}
