package perf

import (
	"fmt"
	"math"

	"github.com/openbraid/braid/internal/perf/catalog"
	"github.com/openbraid/braid/internal/perf/ends"
	"github.com/openbraid/braid/internal/perf/gather"
	"github.com/openbraid/braid/internal/perf/pattern"
)

// Tests lists the names, each with what it measures.
func Tests() [][2]string { return catalog.Names() }

// Setup is how the two ends are connected.
type Setup = ends.Setup

// Params say what to measure. Zero values mean the defaults named.
type Params struct {
	Test        string        // required, see Tests
	Size        int           // bytes of payload; 0 is legal for messages
	Lists       gather.Layout // of buffers, of Size bytes together; none: it is one buffer
	Header      int           // bytes of header, for messages; not part of Size
	Iterations  int           // 0: as DefaultIterations says
	Warmup      int           // operations before those that are measured
	Outstanding int           // operations posted and not done; 0: 32, and 1 for latency, get and fetches
	Verify      bool          // who receives checks each byte and each number
	Lent        bool          // the client sends from memory of Node.Alloc, or gets into it
	Percentile  float64
	More        bool // this client has another test for the server: one that serves once waits for it

	Setup
	gate      *gate // of threads that begin together; nil: there is one
	untilOver bool  // of Faults: it ends with the plan
}

const (
	// DefaultSize and DefaultWarmup are those of ucx_perftest.
	DefaultSize   = 8
	DefaultWarmup = 10000
	// DefaultPort is where a server listens.
	DefaultPort = 13337

	maxSize        = 1 << 30
	maxHeader      = 1024
	maxOutstanding = 4096 // as many as an endpoint lets wait: no post is ever refused
	maxIterations  = 1 << 40
	maxVerified    = 1 << 32   // operations that are looked at, warm-up with them: a bit is kept of each
	verifyBytes    = 256 << 20 // of buffers under way, when each operation needs one of its own
	defaultBytes   = 8 << 30   // that a run without -n moves at most
)

// DefaultIterations is a million, as ucx_perftest has it, or as many as move 8 GiB, but ten at least.
func DefaultIterations(size int) int {
	return max(10, min(1_000_000, defaultBytes/max(size, 1)))
}

// Validate fills the defaults in, and says what can't be.
func (p *Params) Validate() error {
	t, err := catalog.Lookup(p.Test)
	if err != nil {
		return err
	}
	p.Test = t.Name
	if p.Faults != nil {
		p.Verify, p.untilOver = true, p.untilOver || p.Iterations == 0 && !p.Faults.Endless() // Validate may come twice
	}
	if p.Iterations == 0 {
		p.Iterations = DefaultIterations(p.Size)
	}
	if p.Outstanding == 0 {
		if p.Outstanding = t.Window; p.Lists.Used() {
			p.Outstanding = 1
		}
	}
	if p.Percentile == 0 {
		p.Percentile = 50
	}
	p.Warmup = min(p.Warmup, p.Iterations)
	if err := p.ranges(); err != nil {
		return err
	}
	if err := p.lists(t); err != nil {
		return err
	}
	switch {
	case t.Latency && p.Outstanding > 1:
		return fmt.Errorf("-O %d: a latency test has one operation under way; use %s", p.Outstanding, t.Bandwidth())
	case t.Put && p.Header > 0:
		return fmt.Errorf("-H %d: a put has no header", p.Header)
	case t.Get && p.Header > 0:
		return fmt.Errorf("-H %d: a get has no header", p.Header)
	case t.Tag && p.Header > 0:
		return fmt.Errorf("-H %d: a tagged message has no header", p.Header)
	case t.Stream:
		return p.streams(t)
	case t.Atomic && p.Header > 0:
		return fmt.Errorf("-H %d: an atomic operation has no header", p.Header)
	case t.Atomic && p.Size != 4 && p.Size != 8:
		return fmt.Errorf("-s %d: an atomic operation is on a word of 4 or of 8 bytes", p.Size)
	case t.Put && t.Latency && !t.Signal && p.Size < pattern.WordLen:
		return fmt.Errorf("-s %d: %s needs %d bytes or more, for the counter at the end", p.Size, t.Name, pattern.WordLen)
	case t.Put && t.Latency && !t.Signal && p.Shared && p.Size != pattern.WordLen:
		return fmt.Errorf("-s %d: with --shared another goroutine writes what %s polls, and only a put of %d bytes is seen whole then (docs/memory.md)", p.Size, t.Name, pattern.WordLen)
	case (t.Put || t.Get) && p.Verify && p.Size == 0:
		return fmt.Errorf("-s 0: nothing arrives that --verify could look at")
	case p.Verify && p.Header > 0 && p.Header < pattern.WordLen:
		return fmt.Errorf("-H %d: with --verify the header begins with a number of %d bytes", p.Header, pattern.WordLen)
	}
	if p.Verify && p.Size > 0 {
		p.Outstanding = min(p.Outstanding, max(1, verifyBytes/p.Size))
	}
	return p.Setup.Validate()
}

// streams says what can't be of a test over a stream of bytes.
func (p *Params) streams(t catalog.Test) error {
	switch {
	case !p.Shared || p.Sleep:
		return fmt.Errorf("%s: calls on a stream wait, which needs workers that move by themselves: --shared, without -E sleep, on both sides", t.Name)
	case p.Header > 0:
		return fmt.Errorf("-H %d: a stream has no headers", p.Header)
	case p.Size == 0:
		return fmt.Errorf("-s 0: nothing of no bytes is in a stream")
	case p.Outstanding > 1:
		return fmt.Errorf("-O %d: a write to a stream returns when its bytes are taken; there is no window of them", p.Outstanding)
	}
	return p.Setup.Validate()
}

func (p *Params) ranges() error {
	for _, r := range []struct {
		flag       string
		v, low, up int
	}{
		{"-s", p.Size, 0, maxSize}, {"-H", p.Header, 0, maxHeader}, {"-n", p.Iterations, 1, maxIterations},
		{"-w", p.Warmup, 0, maxIterations}, {"-O", p.Outstanding, 1, maxOutstanding}, {"--lanes", p.Lanes, 0, 16},
	} {
		if r.v < r.low || r.v > r.up {
			return fmt.Errorf("%s %d: must be %d to %d", r.flag, r.v, r.low, r.up)
		}
	}
	if n := p.Iterations + min(p.Warmup, p.Iterations); p.Verify && n > maxVerified {
		return fmt.Errorf("--verify with %d operations (-n and -w): at most %d, since what has arrived is kept of each", n, maxVerified)
	}
	if !(p.Percentile > 0 && p.Percentile <= 100) || math.IsNaN(p.Percentile) {
		return fmt.Errorf("-R %v: a percentile is above 0 and at most 100", p.Percentile)
	}
	return nil
}

// IsLatency says whether the test's time per operation is a latency; otherwise it is an overhead. That of a get, or a fetch, is the
// whole way there and back, and one only while there is no other under way: -O says which of the two it is.
func (p *Params) IsLatency() bool {
	t, err := catalog.Lookup(p.Test)
	return err == nil && (t.Latency || (t.Get || t.Fetch) && p.Outstanding == 1)
}
