package braid_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
)

// TestTagsUnderCuts: of many messages, small and large, plain and synchronous, each is received once, in order for each tag, while both lanes are cut
// again and again.
func TestTagsUnderCuts(t *testing.T) { schemes(t, tagsUnderCuts) }

// schemes runs a test for both ways by which what is large comes.
func schemes(t *testing.T, test func(t *testing.T, set *braid.Settings)) {
	for _, by := range []string{"get", "put"} {
		t.Run(by, func(t *testing.T) {
			tidy(t)
			test(t, rendezvous(t, by))
		})
	}
}

func rendezvous(t testing.TB, by string) *braid.Settings {
	set := new(braid.Settings)
	if err := set.Set("rendezvous", by, "the test"); err != nil {
		t.Fatal(err)
	}
	return set
}

func tagsUnderCuts(t *testing.T, set *braid.Settings) {
	const tags, each = 4, 100
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	faults := injector(t)
	rails := []string{"127.0.0.1", "127.0.0.2"}
	times := braid.Times{RedialMin: time.Millisecond, RedialMax: 20 * time.Millisecond, Probe: 5 * time.Millisecond, Lost: 20 * time.Millisecond, Keepalive: 100 * time.Millisecond, Peer: 500 * time.Millisecond}
	p := connect(t, braid.Options{Settings: set, Rails: rails, Faults: faults, Times: times}, braid.Options{Rails: rails, Times: times})
	var busy sync.WaitGroup
	for tag := range uint64(tags) {
		busy.Go(func() {
			buf := make([]byte, 300_000)
			for i := range uint32(each) {
				info, err := p.bw.RecvTag(ctx, buf, tag, braid.ExactTag)
				if err != nil {
					t.Errorf("tag %d, message %d: %v", tag, i, err)
					return
				}
				n := cutSize(tag, i)
				if got := binary.LittleEndian.Uint32(buf); got != i || info.Len != n || !bytes.Equal(buf[4:n], tagBytes(n-4, byte(i))) {
					t.Errorf("tag %d: message %d of %d bytes came as number %d of %d", tag, i, n, got, info.Len)
					return
				}
			}
		})
		busy.Go(func() {
			for i := range uint32(each) {
				n := cutSize(tag, i)
				b := append(binary.LittleEndian.AppendUint32(nil, i), tagBytes(n-4, byte(i))...)
				send := p.a.SendTag
				if i%5 == 0 {
					send = p.a.SendTagSync
				}
				if err := send(ctx, tag, b); err != nil {
					t.Errorf("tag %d, message %d: %v", tag, i, err)
					return
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { busy.Wait(); close(done) }()
	for i := 0; ; i++ {
		select {
		case <-done:
			if h := p.a.Stats().Handovers; h == 0 {
				t.Log("no lane was lost in time")
			}
			if err := p.a.Flush(ctx); err != nil {
				t.Error(err)
			}
			return
		case <-time.After(15 * time.Millisecond):
			if i < 30 { // a busy machine must come to an end, too
				faults.Cut(rails[i%2], fault.Kind(i/2%2), 2*time.Millisecond)
			}
			faults.Advance()
		}
	}
}

func cutSize(tag uint64, i uint32) int {
	return []int{4, 8, 900, 30_000, 70_000, 300_000}[(uint64(i)+tag)%6]
}

// TestTagsInCallbacks: a handler, and a callback, may send and receive: a Shared one may wait.
func TestTagsInCallbacks(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	p.bw.HandleAM(1, func(m *braid.Message) { // answers with what it is sent meanwhile
		buf := make([]byte, 1<<20)
		info, err := p.bw.RecvTag(ctx, buf, 5, braid.ExactTag)
		if err != nil {
			t.Error("in a handler:", err)
		}
		if err := m.Endpoint().SendTagSync(ctx, 6, buf[:info.Len]); err != nil {
			t.Error("in a handler:", err)
		}
	})
	for _, n := range []int{8, 200_000} {
		src, buf := tagBytes(n, 7), make([]byte, n)
		if err := p.a.SendAM(ctx, 1, nil, nil); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		p.aw.PostRecvTag(buf, 6, braid.ExactTag).Then(func(info braid.TagInfo, err error) {
			if err == nil && (info.Len != n || info.Tag != 6 || info.From != p.a) {
				err = errors.New("another message")
			}
			p.a.PostTag(9, nil).Release()
			ended <- err
		})
		p.a.PostTag(5, src).Release()
		if err := <-ended; err != nil || !bytes.Equal(buf, src) {
			t.Fatal(err)
		}
		if _, err := p.bw.RecvTag(ctx, nil, 9, braid.ExactTag); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTagsInOwnedHandler: what would wait is refused, typed, before anything is posted.
func TestTagsInOwnedHandler(t *testing.T) {
	o := connectPolled(t, braid.Options{Owned: true})
	ran := false
	o.bw.HandleAM(1, func(m *braid.Message) {
		ran = true
		ctx := context.Background()
		for name, err := range map[string]error{
			"send": m.Endpoint().SendTag(ctx, 1, nil), "synchronous send": m.Endpoint().SendTagSync(ctx, 1, nil),
			"receive":           second(o.bw.RecvTag(ctx, nil, 1, 1)),
			"receive from this": second(m.Endpoint().RecvTag(ctx, nil, 1, 1)),
		} {
			if !errors.Is(err, braid.ErrInCallback) {
				t.Errorf("%s: %v", name, err)
			}
		}
		m.Endpoint().PostTag(3, nil).Release()
	})
	o.a.PostAM(1, nil, nil).Release()
	for _, ok := o.aw.ProbeTag(0, braid.AnyTag); !ok; _, ok = o.aw.ProbeTag(0, braid.AnyTag) {
		o.turn()
	}
	if info, _ := o.aw.ProbeTag(0, braid.AnyTag); !ran || info.Tag != 3 {
		t.Errorf("%+v came", info)
	}
}

func second[T any](_ T, err error) error { return err }

// TestTagsFromBehind: many synchronous messages that are taken back, or received, in the reverse of their order cost no more than in it: neither side looks through
// all that wait for each of them.
func TestTagsFromBehind(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	const n = 8000
	took := func(end func(i int, sends []braid.Request), backwards, canceled bool) time.Duration {
		sends := make([]braid.Request, n)
		for i := range sends {
			for full := true; full; {
				sends[i] = p.a.PostTagSync(uint64(i), []byte{1})
				var op *braid.OpError
				_, err := sends[i].Test()
				full = errors.As(err, &op) && op.Temporary()
				p.aw.Progress()
			}
		}
		if _, err := p.bw.WaitTag(ctx, n-1, braid.ExactTag); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		for i := range sends {
			if backwards {
				i = n - 1 - i
			}
			end(i, sends)
		}
		for _, s := range sends {
			if err := s.Wait(ctx); canceled != errors.Is(err, braid.ErrCanceled) || !canceled && err != nil {
				t.Fatal(err)
			}
		}
		return time.Since(begin)
	}
	cancel := func(i int, sends []braid.Request) { sends[i].Cancel() }
	receive := func(i int, _ []braid.Request) {
		if _, err := p.bw.RecvTag(ctx, make([]byte, 1), uint64(i), braid.ExactTag); err != nil {
			t.Fatal(err)
		}
	}
	for name, end := range map[string]func(int, []braid.Request){"taken back": cancel, "received": receive} {
		most := 100 * time.Millisecond
		var forth, back time.Duration
		for range 4 { // what others do to the processor is none of it
			forth, back = took(end, false, name == "taken back"), took(end, true, name == "taken back")
			if back < 8*forth+most {
				break
			}
		}
		if back >= 8*forth+most {
			t.Errorf("%s: %v in order, %v in reverse", name, forth, back)
		}
	}
}

// TestTagsOfWhoIsGone: what was sent whole can be received after its sender has closed; who waits for him alone is told.
func TestTagsOfWhoIsGone(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	only := p.b.PostRecvTag(make([]byte, 8), 1, braid.ExactTag)
	for i := range uint64(100) {
		if err := p.a.SendTag(ctx, 2, binary.LittleEndian.AppendUint64(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.a.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := only.Wait(ctx); !errors.Is(err, braid.ErrPeerClosed) {
		t.Errorf("a receive of one that is gone: %v", err)
	}
	buf := make([]byte, 8)
	for i := range uint64(100) {
		if _, err := p.bw.RecvTag(ctx, buf, 2, braid.ExactTag); err != nil || binary.LittleEndian.Uint64(buf) != i {
			t.Fatalf("message %d: %v, %d", i, err, buf)
		}
	}
	if _, err := p.b.RecvTag(ctx, buf, 2, braid.ExactTag); !errors.Is(err, braid.ErrPeerClosed) {
		t.Error(err)
	}
	p.an.Close()
	if err := p.a.SendTag(ctx, 1, nil); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	last := p.bw.PostRecvTag(buf, 1, braid.ExactTag)
	p.bn.Close()
	if _, err := last.Wait(ctx); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// TestOffersOfWhoIsGone: what was offered and not read when its sender is over is there no more: nobody is told of a message that he can't have. One that was taken
// before says so when it is received.
func TestOffersOfWhoIsGone(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{Limits: braid.Limits{Eager: 1 << 10}}, braid.Options{})
	for range 2 {
		p.a.PostTag(1, make([]byte, 100_000)).Release()
	}
	if err := p.a.SendTag(ctx, 1, []byte("whole")); err != nil {
		t.Fatal(err)
	}
	taken, err := p.bw.NextTag(ctx, 1, braid.ExactTag)
	if err != nil || taken.Len != 100_000 {
		t.Fatal(taken, err)
	}
	if !eventually(func() bool { return len(slices.Collect(p.bw.WaitingTags())) == 2 }) {
		t.Fatal("an offer and a message do not come")
	}
	p.a.Abort()
	if !eventually(func() bool { return p.b.Err() != nil }) {
		t.Fatal("the endpoint goes on")
	}
	if info, ok := p.bw.ProbeTag(1, braid.ExactTag); !ok || info.Len != 5 {
		t.Errorf("what is there: %+v, %v", info, ok)
	}
	if _, err := taken.Recv(ctx, make([]byte, 100_000)); !errors.Is(err, braid.ErrPeerFailed) {
		t.Errorf("the one that was taken: %v", err)
	}
}

// TestA10_ReceiveGivenUp: a receive that is given up, before or in the middle of reading a large message, is never written to again.
func TestA10_ReceiveGivenUp(t *testing.T) { schemes(t, receiveGivenUp) }

func receiveGivenUp(t *testing.T, set *braid.Settings) {
	ctx := testContext(t)
	p := connect(t, braid.Options{Settings: set}, braid.Options{})
	const n = 8 << 20
	src, buf, mark := tagBytes(n, 1), make([]byte, n), bytes.Repeat([]byte{0xee}, n)
	for i := range 30 {
		r := p.bw.PostRecvTag(buf, 1, braid.ExactTag)
		s := p.a.PostTag(1, src)
		short, stop := context.WithTimeout(ctx, time.Duration(i)*200*time.Microsecond)
		_, err := r.Wait(short)
		stop()
		if err == nil {
			if err := s.Wait(ctx); err != nil {
				t.Fatal("received, and", err)
			}
			continue
		}
		copy(buf, mark)
		if err := s.Wait(reading(ctx, t, p)); err != nil && !errors.Is(err, braid.ErrCanceled) {
			t.Fatal(err)
		}
		if err := p.a.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(buf, mark) {
			t.Fatal("the buffer was written to after the end")
		}
	}
}

// reading receives what may have been left unmatched.
func reading(ctx context.Context, t *testing.T, p *pair) context.Context {
	other, cancel := context.WithCancel(ctx)
	r := p.bw.PostRecvTag(nil, 1, braid.ExactTag)
	t.Cleanup(func() { cancel(); r.Cancel(); r.Release() })
	return other
}

// TestF18_Unexpected: what nobody receives is bounded in bytes, its sender waits, and nothing of it is lost.
func TestF18_Unexpected(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	const backlog, most = 1 << 20, 1<<20/(256+16) + 1
	p := connect(t, braid.Options{Limits: braid.Limits{Pending: 100}}, braid.Options{Limits: braid.Limits{Backlog: backlog}})
	sent := 0
	for short, stop := context.WithTimeout(ctx, time.Second); ; sent++ {
		if err := p.a.SendTag(short, uint64(sent), binary.LittleEndian.AppendUint64(nil, uint64(sent))); err != nil {
			if stop(); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			break
		}
		if sent > most+101 {
			t.Fatalf("%d messages of 272 bytes were taken, for %d bytes", sent, backlog)
		}
	}
	if sent < most-1 {
		t.Errorf("%d messages were sent, there is room for %d", sent, most)
	}
	buf := make([]byte, 8)
	for i := range uint64(sent) {
		if info, err := p.bw.RecvTag(ctx, buf, 0, braid.AnyTag); err != nil || info.Tag != i || binary.LittleEndian.Uint64(buf) != i {
			t.Fatal(i, info, err)
		}
	}
	if err := p.a.SendTag(ctx, 1, nil); err != nil {
		t.Error(err)
	}
}

// BenchmarkTag is a message that a receive waits for, both sides polled by one goroutine.
func BenchmarkTag(b *testing.B) {
	for name, n := range map[string]int{"8": 8, "64KiB": 64 << 10, "1MiB": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			o := connectOwned(b, braid.Failover)
			payload := make([]byte, n)
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				r := expected(o, payload, o.a.PostTag)
				for done, _ := r.Test(); !done; done, _ = r.Test() {
					o.turn()
				}
				r.Release()
			}
		})
	}
}

// BenchmarkTagUnexpected prints what an unexpected message of 8 bytes keeps, in bytes of memory.
func BenchmarkTagUnexpected(b *testing.B) {
	o := connectPolled(b, braid.Options{Owned: true, Limits: braid.Limits{Backlog: 1 << 40}})
	payload := make([]byte, 8)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b.ResetTimer()
	for i := range b.N {
		for {
			r := o.a.PostTag(uint64(i), payload)
			done, err := r.Test()
			r.Release()
			if !done || err == nil {
				break
			}
			o.turn()
		}
		if i%64 == 63 {
			o.turn()
		}
	}
	for _, ok := o.bw.ProbeTag(uint64(b.N-1), braid.ExactTag); !ok; _, ok = o.bw.ProbeTag(uint64(b.N-1), braid.ExactTag) {
		o.turn()
	}
	b.StopTimer()
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/float64(b.N), "kept-B/op")
	buf := make([]byte, 8)
	for range b.N {
		o.b.PostRecvTag(buf, 0, braid.AnyTag).Release()
	}
}
