package braid_test

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/mix"
	"github.com/openbraid/braid/transport/self"
	"github.com/openbraid/braid/transport/shm"
	"github.com/openbraid/braid/transport/softrc"
	"github.com/openbraid/braid/transport/tcp"
)

// The places of what fencedRun puts: data with its number in some words, a flag, a word that signals count, one that is added to.
const (
	fencedData  = 200_000 &^ 7
	fencedFlag  = 1 << 20
	fencedCount = fencedFlag + 64
	fencedSum   = fencedFlag + 128
)

// fencedRun is a chain of rounds: each posts data of a random size, a fence, and something that tells of the data; the next one is posted
// from the callback of one before, so that fences and flushes are called from callbacks while lanes of several kinds come and go.
type fencedRun struct {
	*pair
	t      *testing.T
	ctx    context.Context
	key    braid.RKey
	mem    *braid.Memory
	luck   *rand.Rand // of the worker's goroutine
	until  time.Time
	round  uint64
	left   atomic.Int64
	done   chan struct{}
	once   sync.Once
	closed atomic.Bool // errors are what is expected
	adds   uint64
}

func (r *fencedRun) ended(what string) func(error) {
	r.left.Add(1)
	return func(err error) {
		if err != nil && !r.closed.Load() {
			r.t.Errorf("%s: %v", what, err)
		}
		if r.left.Add(-1) == 0 {
			r.once.Do(func() { close(r.done) })
		}
	}
}

// holds says that the data is of this round or of a later one.
func (r *fencedRun) holds(what string, n uint64) {
	for _, at := range []uint64{0, 8 * 12_001, fencedData - 8} {
		if is := r.mem.Load64(at); is < n {
			r.t.Errorf("%s of round %d is here, and the word at %d is of round %d", what, n, at, is)
		}
	}
}

// post is one round.
func (r *fencedRun) post() {
	if r.closed.Load() || time.Now().After(r.until) {
		return
	}
	r.round++
	n, ep := r.round, r.a
	fence := ep.Fence
	if r.luck.IntN(3) == 0 {
		fence = ep.Worker().Fence
	}
	data := make([]byte, fencedData)
	for i := 0; i < len(data); i += 8 {
		binary.NativeEndian.PutUint64(data[i:], n)
	}
	end := r.ended("round")
	fence() // behind what told of the round before
	if r.luck.IntN(2) == 0 {
		ep.PostPut(data, r.key, 0).Then(r.ended("put"))
	} else {
		ep.PostPut(data[:8], r.key, 0).Then(r.ended("short put"))
		ep.PostPut(data[8:fencedData-8], r.key, 8).Then(r.ended("put"))
		ep.PostPutSignal(data[:8], r.key, fencedData-8, braid.Signal{Key: r.key, Offset: fencedCount, Value: 1, Add: true}).Then(r.ended("signal"))
		r.adds++
	}
	if r.luck.IntN(4) == 0 {
		ep.PostFlushWith(braid.FlushOptions{Sent: r.luck.IntN(2) == 0, Memory: r.key}).Then(r.ended("flush of a part"))
	}
	fence()
	word := binary.NativeEndian.AppendUint64(nil, n)
	switch r.luck.IntN(4) {
	case 0:
		ep.PostAM(1, word, nil).Then(r.ended("message"))
	case 1:
		ep.PostAM(1, word, make([]byte, 100_000)).Then(r.ended("message"))
	case 2:
		back := make([]byte, fencedData)
		ep.PostGet(back, r.key, 0).Then(func(err error) {
			for i := 0; i < len(back) && err == nil && !r.closed.Load(); i += 8 {
				if is := binary.NativeEndian.Uint64(back[i:]); is != n { // what is behind the next fence waits for it
					r.t.Errorf("a get of round %d reads round %d at %d", n, is, i)
					break
				}
			}
			r.ended("get")(err)
		})
	}
	fence()
	ep.PostPut(word, r.key, fencedFlag).Then(r.ended("flag"))
	if r.luck.IntN(2) == 0 {
		ep.Word64(r.key, fencedSum).PostFetchAdd(1).Then(func(old uint64, err error) { r.ended("fetch and add")(err) })
	} else {
		ep.Word64(r.key, fencedSum).PostAdd(1).Then(r.ended("add"))
	}
	ep.PostFlush().Then(func(err error) {
		if err == nil && !r.closed.Load() {
			r.holds("the flush", n)
			if is := r.mem.Load64(fencedFlag); is < n {
				r.t.Errorf("round %d is flushed, and its flag is %d", n, is)
			}
			if is := r.mem.Load64(fencedSum); is < n {
				r.t.Errorf("round %d is flushed, and %d were added", n, is)
			}
		}
		r.post()
		end(err)
	})
}

// TestFencesOverMixedLanes: what a fence, a signal and a flush promise holds over lanes of several kinds that are cut in turn, and each
// request ends when the endpoint is closed in the middle.
func TestFencesOverMixedLanes(t *testing.T) {
	if underRace {
		t.Skip("words are read while a long put is written, on purpose")
	}
	for _, kinds := range []string{"tcp tcp shm", "tcp rc shm", "rc rc shm"} {
		t.Run(kinds, func(t *testing.T) { fencedOver(t, kinds).finish() })
	}
	t.Run("closed", func(t *testing.T) {
		r := fencedOver(t, "tcp rc shm")
		r.watch(func() bool { return time.Until(r.until) < 300*time.Millisecond })
		r.closed.Store(true)
		if err := r.a.Close(r.ctx); err != nil {
			t.Error(err)
		}
		r.watch(r.over)
	})
}

// mixedLanes are transports of two rails and of this host, as kinds says.
func mixedLanes(kinds string, k *knife, c *cables) []transport.Transport {
	over, lanes := tcp.New(tcp.Options{Wrapper: k}), softrc.New(softrc.Options{Wrap: c.wrap})
	switch kinds {
	case "tcp tcp shm":
		lanes = over
	case "tcp rc shm":
		lanes = mix.New(over, mix.Part{Transport: lanes, Takes: func(host string) bool { return host == "127.0.0.2" }})
	}
	fault := func(string, string) shm.Fault { return shm.Fault(k.shm.Load()) }
	return []transport.Transport{lanes, self.New(self.Options{}), shm.New(shm.Options{Fault: fault})}
}

// fencedOver begins a run over lanes of these kinds.
func fencedOver(t *testing.T, kinds string) *fencedRun {
	k, c := &knife{}, &cables{cut: map[netip.Addr]bool{}}
	o := func() braid.Options {
		return braid.Options{Transports: mixedLanes(kinds, k, c), Rails: []string{"127.0.0.1", "127.0.0.2"}}
	}
	r := &fencedRun{t: t, ctx: testContext(t), luck: rand.New(rand.NewPCG(7, 1)), done: make(chan struct{})}
	r.pair = connect(t, o(), o())
	var err error
	if r.mem, err = r.bn.Alloc(2 << 20); err != nil {
		t.Fatal(err)
	}
	r.key = r.mem.Key(braid.Read | braid.Write | braid.Atomic)
	r.bw.HandleAM(1, func(m *braid.Message) { r.holds("a message", binary.NativeEndian.Uint64(m.Header())) })
	r.until = time.Now().Add(700 * time.Millisecond)
	stop, cutting := make(chan struct{}), sync.WaitGroup{}
	cutting.Go(func() { cutInTurn(k, c, stop) })
	t.Cleanup(func() { close(stop); cutting.Wait() })
	r.a.PostFlush().Then(func(error) {
		for range 3 { // chains side by side
			r.post()
		}
	})
	return r
}

// cutInTurn cuts shared memory, the second rail's device, and TCP, each longer than it takes to be given up.
func cutInTurn(k *knife, c *cables, stop <-chan struct{}) {
	for i := 0; ; i++ {
		how := int32([]shm.Fault{shm.Reset, shm.Silent}[i/3%2])
		switch i % 3 {
		case 0:
			k.shm.Store(how)
		case 1:
			c.set("127.0.0.2", true)
		case 2:
			k.tcp.Store(how)
		}
		time.Sleep(80 * time.Millisecond)
		k.shm.Store(0)
		k.tcp.Store(0)
		c.set("127.0.0.2", false)
		select {
		case <-stop:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// over says whether each request has ended, and no more are posted.
func (r *fencedRun) over() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// watch looks at the flag, and then at the data, until something is so.
func (r *fencedRun) watch(until func() bool) {
	r.t.Helper()
	for !until() {
		r.holds("the flag", r.mem.Load64(fencedFlag))
		if r.ctx.Err() != nil {
			r.t.Fatalf("it does not end: %d requests are open, %v", r.left.Load(), r.a.Lanes())
		}
		time.Sleep(50 * time.Microsecond)
	}
}

// finish waits for the end, and counts.
func (r *fencedRun) finish() {
	r.watch(r.over)
	if sum := r.mem.Load64(fencedSum); sum != r.round {
		r.t.Errorf("%d were added in %d rounds", sum, r.round)
	}
	if n := r.mem.Load64(fencedCount); n != r.adds {
		r.t.Errorf("%d signals came, of %d", n, r.adds)
	}
	if s := r.a.Stats(); s.Fenced == 0 || s.Handovers == 0 {
		r.t.Errorf("nothing was tested: %+v", s)
	}
	if err := r.a.Close(r.ctx); err != nil {
		r.t.Error(err)
	}
}
