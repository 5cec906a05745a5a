package braid_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm"
	"github.com/openbraid/braid/transport/softrc"
)

// Guards of speed. Each compares two things that are done in turns in one process, by the fastest block of each: a busy machine makes blocks slower, not the fastest one,
// and who looks goes on until the bound holds. What never holds it has become slower. The figures themselves are bench's to tell (docs/performance.md).

// fastest is the time of the fastest block of something.
type fastest struct {
	do   func()
	best time.Duration
}

func (f *fastest) block(n int) {
	since := time.Now()
	for range n {
		f.do()
	}
	if took := time.Since(since) / time.Duration(n); f.best == 0 || took < f.best {
		f.best = took
	}
}

// within says whether a takes at most so many times what b does, in the end.
func within(a, b *fastest, most float64) (ratio float64, ok bool) {
	n := 1
	for since := time.Now(); n < 1<<14; n *= 2 { // a block of half a millisecond
		if b.block(n); time.Since(since) > 500*time.Microsecond {
			break
		}
		since = time.Now()
	}
	ok = eventually(func() bool {
		for range 10 {
			a.block(n)
			b.block(n)
		}
		ratio = float64(a.best) / float64(b.best)
		return ratio <= most
	})
	return ratio, ok
}

// polledOver is a pair over one transport, polled by the test.
func polledOver(t *testing.T, kind string) *owned {
	o := braid.Options{Owned: true, Lanes: 1}
	switch kind {
	case "tcp":
		o.Transports = braid.Default()[:1]
	case "shm":
		o.Transports = []transport.Transport{shm.New(shm.Options{})}
	case "rc":
		o.Transports = []transport.Transport{softrc.New(softrc.Options{})}
	}
	return connectPolled(t, o)
}

// done posts something and makes progress on both sides until it is executed.
func (o *owned) done(t *testing.T, r braid.Request) {
	for r, flush := r, o.a.PostFlush(); ; {
		o.turn()
		if done, err := flush.Test(); done {
			if _, e := r.Test(); err != nil || e != nil {
				t.Fatal(errors.Join(err, e))
			}
			flush.Release()
			r.Release()
			return
		}
	}
}

// sockets is what the system takes to bring so many bytes through a pair of sockets, and one back.
func sockets(t *testing.T, n int) func() {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	a, b := os.NewFile(uintptr(fds[0]), "a"), os.NewFile(uintptr(fds[1]), "b")
	t.Cleanup(func() { a.Close(); b.Close() })
	src, dst := make([]byte, n), make([]byte, n)
	return func() {
		for sent, got := 0, 0; got < n; {
			k := min(n-sent, 64<<10)
			if _, err := a.Write(src[sent : sent+k]); err != nil {
				t.Fatal(err)
			}
			for sent += k; got < sent; {
				m, err := b.Read(dst[got:sent])
				if err != nil {
					t.Fatal(err)
				}
				got += m
			}
		}
		if _, err := b.Write(src[:1]); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Read(dst[:1]); err != nil {
			t.Fatal(err)
		}
	}
}

// TestD19_Guard: a put and a message of each size take, over each transport, at most so many times what the system takes for the bytes: some times what they do.
func TestD19_Guard(t *testing.T) {
	if underRace {
		t.Skip("the race detector makes other things slow than what runs without it; go test without -race counts")
	}
	sizes := []int{8, 4 << 10, 64 << 10, 1 << 20}
	for kind, most := range map[string][]float64{"tcp": guards[0], "shm": guards[1], "rc": guards[2]} {
		o := polledOver(t, kind)
		o.bw.HandleAM(1, func(*braid.Message) {})
		key := o.mem.Key(braid.Write)
		for i, n := range sizes {
			src, yard := make([]byte, n), &fastest{do: sockets(t, n)}
			for name, post := range map[string]func() braid.Request{
				"put":     func() braid.Request { return o.a.PostPut(src, key, 0) },
				"message": func() braid.Request { return o.a.PostAM(1, nil, src) },
			} {
				ratio, ok := within(&fastest{do: func() { o.done(t, post()) }}, yard, most[i])
				t.Logf("%s, %s of %d bytes: %.2f of the sockets' time; at most %.1f", kind, name, n, ratio, most[i])
				if !ok {
					t.Errorf("%s: a %s of %d bytes takes %.2f times what sockets take, at most %.1f is right", kind, name, n, ratio, most[i])
				}
			}
		}
	}
}

// guards are the bounds for tcp, shm and rc: some three times what was measured.
var guards = [3][]float64{{40, 8, 6, 10}, {0.7, 1.2, 1.4, 1.2}, {20, 20, 15, 12}}

// TestG7_PutAndGet: what is put over TCP takes as many bytes as what is got, and about the time of it: neither is the slow one.
func TestG7_PutAndGet(t *testing.T) {
	o := polledOver(t, "tcp")
	key := o.mem.Key(braid.Read | braid.Write)
	posted := func() (n uint64) { return o.a.Lanes()[0].PostedBytes + o.b.Lanes()[0].PostedBytes }
	for _, n := range []int{64 << 10, 1 << 20} {
		src := make([]byte, n)
		put := &fastest{do: func() { o.done(t, o.a.PostPut(src, key, 0)) }}
		get := &fastest{do: func() { o.done(t, o.a.PostGet(src, key, 0)) }}
		var bytes [2]uint64
		for i, f := range []*fastest{put, get} {
			before := posted()
			f.block(16)
			bytes[i] = posted() - before - uint64(16*n)
		}
		if most := uint64(16 * n / 100); bytes[0] > most || bytes[1] > most {
			t.Errorf("%d bytes: puts have %d bytes beside them, gets %d", 16*n, bytes[0], bytes[1])
		}
		if underRace {
			continue
		}
		there, ok1 := within(put, get, 1.2)
		back, ok2 := within(get, put, 1.5) // its request is on the way before
		t.Logf("%d bytes: a put takes %.2f of a get, a get %.2f of a put", n, there, back)
		if !ok1 || !ok2 {
			t.Errorf("%d bytes: a put takes %.2f of a get, a get %.2f of a put", n, there, back)
		}
	}
}

// TestG8_WhatIsNotUsed: nothing that is there and not used makes the puts and messages of another endpoint slower.
func TestG8_WhatIsNotUsed(t *testing.T) {
	if underRace {
		t.Skip("the race detector makes other things slow than what runs without it; go test without -race counts")
	}
	plain := braid.Options{Owned: true, Lanes: 1, Transports: braid.Default()[:1]}
	base := connectPolled(t, plain)
	for name, with := range map[string]func(o *braid.Options) func(*owned){
		"a secret": func(o *braid.Options) func(*owned) { o.Secret = braid.NewSecret(); return nil },
		"events":   func(o *braid.Options) func(*owned) { o.OnEvent = func(braid.Event) {}; return nil },
		"more transports": func(o *braid.Options) func(*owned) {
			o.Transports = append(braid.Default()[:1:1], softrc.New(softrc.Options{}))
			return nil
		},
		"a hundred handlers, and receives": func(*braid.Options) func(*owned) {
			return func(o *owned) {
				for i := range uint16(100) {
					o.bw.HandleAM(1000+i, func(*braid.Message) {})
					o.bw.PostRecvTag(nil, uint64(i), braid.ExactTag).Release()
					o.bw.PostWaitTag(uint64(i)+1000, braid.ExactTag).Release()
				}
			}
		},
		"a thousand regions": func(*braid.Options) func(*owned) {
			return func(o *owned) {
				for range 1000 {
					if _, err := o.bw.Node().Register(make([]byte, 64)); err != nil {
						t.Fatal(err)
					}
				}
			}
		},
		"a thousand messages that nobody receives": func(*braid.Options) func(*owned) {
			return func(o *owned) {
				for i := range uint64(1000) {
					o.done(t, o.a.PostTag(i, make([]byte, 8)))
				}
			}
		},
	} {
		opts := plain
		then := with(&opts)
		o := connectPolled(t, opts)
		if then != nil {
			then(o)
		}
		for _, n := range []int{8, 64 << 10} {
			src := make([]byte, n)
			ops := func(o *owned) map[string]*fastest {
				o.bw.HandleAM(1, func(*braid.Message) {})
				key := o.mem.Key(braid.Write)
				return map[string]*fastest{
					"put":     {do: func() { o.done(t, o.a.PostPut(src, key, 0)) }},
					"message": {do: func() { o.done(t, o.a.PostAM(1, nil, src)) }},
				}
			}
			of := ops(base)
			for op, f := range ops(o) {
				if ratio, ok := within(f, of[op], 1.3); !ok {
					t.Errorf("with %s a %s of %d bytes takes %.2f of its time without", name, op, n, ratio)
				} else {
					t.Logf("with %s a %s of %d bytes takes %.2f of its time without", name, op, n, ratio)
				}
			}
		}
	}
}
