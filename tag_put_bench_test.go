package braid_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// BenchmarkTagPut compares the two ways by which large messages come, one beside the other in turns: both sides polled by one goroutine, so that what is measured is what
// both together have to do. alone: one message at a time; many: eight under way. put/get is the median of the quotients of times.
func BenchmarkTagPut(b *testing.B) {
	for _, over := range []string{"tcp", "rc", "tcp,shm"} {
		for _, lanes := range []int{1, 2} {
			for _, many := range []int{1, 8} {
				for _, n := range []int{64 << 10, 300 << 10, 1 << 20, 16 << 20} {
					if lanes == 2 && (over != "tcp" || n < 1<<20) || many > 1 && n > 1<<20 {
						continue
					}
					b.Run(fmt.Sprintf("%s/%d_lanes/%d_at_a_time/%dKiB", over, lanes, many, n>>10), func(b *testing.B) { tagPut(b, over, lanes, many, n) })
				}
			}
		}
	}
}

func tagPut(b *testing.B, over string, lanes, many, n int) {
	var pairs [2]*owned
	for i, by := range []string{"get", "put"} {
		set := rendezvous(b, by)
		if err := set.Set("transports", over, "the test"); err != nil {
			b.Fatal(err)
		}
		pairs[i] = connectPolled(b, braid.Options{Owned: true, Settings: set, Lanes: lanes, Limits: braid.Limits{Eager: 16 << 10}})
	}
	src, dst := bytes.Repeat([]byte{1}, n), make([][]byte, many)
	for i := range dst {
		dst[i] = make([]byte, n)
	}
	took := func(o *owned) float64 {
		begin := time.Now()
		for range max(1, 4<<20/(n*many)) {
			rs := make([]braid.Request, 0, 2*many)
			for i := range many {
				rs = append(rs, o.bw.PostRecvTag(dst[i], 7, braid.ExactTag).Request, o.a.PostTag(7, src))
			}
			for _, r := range rs {
				done, err := r.Test()
				for ; !done; done, err = r.Test() {
					o.turn()
				}
				if r.Release(); err != nil {
					b.Fatal(err)
				}
			}
		}
		return float64(time.Since(begin))
	}
	var ratios []float64
	for i := 0; b.Loop(); i++ {
		var t [2]float64
		for k := range pairs {
			k = (k + i) % 2
			t[k] = took(pairs[k])
		}
		ratios = append(ratios, t[1]/t[0])
	}
	slices.Sort(ratios)
	at := func(q int) float64 { return ratios[q*(len(ratios)-1)/100] }
	b.ReportMetric(at(50), "put/get")
	b.ReportMetric(at(25), "low")
	b.ReportMetric(at(75), "high")
	b.ReportMetric(0, "ns/op")
}
