package perf

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/catalog"
	"github.com/openbraid/braid/internal/perf/median"
	"github.com/openbraid/braid/internal/perf/meter"
	"github.com/openbraid/braid/internal/perf/pattern"
)

// PairParams compare the error modes failover and none.
type PairParams struct {
	Params               // ErrorMode, Iterations and Verify are not for the caller to choose
	Pairs  int           // of blocks; 0: 400
	Block  time.Duration // that a block takes, about; 0: 3 ms
	Seed   uint64        // of the order within the pairs
	Null   bool          // both endpoints in mode none: a check of the method
}

const (
	defaultPairs = 400
	minPairs     = 200
	minWindow    = 32
	defaultBlock = 3 * time.Millisecond
)

// Pair is the cost of an error mode: time with failover / time with none, above 1 is a cost.
type Pair struct {
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// The same as a difference per operation: what is small is judged in nanoseconds.
	DeltaNS  median.Interval `json:"delta_ns"`
	Pairs    int             `json:"pairs"`
	Couples  int             `json:"couples"` // of endpoints, which the pairs are spread over
	BlockOps int             `json:"block_ops"`
	Seed     uint64          `json:"seed"`
	Null     bool            `json:"null"`
}

// Validate fills the defaults in, and says what can't be.
func (p *PairParams) Validate() error {
	if p.Pairs == 0 {
		p.Pairs = defaultPairs
	}
	if p.Block == 0 {
		p.Block = defaultBlock
	}
	if err := p.Params.Validate(); err != nil {
		return err
	}
	switch {
	case p.Verify:
		return fmt.Errorf("--verify with --pair-modes: the check would cost more than what is compared; verify in a run of its own")
	case p.Pairs < minPairs || p.Pairs > 1_000_000:
		return fmt.Errorf("--pairs %d: %d to a million", p.Pairs, minPairs)
	case p.Block < 100*time.Microsecond || p.Block > time.Second:
		return fmt.Errorf("--block %v: 100us to 1s", p.Block)
	case !p.IsLatency() && !catalog.Waits(p.Test) && p.Outstanding < minWindow: // a stream has no window, and always something to write
		return fmt.Errorf("-O %d: at least %d with --pair-modes, or each block measures waiting instead of work", p.Outstanding, minWindow)
	}
	return nil
}

// RunPairs compares the two error modes over two endpoints of this process to the server at addr.
func RunPairs(ctx context.Context, addr string, p PairParams) (Result, error) {
	if err := p.Validate(); err != nil {
		return Result{}, err
	}
	r, err := p.bound(func() (Result, error) { return runPairs(ctx, addr, p) })
	return r, ended(ctx, err)
}

func runPairs(ctx context.Context, addr string, p PairParams) (r Result, err error) {
	d := duel{ctx: ctx, addr: addr, p: p, id: newID(), modes: [2]braid.ErrorMode{braid.Failover, braid.None}}
	if p.Null {
		d.modes[0] = braid.None
	}
	for i := range d.meters {
		d.meters[i] = newMeter(&p.Params, nil)
		d.meters[i].Begin()
	}
	defer func() { d.leave(d.ends, &err) }()
	order := rand.New(rand.NewPCG(p.Seed, p.Seed^pattern.PerWord))
	couples := couplesOf(p.Pairs)
	for i := range couples {
		if err := d.renew(order.IntN(2)); err != nil {
			return r, err
		}
		if err := d.fight(order, p.Pairs*(i+1)/couples-p.Pairs*i/couples); err != nil {
			return r, err
		}
	}
	r.Lanes, r.ErrorMode = len(d.ends[0].ep.Lanes()), d.modes[0].String()+"/"+d.modes[1].String()
	r.take(&p.Params, d.meters[0], Tally{})
	r.Latency.Over = min(r.Latency.Over, d.ops)
	r.Pair = d.result()
	return r, nil
}

// couplesOf is how many times the two endpoints are made anew, in either order: where their memory lies makes a difference
// of some percent that stays for their life, and must not pass for one of the modes.
func couplesOf(pairs int) int { return max(80, pairs/5) }

// duel is two endpoints that take turns.
type duel struct {
	ctx    context.Context
	addr   string
	p      PairParams
	id     string
	modes  [2]braid.ErrorMode
	ends   [2]*client
	meters [2]*meter.Meter
	ops    int         // of a block
	ratios [][]float64 // of each couple
	deltas [][]float64 // per operation, ns
}

// renew replaces the two endpoints. The old ones go when the new ones stand, so that the server sees one client.
func (d *duel) renew(first int) (err error) {
	var next [2]*client
	for _, i := range [2]int{first, 1 - first} {
		if next[i], err = d.dial(i); err != nil {
			d.leave(next, &err)
			return err
		}
	}
	old := d.ends
	d.ends = next
	d.leave(old, &err)
	if err != nil {
		return err
	}
	if a, b := len(next[0].ep.Lanes()), len(next[1].ep.Lanes()); a != b {
		return fmt.Errorf("the two endpoints have %d and %d lanes: nothing to compare", a, b)
	}
	return d.calibrate(first)
}

func (d *duel) dial(i int) (*client, error) {
	q := d.p.Params
	q.ErrorMode = d.modes[i]
	c, err := dial(d.ctx, d.addr, q, d.id, nil)
	if err != nil {
		return nil, err
	}
	if err = c.begin(0); err == nil && c.ep.Mode() != q.ErrorMode {
		err = fmt.Errorf("asked for error mode %v, got %v: the server can't", q.ErrorMode, c.ep.Mode())
	}
	if err != nil {
		c.close(&err)
		return nil, err
	}
	return c, nil
}

// leave ends endpoints, in agreement if nothing has failed.
func (d *duel) leave(ends [2]*client, err *error) {
	for _, c := range ends {
		if c == nil {
			continue
		}
		if *err == nil {
			_, *err = c.end()
		}
		c.close(err)
	}
}

// fight is the blocks of one couple.
func (d *duel) fight(order *rand.Rand, pairs int) error {
	var ratios, deltas []float64
	for range pairs {
		var took [2]time.Duration
		first := order.IntN(2)
		for _, i := range [2]int{first, 1 - first} {
			var err error
			if took[i], err = d.block(i, d.meters[i]); err != nil {
				return err
			}
		}
		ratio, delta := costOf(took, float64(d.ops)*d.meters[0].Factor())
		ratios, deltas = append(ratios, ratio), append(deltas, delta)
	}
	d.ratios, d.deltas = append(d.ratios, ratios), append(d.deltas, deltas)
	return nil
}

// costOf is what the first mode costs beside the second: the quotient of the times of a pair of blocks, and their difference for each of n
// operations, ns.
func costOf(took [2]time.Duration, n float64) (ratio, delta float64) {
	a, b := float64(took[0]), float64(took[1])
	return a / b, (a - b) / n
}

// block runs one block on one of the two. What the endpoint has to do after its pause is not part of it.
func (d *duel) block(i int, m *meter.Meter) (time.Duration, error) {
	c := d.ends[i]
	for c.w.Progress() > 0 {
	}
	m.Skip()
	begun := time.Now()
	err := c.operate(d.ops, m)
	return time.Since(begun), err
}

// steady is how many blocks of full length come before those that count.
const steady = 3

// calibrate warms a couple up, beginning with either: who comes last is warmer in the first pair. The first couple also finds how many operations fill a
// block.
func (d *duel) calibrate(first int) error {
	idle := newMeter(&d.p.Params, nil)
	idle.Begin()
	known := d.ops > 0
	d.ops = max(d.ops, d.p.Outstanding)
	for n := 0; n < steady; n++ {
		var took [2]time.Duration
		for _, i := range [2]int{first, 1 - first} {
			var err error
			if took[i], err = d.block(i, idle); err != nil {
				return err
			}
		}
		if !known && min(took[0], took[1]) < d.p.Block/2 {
			d.ops *= 2
			n = -1
		}
	}
	return nil
}

func (d *duel) result() *Pair {
	ratio, pairs := median.OfGroups(d.ratios)
	delta, _ := median.OfGroups(d.deltas)
	return &Pair{
		Ratio: meter.Rounded(ratio.Median), Low: meter.Rounded(ratio.Low), High: meter.Rounded(ratio.High),
		DeltaNS: median.Interval{Median: meter.Rounded(delta.Median), Low: meter.Rounded(delta.Low), High: meter.Rounded(delta.High)},
		Pairs:   pairs, Couples: len(d.ratios), BlockOps: d.ops, Seed: d.p.Seed, Null: d.p.Null,
	}
}
