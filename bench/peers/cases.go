package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/openbraid/braid/bench/duel"
	"github.com/openbraid/braid/bench/rival"
	"github.com/openbraid/braid/internal/perf/cpu"
	"github.com/openbraid/braid/internal/perf/solo"
)

// What a figure is.
const (
	latency   = "latency_us"
	rate      = "rate_per_s"
	bandwidth = "bandwidth_MB_s"
)

// contest is one test over one transport, with both programs.
type contest struct {
	transport string
	figure    string
	load      rival.Load
	goal      duel.Goal
	ucx       []string // values of UCX_TLS; the better one counts
	more      []string // options of braid's
	label     string   // instead of the test's name
	oneCore   bool     // both processes on one processor
	absolute  bool     // the goal is about braid's own figure
	solo      bool     // one process that sends to itself
	lent      bool     // braid sends from memory of its allocator
	owned     bool     // not against UCX: braid's Shared mode against its Owned mode
}

// peer is whom braid is compared with.
func (c *contest) peer() string {
	if c.owned {
		return "owned"
	}
	return "ucx"
}

// name is what --tests chooses by.
func (c *contest) name() string {
	return c.transport + "/" + c.test() + "/" + rival.SizeName(c.load.Size)
}

func (c *contest) test() string {
	if c.label != "" {
		return c.label
	}
	return c.load.Test
}

// unit is what duel knows of it: less is better of microseconds only.
func (c *contest) unit() string {
	if c.figure == latency {
		return "us"
	}
	return "MB/s"
}

var (
	small = []int{8}
	large = []int{64 * rival.KiB, rival.MiB, 16 * rival.MiB}
	// between have no goal: they are for the plots.
	between = []int{512, 4 * rival.KiB}
)

// contests are all of them; quick leaves out what has no goal, and the largest.
func contests(quick bool) (all []contest) {
	add := func(c contest, tests string, sizes []int, goals ...duel.Goal) {
		for _, t := range strings.Fields(tests) {
			for i, size := range sizes {
				c.load.Test, c.load.Size, c.goal = t, size, goals[min(i, len(goals)-1)]
				c.load.Iters, c.load.Pick = size2iters(c.figure, size, quick), pick(c.figure)
				c.more = nil
				if strings.HasPrefix(t, "stream_") { // calls on streams wait, which takes shared workers
					c.more = []string{"--shared"}
				}
				if c.lent {
					c.more = []string{"--lent"}
				}
				if c.load.More = nil; t == "get" && c.figure == bandwidth {
					c.load.More = []string{"-O", "32"} // one by default, on both sides
				}
				all = append(all, c)
			}
		}
	}
	le, ge := duel.AtMost, duel.AtLeast
	big := large
	if quick {
		big = large[:2]
	}
	posix := []string{"posix,self"}
	shm := func(figure string) contest { return contest{transport: "shm", figure: figure, ucx: posix} }
	add(shm(latency), "tag_lat am_lat", small, le(0.65))
	add(shm(latency), "put_lat", small, le(1.05))
	add(shm(rate), "tag_bw am_bw", small, ge(2))
	add(shm(rate), "put_bw", small, ge(1))
	either := shm(bandwidth)
	either.ucx = []string{"posix,self", "posix,cma,self"}
	add(either, "tag_bw am_bw", big, ge(1.6), ge(1.3), ge(1.2))
	for _, test := range []string{"tag_bw", "am_bw"} { // the goal is that of near processors
		c := either
		c.lent, c.label = true, "lent/"+test
		add(c, test, big, ge(4), ge(2.5), ge(2.2))
	}
	add(shm(bandwidth), "put_bw get", big, ge(0.95), ge(0.95), ge(1.2))
	tcp := func(figure string) contest { return contest{transport: "tcp", figure: figure, ucx: []string{"tcp"}} }
	add(tcp(latency), "tag_lat am_lat stream_lat", small, le(1))
	add(tcp(rate), "tag_bw am_bw", small, ge(10))
	add(tcp(bandwidth), "tag_bw am_bw put_bw get stream_bw", big, ge(1.5), ge(1.15), ge(1.15))
	if !quick {
		for _, c := range []contest{shm(bandwidth), tcp(bandwidth)} {
			add(c, "am_bw put_bw", between, duel.Goal{})
		}
		for _, c := range []contest{shm(latency), tcp(latency)} {
			add(c, "am_lat", append([]int{}, append(between, 64*rival.KiB)...), duel.Goal{})
		}
	}
	alone := contest{transport: "self", figure: latency, ucx: []string{"self"}, solo: true}
	add(alone, "tag_lat am_lat put_lat", small, le(1))
	for _, transport := range []string{"shm", "tcp"} {
		for _, test := range []string{"tag_lat", "am_lat"} {
			c := contest{transport: transport, figure: latency, label: "shared/" + test, owned: true}
			add(c, test, small, le(1.25))
		}
	}
	return append(all, crowded())
}

// crowded is two processes on one processor: who polls there must let the other one in.
func crowded() contest {
	return contest{
		transport: "shm", label: "one_core/am_lat", figure: latency, ucx: []string{"posix,self"}, goal: duel.AtMost(10), oneCore: true, absolute: true,
		load: rival.Load{Test: "am_lat", Size: 8, Iters: 300, Pick: rival.P50},
	}
}

// size2iters is how many operations give a figure within seconds.
func size2iters(figure string, size int, quick bool) int {
	n := 0
	switch {
	case figure == latency:
		n = 200_000
	case figure == rate:
		n = 1_000_000
	default:
		n = max(32, min(100_000, 512*rival.MiB/size))
	}
	if quick {
		n = max(32, n/4)
	}
	return n
}

func pick(figure string) func(r *result) float64 {
	switch figure {
	case latency:
		return rival.P50
	case rate:
		return rival.Rate
	}
	return rival.Bandwidth
}

// compare makes the two sides of a contest.
func (c *contest) compare(p *rival.Programs) duel.Comparison {
	if c.oneCore {
		q := *p
		q.B = q.A
		p = &q
	}
	d := duel.Comparison{Name: c.name(), Unit: c.unit(), Goal: c.goal, Theirs: c.theirs(p), Peer: c.peer()}
	if c.absolute {
		d.Goal = duel.Goal{}
	}
	over := []string{"--transport", c.transport}
	d.Ours = p.Braid(c.load, append(over, c.more...)...)
	switch {
	case c.solo:
		d.Ours, d.Theirs = c.alone(p.A), p.UCXLoop(c.load, c.ucx[0])
	case c.owned:
		d.Ours, d.Theirs = p.Braid(c.load, append(over, "--shared")...), p.Braid(c.load, over...)
	}
	return d
}

// alone is braid in this process, on one processor.
func (c *contest) alone(on string) duel.Runner {
	return func(ctx context.Context) (float64, error) {
		return cpu.OnThread(on, func() (float64, error) {
			s, err := solo.New(ctx, c.load.Size)
			if err != nil {
				return 0, err
			}
			defer s.Close()
			return s.Run(c.load.Test, c.load.Iters)
		})
	}
}

// theirs is UCX with the better one of the transports that it may use.
func (c *contest) theirs(p *rival.Programs) duel.Runner {
	return func(ctx context.Context) (best float64, err error) {
		for i, tls := range c.ucx {
			v, err := p.UCX(c.load, tls)(ctx)
			if err != nil {
				return 0, fmt.Errorf("UCX_TLS=%s: %w", tls, err)
			}
			if better := v > best; i == 0 || better != (c.figure == latency) {
				best = v
			}
		}
		return best, nil
	}
}
