package braid_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
)

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
	for _, o := range []braid.Options{
		{Transports: braid.Default()[:1]}, {Transports: braid.Default()[:1], Lanes: 2}, {Lanes: 2},
		{Transports: braid.Default()[:1], Lanes: 2, Limits: braid.Limits{Eager: 3000, Stripe: 9000, ZeroCopy: 500}},
	} {
		t.Run(fmt.Sprintf("%d transports, %d lanes, eager %d", len(o.Transports), o.Lanes, o.Limits.Eager), func(t *testing.T) {
			tidy(t)
			p := connect(t, o, o)
			p.bw.HandleAM(1, func(*braid.Message) {})
			mem, err := p.bn.Register(make([]byte, 2<<20))
			if err != nil {
				t.Fatal(err)
			}
			key, buf := mem.Key(braid.Read|braid.Write), make([]byte, 2<<20)
			for _, op := range []braid.Op{braid.OpAM, braid.OpTag, braid.OpTagSync, braid.OpPut, braid.OpGet} {
				x := p.a.Explain()
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

// checkExplained carries out one operation.
func checkExplained(t *testing.T, p *pair, op braid.Op, buf []byte, key braid.RKey) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	x := p.a.Explain()
	at := slices.IndexFunc(slices.Collect(x.Sizes(op)), func(r braid.SizeRange) bool { return r.Memory != "lent" && r.From <= len(buf) && len(buf) <= r.To })
	want := slices.Collect(x.Sizes(op))[at]
	before := posted(p.a) + posted(p.b)
	var err error
	switch op {
	case braid.OpAM:
		err = p.a.SendAM(ctx, 1, nil, buf)
	case braid.OpTag, braid.OpTagSync:
		got := p.bw.PostRecvTag(make([]byte, len(buf)), 5, braid.ExactTag)
		if op == braid.OpTag {
			err = p.a.SendTag(ctx, 5, buf)
		} else {
			err = p.a.SendTagSync(ctx, 5, buf)
		}
		if _, e := got.Wait(ctx); err == nil {
			err = e
		}
	case braid.OpPut:
		err = p.a.Put(ctx, buf, key, 0)
	case braid.OpGet:
		err = p.a.Get(ctx, buf, key, 0)
	}
	if e := p.a.Flush(ctx); err == nil {
		err = e
	}
	if err != nil {
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
	tidy(t)
	o := braid.Options{Lanes: 2, Rails: []string{"127.0.0.1", "127.0.0.2", "192.0.2.77"}}
	p := connect(t, o, braid.Options{})
	x := p.a.Explain()
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
	if y := p.b.Explain(); len(y.Unused) != 0 || len(y.Lanes) != 2 {
		t.Errorf("the side that was dialed: %+v", y)
	}
	before := x.Stripe
	if err := p.a.Close(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if y := p.a.Explain(); before == 0 || len(y.Lanes) != 0 {
		t.Errorf("closed: %+v", y)
	} else {
		for r := range y.Sizes(braid.OpPut) {
			t.Errorf("closed, and yet: %+v", r)
		}
	}
}

// TestChosenAnew: a lane that is lost is in no choice any more, and in one again when it is back.
func TestChosenAnew(t *testing.T) {
	tidy(t)
	start := time.Now()
	faults := fault.New(func() time.Duration { return time.Since(start) })
	rails := []string{"127.0.0.1", "127.0.0.2"}
	p := connect(t, braid.Options{Rails: rails, Faults: faults, Limits: braid.Limits{Stripe: 64 << 10}}, braid.Options{Rails: rails})
	striped := func() bool {
		x := p.a.Explain()
		for r := range x.Sizes(braid.OpAM) {
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
