package explain_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/explain"
	"github.com/openbraid/braid/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair is two nodes of one process, and an endpoint between them.
type pair struct {
	bn   *braid.Node
	bw   *braid.Worker
	a, b *braid.Endpoint
}

func connect(t *testing.T, ao, bo braid.Options) *pair {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	an, err := braid.Open(ao)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { an.Close() })
	p := &pair{}
	if p.bn, err = braid.Open(bo); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.bn.Close() })
	p.bw = newWorker(t, p.bn)
	ln, err := p.bw.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if p.a, err = newWorker(t, an).Dial(ctx, ln.Addr()); err != nil {
		t.Fatal(err)
	}
	if p.b, err = ln.Accept(ctx); err != nil {
		t.Fatal(err)
	}
	return p
}

// posted is how many frames and bytes the lanes of an endpoint have posted.
func posted(ep *braid.Endpoint) (bytes uint64) {
	for _, l := range ep.Lanes() {
		bytes += l.PostedBytes
	}
	return bytes
}

// TestD18_DoneAsExplained: each size next to a limit is carried out as Explain says: what is posted by both sides has the bytes of the payload, once,
// and heads for as many frames as were foretold.
func TestD18_DoneAsExplained(t *testing.T) {
	put := new(braid.Settings)
	if err := put.Set("rendezvous", "put", "the test"); err != nil {
		t.Fatal(err)
	}
	for _, o := range []braid.Options{
		{Transports: braid.Default()[:1]}, {Transports: braid.Default()[:1], Lanes: 2}, {Lanes: 2}, {Transports: braid.Default()[:1], Lanes: 2, Settings: put},
		{Transports: braid.Default()[:1], Lanes: 2, Limits: braid.Limits{Eager: 3000, Stripe: 9000, ZeroCopy: 500}},
	} {
		t.Run(fmt.Sprintf("%d transports, %d lanes, eager %d, put %v", len(o.Transports), o.Lanes, o.Limits.Eager, o.Settings != nil), func(t *testing.T) {
			p := connect(t, o, o)
			p.bw.HandleAM(1, func(*braid.Message) {})
			p.bw.HandleOffer(2, func(m *braid.Message) { m.PostRecv(make([]byte, m.Size())).Release() })
			mem, err := p.bn.Register(make([]byte, 2<<20))
			if err != nil {
				t.Fatal(err)
			}
			key, buf := mem.Key(braid.Read|braid.Write|braid.Atomic), make([]byte, 2<<20)
			for _, op := range []explain.Op{explain.AM, explain.Offer, explain.Tag, explain.TagSync, explain.Put, explain.Get, explain.Atomic, explain.Fetch} {
				x := explain.Of(p.a)
				for r := range x.Sizes(op) {
					if r.Memory == "lent" {
						continue // it is not: direct_linux_test.go
					}
					for _, n := range []int{r.From, r.To} {
						if n <= 1<<20 {
							checkExplained(t, p, op, buf[:n], key)
						}
					}
				}
			}
		})
	}
}

// atomic changes a word of so many bytes.
func atomic(ep *braid.Endpoint, key braid.RKey, fetch bool, size int) braid.Request {
	switch {
	case size == 4 && fetch:
		return ep.Word32(key, 0).PostFetchAdd(1).Request
	case size == 4:
		return ep.Word32(key, 0).PostAdd(1)
	case fetch:
		return ep.Word64(key, 0).PostFetchAdd(1).Request
	}
	return ep.Word64(key, 0).PostAdd(1)
}

// checkExplained carries out one operation.
func checkExplained(t *testing.T, p *pair, op explain.Op, buf []byte, key braid.RKey) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	x := explain.Of(p.a)
	at := slices.IndexFunc(slices.Collect(x.Sizes(op)), func(r explain.SizeRange) bool { return r.Memory != "lent" && r.From <= len(buf) && len(buf) <= r.To })
	want := slices.Collect(x.Sizes(op))[at]
	before := posted(p.a) + posted(p.b)
	var r braid.Request
	switch op {
	case explain.AM:
		r = p.a.PostAM(1, nil, buf)
	case explain.Offer:
		r = p.a.PostOfferAM(2, nil, buf)
	case explain.Tag, explain.TagSync:
		got := p.bw.PostRecvTag(make([]byte, len(buf)), 5, braid.ExactTag)
		defer got.Release()
		post := p.a.PostTag
		if op == explain.TagSync {
			post = p.a.PostTagSync
		}
		r = post(5, buf)
	case explain.Put:
		r = p.a.PostPut(buf, key, 0)
	case explain.Get:
		r = p.a.PostGet(buf, key, 0)
	case explain.Atomic, explain.Fetch:
		r = atomic(p.a, key, op == explain.Fetch, len(buf))
	case explain.Stream:
		t.Fatal("a write to a stream is messages of its package, and none of the operations carried here")
	}
	for done := false; !done; done, _ = r.Test() {
		p.bw.Progress()
	}
	if err := p.a.Flush(ctx); err != nil {
		t.Fatalf("%v of %d: %v", op, len(buf), err)
	}
	i, ok := r.Info()
	by, bytes := i.Protocol, uint64(len(buf))
	if op == explain.Atomic || op == explain.Fetch {
		bytes = 0 // it has no payload
	}
	if by == "eager fragments" && want.Protocol == "spread frames" && len(i.Lanes()) == 1 {
		by = want.Protocol // one lane was the best for each
	}
	if !ok || by != want.Protocol || i.Bytes != bytes || i.Replayed != 0 || len(i.Lanes()) == 0 || len(i.Lanes()) > len(p.a.Lanes()) {
		t.Errorf("%v of %d bytes went by %v; foretold was %s", op, len(buf), i, want.Protocol)
	}
	if err := r.Wait(ctx); err != nil {
		t.Fatalf("%v of %d: %v", op, len(buf), err)
	}
	most := want.Latest
	if want.To == math.MaxInt {
		most = len(buf)/1000 + 10
	}
	heads := int(posted(p.a)+posted(p.b)-before) - len(buf) // a frame has a head of some 16 to 80 bytes; what answers is counted there as well
	if least := 4 * want.Frames; heads < least || heads > 120*(most+2) {
		t.Errorf("%v of %d bytes, %s: %d bytes beside them in %d to %d frames", op, len(buf), want.Protocol, heads, want.Frames, most)
	}
}

// TestD13_LanesAndReasons: what is used when, and why the rest is not.
func TestD13_LanesAndReasons(t *testing.T) {
	o := braid.Options{Lanes: 2, Rails: []string{"127.0.0.1", "127.0.0.2", "192.0.2.77"}}
	p := connect(t, o, braid.Options{})
	x := explain.Of(p.a)
	if len(x.Lanes) != 2 || x.State != "ready" {
		t.Fatalf("%+v", x)
	}
	var roles []string
	for _, l := range x.Lanes {
		roles = append(roles, l.Roles...)
		if l.State != "up" || len(l.Roles) == 0 {
			t.Errorf("%+v: what is it for?", l)
		}
	}
	if all := strings.Join(roles, ","); strings.Count(all, "order") != 1 || strings.Count(all, "small") != 1 || strings.Count(all, "share 50 %") != 2 {
		t.Errorf("roles %s", all)
	}
	for _, u := range x.Unused {
		if u.Why == "" || u.Rail == "" && u.Path == "" {
			t.Errorf("%+v: why not?", u)
		}
	}
	if len(x.Unused) == 0 {
		t.Error("nothing is said about the other rails")
	}
	if y := explain.Of(p.b); len(y.Unused) != 0 || len(y.Lanes) != 2 {
		t.Errorf("the side that was dialed: %+v", y)
	}
	before := x.Stripe
	if err := p.a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if y := explain.Of(p.a); before == 0 || len(y.Lanes) != 0 {
		t.Errorf("closed: %+v", y)
	} else {
		for r := range y.Sizes(explain.Put) {
			t.Errorf("closed, and yet: %+v", r)
		}
	}
}

// TestChosenAnew: a lane that is lost is in no choice any more, and in one again when it is back.
func TestChosenAnew(t *testing.T) {
	start := time.Now()
	faults := fault.New(func() time.Duration { return time.Since(start) })
	rails := []string{"127.0.0.1", "127.0.0.2"}
	p := connect(t, braid.Options{Rails: rails, Faults: faults, Limits: braid.Limits{Stripe: 64 << 10}}, braid.Options{Rails: rails})
	striped := func() bool {
		x := explain.Of(p.a)
		for r := range x.Sizes(explain.AM) {
			if r.Protocol == "striped parts" {
				return len(r.Lanes) == 2 && r.From == 64<<10
			}
		}
		return false
	}
	if !striped() {
		t.Fatal("two lanes, and nothing is striped")
	}
	faults.Cut("127.0.0.2", fault.Reset, time.Minute)
	for deadline := time.Now().Add(10 * time.Second); striped(); {
		if time.Now().After(deadline) {
			t.Fatal("one lane is lost, and it is still chosen")
		}
		time.Sleep(time.Millisecond)
	}
	faults.Heal("127.0.0.2")
	for deadline := time.Now().Add(10 * time.Second); !striped(); {
		if time.Now().After(deadline) {
			t.Fatal("the lane is not chosen again")
		}
		time.Sleep(time.Millisecond)
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
