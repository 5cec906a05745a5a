package braid_test

import (
	"sync/atomic"
	"testing"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm"
)

// TestNoAllocations: in steady state no operation allocates, on either side, in either error mode and in both modes of
// workers.
func TestNoAllocations(t *testing.T) {
	if underRace {
		t.Skip("the race detector allocates and changes what meets when; go test without -race counts")
	}
	for _, opts := range []braid.Options{
		{Owned: true}, {Owned: true, ErrorMode: braid.None}, {}, {ErrorMode: braid.None},
		{Owned: true, Rails: []string{"127.0.0.1", "127.0.0.2"}},
		{Owned: true, Transports: []transport.Transport{shm.New(shm.Options{})}},
	} {
		if opts.Transports != nil && shm.Prefix() == "" {
			continue
		}
		t.Run(called(&opts), func(t *testing.T) {
			o := connectPolled(t, opts)
			haveLanes(t, o, len(opts.Rails))
			var got atomic.Int64
			o.bw.HandleAM(1, func(*braid.Message) { got.Add(1) })
			readInto(t, o)
			key, source, word := o.mem.Key(braid.Write), o.mem.Key(braid.Read), o.mem.Key(braid.Atomic)
			for _, c := range []struct {
				name string
				size int
				post func(b []byte) braid.Request
			}{
				{"message of 8 bytes", 8, func(b []byte) braid.Request { return o.a.PostAM(1, nil, b) }},
				{"message of 4 KiB", 4 << 10, func(b []byte) braid.Request { return o.a.PostAM(1, b[:64], b) }},
				{"message of 64 KiB", 64 << 10, func(b []byte) braid.Request { return o.a.PostAM(1, b[:64], b) }},
				{"message of 200 KiB", 200 << 10, func(b []byte) braid.Request { return o.a.PostAM(1, b[:64], b) }},
				{"message of 1 MiB", 1 << 20, func(b []byte) braid.Request { return o.a.PostAM(1, b[:64], b) }},
				{"message of 8 bytes that may be offered", 8, func(b []byte) braid.Request { return o.a.PostOfferAM(2, nil, b) }},
				{"offered message of 200 KiB", 200 << 10, func(b []byte) braid.Request { return o.a.PostOfferAM(2, b[:64], b) }},
				{"offered message of 1 MiB", 1 << 20, func(b []byte) braid.Request { return o.a.PostOfferAM(2, b[:64], b) }},
				{"put of 8 bytes", 8, func(b []byte) braid.Request { return o.a.PostPut(b, key, 8) }},
				{"put of 8 bytes, and how it went", 8, func(b []byte) braid.Request { return asked(t, o.a.PostPut(b, key, 8)) }},
				{"put of 1 MiB, and how it goes", 1 << 20, func(b []byte) braid.Request { return asked(t, o.a.PostPut(b, key, 0)) }},
				{"put of 64 KiB", 64 << 10, func(b []byte) braid.Request { return o.a.PostPut(b, key, 0) }},
				{"put of 1 MiB", 1 << 20, func(b []byte) braid.Request { return o.a.PostPut(b, key, 0) }},
				{"fence, put of 8 bytes", 8, func(b []byte) braid.Request { o.a.Fence(); return o.a.PostPut(b, key, 8) }},
				{"put of 8 bytes with a signal", 8, func(b []byte) braid.Request { return o.a.PostPutSignal(b, key, 8, braid.Signal{Key: key, Value: 1}) }},
				{"put of 64 KiB with a signal", 64 << 10, func(b []byte) braid.Request {
					return o.a.PostPutSignal(b, key, 8, braid.Signal{Key: key, Value: 1, Add: true})
				}},
				{"get of 8 bytes", 8, func(b []byte) braid.Request { return o.a.PostGet(b, source, 8) }},
				{"get of 1 MiB", 1 << 20, func(b []byte) braid.Request { return o.a.PostGet(b, source, 0) }},
				{"add", 0, func(b []byte) braid.Request { return o.a.Word64(word, 8).PostAdd(1) }},
				{"fetch-add", 0, func(b []byte) braid.Request { return o.a.Word64(word, 8).PostFetchAdd(1).Request }},
				{"compare-and-swap of 32 bits", 0, func(b []byte) braid.Request { return o.a.Word32(word, 8).PostCompareSwap(1, 2).Request }},
				{"tagged message of 8 bytes", 8, func(b []byte) braid.Request { return expected(o, b, o.a.PostTag) }},
				{"tagged message of 64 KiB", 64 << 10, func(b []byte) braid.Request { return expected(o, b, o.a.PostTag) }},
				{"tagged message of 1 MiB", 1 << 20, func(b []byte) braid.Request { return expected(o, b, o.a.PostTag) }},
				{"synchronous one", 8, func(b []byte) braid.Request { return expected(o, b, o.a.PostTagSync) }},
				{"unexpected one", 8, func(b []byte) braid.Request { return unexpected(o, b) }},
				{"unexpected one of 1 KiB", 1 << 10, func(b []byte) braid.Request { return unexpected(o, b) }},
				{"flush", 0, func(b []byte) braid.Request { o.a.PostPut(b, key, 0); return o.a.PostFlush() }},
			} {
				allocatesNothing(t, o, c.name, make([]byte, c.size), c.post)
			}
			if got.Load() == 0 {
				t.Error("no message arrived")
			}
		})
	}
}

// called says which worker it is.
func called(o *braid.Options) string {
	name := o.ErrorMode.String() + " shared"
	if o.Owned {
		name = o.ErrorMode.String()
	}
	if o.Rails != nil {
		name += " over two lanes"
	}
	if o.Transports != nil {
		name += " over shared memory alone"
	}
	return name
}

// readInto has offered messages read into memory of their handler's.
func readInto(t *testing.T, o *owned) {
	into := make([]byte, 1<<20)
	ended := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	o.bw.HandleOffer(2, func(m *braid.Message) { m.PostRecv(into[:m.Size()]).Then(ended) })
}

// asked is r, which is asked how it goes.
func asked(t *testing.T, r braid.Request) braid.Request {
	if i, ok := r.Info(); !ok || i.Protocol == "" {
		t.Errorf("%+v, %v", i, ok)
	}
	return r
}

// expected sends a message that a receive waits for, and returns that.
func expected(o *owned, b []byte, post func(uint64, []byte) braid.Request) braid.Request {
	r := o.bw.PostRecvTag(b, 7, braid.ExactTag)
	post(7, b).Release()
	return r.Request
}

// unexpected sends a message, and receives it once it is there.
func unexpected(o *owned, b []byte) braid.Request {
	o.a.PostTag(7, b).Release()
	for ok := false; !ok; _, ok = o.bw.ProbeTag(7, braid.ExactTag) {
		o.turn()
	}
	return o.b.PostRecvTag(b, 7, 0xf).Request
}

// allocatesNothing posts the same again and again. Nothing is under way between rounds: else a side whose goroutine gets no processor falls behind, and whatever more waits for it
// than ever before is allocated, however steady the other side is.
func allocatesNothing(t *testing.T, o *owned, name string, b []byte, post func(b []byte) braid.Request) {
	t.Helper()
	var rounds atomic.Int64
	o.bw.HandleAM(3, func(*braid.Message) { rounds.Add(1) }) // what came before it is handled
	one := func() {
		before := rounds.Load()
		for range 8 {
			r := post(b)
			for done, err := r.Test(); !done; done, err = r.Test() {
				if err != nil {
					t.Fatal(err)
				}
				o.turn()
			}
			r.Release()
			o.turn()
		}
		for o.a.PostAM(3, nil, nil).Release(); rounds.Load() == before; o.turn() {
		}
	}
	times := 200
	if len(b) > 64<<10 {
		times = 40 // what is copied takes its time
	}
	for range times {
		one() // pools and rings reach their sizes
	}
	if n := testing.AllocsPerRun(times, one); n >= 1 {
		t.Errorf("%s: %.1f allocations in 8 operations", name, n)
	}
}

// haveLanes makes progress until there are n lanes.
func haveLanes(t *testing.T, o *owned, n int) {
	t.Helper()
	for ctx := testContext(t); len(o.a.Lanes()) < n; o.turn() {
		if ctx.Err() != nil {
			t.Fatalf("%d lanes, want %d", len(o.a.Lanes()), n)
		}
	}
}
