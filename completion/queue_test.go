package completion_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/completion"
	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/fault/drive"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair is two workers that are connected.
type pair struct {
	a, b *braid.Worker
	ep   *braid.Endpoint
	key  braid.RKey
	mem  *braid.Memory
}

func connect(t testing.TB, ao, bo braid.Options) *pair {
	t.Helper()
	var nodes [2]*braid.Node
	for i, o := range []braid.Options{ao, bo} {
		n, err := braid.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Close() })
		nodes[i] = n
	}
	p := &pair{a: newWorker(t, nodes[0]), b: newWorker(t, nodes[1])}
	to, err := p.b.Address()
	if err != nil {
		t.Fatal(err)
	}
	if p.ep, err = p.a.Connect(patience(t), to); err != nil {
		t.Fatal(err)
	}
	if p.mem, err = nodes[1].Alloc(1 << 20); err != nil {
		t.Fatal(err)
	}
	p.key = p.mem.Key(braid.Write | braid.Read | braid.Atomic)
	return p
}

func patience(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// TestEveryFamily: requests of each family end in the queue, those that had ended when they were added, too; each once, with what it brought.
func TestEveryFamily(t *testing.T) {
	for _, owned := range []bool{false, true} {
		t.Run(fmt.Sprintf("owned=%v", owned), func(t *testing.T) {
			ctx := patience(t)
			p := connect(t, braid.Options{Owned: owned}, braid.Options{})
			p.b.HandleAM(1, func(*braid.Message) {})
			p.b.HandleAM(2, func(m *braid.Message) { m.Endpoint().PostTag(9, []byte("answer")).Release() })
			q := completion.New(p.a)
			if n, err := q.Wait(ctx, make([]completion.End, 1)); n != 0 || err != nil {
				t.Error("nothing is pending:", n, err)
			}
			small, large, buf := make([]byte, 8), make([]byte, 300_000), make([]byte, 4)
			read, received := make([]byte, 300_000), make([]byte, 300_000)
			q.Add(0, p.ep.PostPut(large, p.key, 0))
			q.Add(1, p.ep.PostPut(small, p.key, 400_000))
			q.Add(2, p.ep.PostAM(1, nil, large))
			q.Add(3, p.ep.PostGet(read, p.key, 1<<19+8))
			q.Add(4, p.ep.PostPut(small, p.key, 1<<20))
			q.AddRecv(5, p.a.PostRecvTag(buf, 9, braid.ExactTag))
			q.Add(6, p.ep.PostAM(2, nil, nil))
			q.Add(7, p.ep.PostTagSync(3, large))
			receive := p.b.PostRecvTag(received, 3, braid.ExactTag)
			completion.AddFetch(q, 8, p.ep.Word64(p.key, 1<<19).PostFetchAdd(5))
			completion.AddFetch(q, 9, p.ep.Word64(p.key, 1<<19).PostFetchAdd(5))
			q.Add(10, p.ep.PostFlush())
			var way, short, none braid.Info
			q.AddInfo(11, p.ep.PostPut(large, p.key, 0), &way)
			q.AddInfo(12, p.ep.PostPut(small, p.key, 0), &short)
			q.AddInfo(13, p.ep.PostFlush(), &none)
			if n := q.Pending(); n != 14 {
				t.Errorf("%d are pending", n)
			}
			got := map[uint64]completion.End{}
			for end := range q.All(ctx) {
				if _, twice := got[end.Token]; twice {
					t.Errorf("%d twice", end.Token)
				}
				got[end.Token] = end
			}
			for token := range uint64(14) {
				end, ok := got[token]
				want := map[uint64]error{4: braid.ErrAccess, 5: braid.ErrTruncated}[token]
				if !ok || !errors.Is(end.Err, want) || want == nil && end.Err != nil {
					t.Errorf("%d: %+v", token, end)
				}
				var e *braid.OpError
				if want != nil && !errors.As(end.Err, &e) {
					t.Errorf("%d: not as users have it: %v", token, end.Err)
				}
			}
			if info := got[5].Tag; info.Len != 6 || info.Tag != 9 || info.From != p.ep || string(buf) != "answ" {
				t.Errorf("%+v, %q", info, buf)
			}
			if got[11].Info != &way || way.Bytes != 300_000 || way.Protocol == "" || short.Bytes != 8 || none.Protocol != "" || got[10].Info != nil {
				t.Errorf("%+v went %v; %v; %v", got[11], way, short, none)
			}
			if got[8].Old+got[9].Old != 5 {
				t.Errorf("%+v, %+v", got[8], got[9])
			}
			if err := receive.Request.Wait(ctx); err != nil || q.Pending() != 0 {
				t.Error(err, q.Pending())
			}
		})
	}
}

// TestUnderCuts: 20 batches of puts while both lanes are cut in turns, taken by several goroutines: each end once, none with an error.
func TestUnderCuts(t *testing.T) {
	ctx, start := patience(t), time.Now()
	now := func() time.Duration { return time.Since(start) }
	faults := fault.New(now)
	driver := drive.Start(faults, now) // so that what was cut heals when its time is over, whatever the test waits for
	t.Cleanup(driver.Stop)
	rails := []string{"127.0.0.1", "127.0.0.2"}
	times := braid.Times{RedialMin: time.Millisecond, RedialMax: 20 * time.Millisecond, Probe: 5 * time.Millisecond, Lost: 20 * time.Millisecond, Keepalive: 100 * time.Millisecond, Peer: 500 * time.Millisecond}
	p := connect(t, braid.Options{Rails: rails, Faults: faults, Times: times}, braid.Options{Rails: rails, Times: times})
	q, src := completion.New(p.a), make([]byte, 20_000)
	const batches, each = 20, 50
	var mu sync.Mutex
	seen := map[uint64]int{}
	for batch := range batches {
		driver.Apply(fault.Rule{Rail: rails[batch%2], Kind: fault.Kind(batch / 2 % 2), For: 2 * time.Millisecond})
		for i := range each {
			q.Add(uint64(batch*each+i), p.ep.PostPut(src, p.key, 0))
		}
		var takers sync.WaitGroup
		for range 3 {
			takers.Go(func() {
				var ends [7]completion.End
				for {
					n, err := q.Wait(ctx, ends[:])
					if err != nil {
						t.Error(err)
					}
					if n == 0 {
						return
					}
					mu.Lock()
					for _, end := range ends[:n] {
						if seen[end.Token]++; end.Err != nil {
							t.Error(end)
						}
					}
					mu.Unlock()
				}
			})
		}
		takers.Wait()
	}
	for i := range uint64(batches * each) {
		if seen[i] != 1 {
			t.Errorf("%d came %d times", i, seen[i])
		}
	}
	if err := p.ep.Flush(ctx); err != nil {
		t.Error(err)
	}
}

// TestClosed: when the worker is closed each request ends in the queue, also one that is added after that; who waits is told.
func TestClosed(t *testing.T) {
	p := connect(t, braid.Options{}, braid.Options{})
	q := completion.New(p.a)
	q.AddRecv(1, p.a.PostRecvTag(nil, 1, braid.ExactTag))
	short, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if n, err := q.Wait(short, make([]completion.End, 1)); n != 0 || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(n, err)
	}
	p.a.Close()
	q.Add(2, p.ep.PostPut(nil, p.key, 0))
	for end := range q.All(patience(t)) {
		if !errors.Is(end.Err, net.ErrClosed) {
			t.Errorf("%+v", end)
		}
	}
}

// TestGivenBack: a request that is nobody's any more, or somebody else's, ends in the queue, too: who counts on its end would wait for ever.
func TestGivenBack(t *testing.T) {
	ctx := patience(t)
	p := connect(t, braid.Options{}, braid.Options{})
	recv := func() braid.TagRecv { return p.a.PostRecvTag(nil, 1, braid.ExactTag) }
	back, other := recv(), recv()
	back.Cancel()
	if _, err := back.Wait(ctx); !errors.Is(err, braid.ErrCanceled) {
		t.Fatal(err)
	}
	other.Then(func(braid.TagInfo, error) {}) // has it
	q := completion.New(p.a)
	q.Add(1, back.Request)
	q.AddRecv(2, back)
	q.AddRecv(3, other)
	if n := q.Pending(); n != 3 {
		t.Errorf("%d are pending", n)
	}
	for end := range q.All(ctx) {
		if !errors.Is(end.Err, braid.ErrRequest) || end.Tag.From != nil {
			t.Errorf("%+v", end)
		}
	}
	if err := ctx.Err(); err != nil || q.Pending() > 0 {
		t.Errorf("%d never end: %v", q.Pending(), err)
	}
	other.Cancel()
}

// TestNoAllocations: what is added and taken over and over costs no memory.
func TestNoAllocations(t *testing.T) {
	ctx := patience(t)
	p := connect(t, braid.Options{Owned: true, Lanes: 1}, braid.Options{})
	q, src, ends := completion.New(p.a), make([]byte, 64), make([]completion.End, 16)
	round := func() {
		for i := range uint64(16) {
			q.Add(i, p.ep.PostPut(src, p.key, 0))
		}
		for q.Pending() > 0 {
			if _, err := q.Wait(ctx, ends); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 100 {
		round()
	}
	n := 16.0
	for try := 0; try < 5 && n > 1; try++ { // the peer is counted, too, and may be growing something
		n = testing.AllocsPerRun(100, round)
	}
	if n > 1 && !raceEnabled {
		t.Errorf("%v allocations for 16 requests", n)
	}
}

// Example posts several operations, and takes their ends as they come.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	n, err := braid.Open(braid.Options{})
	check(err)
	defer n.Close()
	w, err := n.NewWorker()
	check(err)
	address, err := w.Address()
	check(err)
	ep, err := w.Connect(ctx, address) // to itself
	check(err)
	mem, err := n.Alloc(64)
	check(err)
	key := mem.Key(braid.Write)

	q := completion.New(w)
	for i := range uint64(3) {
		q.Add(i, ep.PostPut([]byte("12345678"), key, 8*i))
	}
	q.Add(3, ep.PostFlush())
	ended := 0
	for end := range q.All(ctx) {
		check(end.Err)
		ended++
	}
	fmt.Println(ended, string(mem.Bytes()[:24]))
	// Output: 4 123456781234567812345678
}

// TestOrder: ends come out in the order in which they came, however many there are, and however they are taken meanwhile.
func TestOrder(t *testing.T) {
	n, err := braid.Open(braid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	q, ends := completion.New(newWorker(t, n)), make([]completion.End, 100)
	added, taken := uint64(0), uint64(0)
	for _, step := range [...]struct{ add, take int }{{60, 30}, {50, 10}, {300, 100}, {1, 100}, {700, 100}, {0, 100}} {
		for range step.add {
			q.Add(added, braid.Request{}) // has ended
			added++
		}
		for _, end := range ends[:q.Poll(ends[:step.take])] {
			if end.Token != taken {
				t.Fatalf("%d came, %d is next", end.Token, taken)
			}
			taken++
		}
	}
	if p := q.Pending(); uint64(p) != added-taken {
		t.Errorf("%d pending of %d added and %d taken", p, added, taken)
	}
}

// newWorker is a worker of n.
func newWorker(t testing.TB, n *braid.Node) *braid.Worker {
	t.Helper()
	w, err := n.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	return w
}
