package perf

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/openbraid/braid"
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
	DeltaNS  Interval `json:"delta_ns"`
	Pairs    int      `json:"pairs"`
	BlockOps int      `json:"block_ops"`
	Seed     uint64   `json:"seed"`
	Null     bool     `json:"null"`
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
	case !p.IsLatency() && p.Outstanding < minWindow:
		return fmt.Errorf("-O %d: at least %d with --pair-modes, or each block measures waiting instead of work", p.Outstanding, minWindow)
	}
	return nil
}

// RunPairs compares the two error modes over two endpoints of this process to the server at addr.
func RunPairs(ctx context.Context, addr string, p PairParams) (Result, error) {
	if err := p.Validate(); err != nil {
		return Result{}, err
	}
	return onThread(p.CPUs, func() (Result, error) { return runPairs(ctx, addr, p) })
}

func runPairs(ctx context.Context, addr string, p PairParams) (r Result, err error) {
	modes := [2]braid.ErrorMode{braid.Failover, braid.None}
	if p.Null {
		modes[0] = braid.None
	}
	id := newID()
	var ends [2]*client
	for i, mode := range modes {
		q := p.Params
		q.ErrorMode = mode
		c, err := dial(ctx, addr, q, id)
		if err != nil {
			return r, err
		}
		defer c.close(&err)
		if err := c.begin(0); err != nil {
			return r, err
		}
		if got := c.ep.Mode(); got != mode {
			return r, fmt.Errorf("asked for error mode %v, got %v: the server can't", mode, got)
		}
		ends[i] = c
	}
	if a, b := len(ends[0].ep.Lanes()), len(ends[1].ep.Lanes()); a != b {
		return r, fmt.Errorf("the two endpoints have %d and %d lanes: nothing to compare", a, b)
	}
	d := duel{p: p, ends: ends}
	if err := d.fight(); err != nil {
		return r, err
	}
	r.Lanes, r.ErrorMode = len(ends[0].ep.Lanes()), modes[0].String()+"/"+modes[1].String()
	r.take(&p.Params, d.meters[0], Tally{})
	r.Pair = d.result()
	for _, c := range ends {
		if _, err := c.end(); err != nil {
			return r, err
		}
	}
	return r, nil
}

// duel is two endpoints that take turns.
type duel struct {
	p      PairParams
	ends   [2]*client
	meters [2]*meter
	ops    int // of a block
	ratios []float64
	deltas []float64 // per operation, ns
}

func (d *duel) fight() error {
	for i, c := range d.ends {
		d.meters[i] = newMeter(&c.p, nil)
		d.meters[i].begin()
	}
	if err := d.calibrate(); err != nil {
		return err
	}
	for i := range d.meters {
		d.meters[i] = newMeter(&d.p.Params, nil)
		d.meters[i].begin()
	}
	order := rand.New(rand.NewPCG(d.p.Seed, d.p.Seed^perWord))
	for range d.p.Pairs {
		var took [2]time.Duration
		first := order.IntN(2)
		for _, i := range [2]int{first, 1 - first} {
			var err error
			if took[i], err = d.block(i); err != nil {
				return err
			}
		}
		a, b := float64(took[0]), float64(took[1])
		d.ratios = append(d.ratios, a/b)
		d.deltas = append(d.deltas, (a-b)/float64(d.ops)/d.meters[0].factor)
	}
	return nil
}

// block runs one block on one of the two. What the endpoint has to do after its pause is not part of it.
func (d *duel) block(i int) (time.Duration, error) {
	c := d.ends[i]
	for c.w.Progress() > 0 {
	}
	d.meters[i].skip()
	begun := time.Now()
	err := c.operate(d.ops, d.meters[i])
	return time.Since(begun), err
}

// calibrate finds how many operations fill a block, and warms up on the way.
func (d *duel) calibrate() error {
	d.ops = d.p.Outstanding
	for steady := 0; steady < 8; {
		var took [2]time.Duration
		for i := range took {
			var err error
			if took[i], err = d.block(i); err != nil {
				return err
			}
		}
		switch fastest := min(took[0], took[1]); {
		case fastest < d.p.Block/2:
			d.ops *= 2
			steady = 0
		default:
			steady++
		}
	}
	return nil
}

func (d *duel) result() *Pair {
	ratio, delta := Median(d.ratios), Median(d.deltas)
	return &Pair{
		Ratio: ratio.Median, Low: ratio.Low, High: ratio.High, DeltaNS: delta,
		Pairs: len(d.ratios), BlockOps: d.ops, Seed: d.p.Seed, Null: d.p.Null,
	}
}
