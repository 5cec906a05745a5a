package braid_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/transport/shm"
)

// TestFaultsOfMemory: what is asked to break things (Options.Faults) has the lane through shared memory, too, and only that one if it is told so.
func TestFaultsOfMemory(t *testing.T) {
	if shm.Prefix() == "" {
		t.Skip("no shared memory here")
	}
	for _, text := range []string{"cut on=shm kind=reset for=300ms", "cut on=shm kind=silence for=300ms"} {
		t.Run(text, func(t *testing.T) {
			ctx := testContext(t)
			inj := injector(t)
			var lost, back atomic.Int32
			p := connect(t, braid.Options{Faults: inj, OnEvent: func(e braid.Event) {
				switch {
				case e.Kind == braid.LaneDown:
					lost.Add(1)
				case e.Kind == braid.LaneUp && lost.Load() > 0:
					back.Add(1)
				}
			}}, braid.Options{})
			p.bw.HandleAM(1, func(*braid.Message) {})
			sum, err := p.bn.Alloc(64)
			if err != nil {
				t.Fatal(err)
			}
			word, added := p.a.Word64(sum.Key(braid.Atomic), 0), uint64(0)
			if got := kinds(p.a); got != "shm tcp" {
				t.Fatalf("lanes: %s", got)
			}
			r, err := fault.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			say := func() {
				if err := p.a.SendAM(ctx, 1, nil, make([]byte, 100)); err != nil {
					t.Fatal(err)
				}
				if err := word.Add(ctx, 1); err != nil {
					t.Fatal(err)
				}
				added++
				if err := p.a.Flush(ctx); err != nil {
					t.Fatal(err)
				}
				inj.Advance()
			}
			direct := func() uint64 { return p.a.Stats().Direct }
			directly := func(when string) {
				for was, stop := direct(), time.Now().Add(20*time.Second); direct() == was; say() {
					if time.Now().After(stop) {
						t.Fatalf("%s: no word is added to directly", when)
					}
				}
			}
			directly("before")
			inj.Apply(r)
			for lost.Load() == 0 {
				say()
			}
			for back.Load() == 0 {
				say()
			}
			directly("behind it")
			if n := direct(); sum.Load64(0) != added || n == added {
				t.Errorf("%d is the sum of %d, of which %d were added directly", sum.Load64(0), added, n)
			}
			if s := inj.Report()[0]; s.Streams != 1 || lost.Load() != 1 {
				t.Errorf("%d connections were cut, %d lanes were lost: %+v", s.Streams, lost.Load(), s)
			}
		})
	}
}
