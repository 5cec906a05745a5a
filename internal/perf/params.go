package perf

import (
	"fmt"
	"math"
	"strings"

	"github.com/openbraid/braid/internal/perf/ends"
	"github.com/openbraid/braid/internal/perf/pattern"
)

// Setup is how the two ends are connected.
type Setup = ends.Setup

// Params say what to measure. Zero values mean the defaults named.
type Params struct {
	Test        string // required, see Tests
	Size        int    // bytes of payload; 0 is legal for messages
	Header      int    // bytes of header, for messages; not part of Size
	Iterations  int    // 0: as DefaultIterations says
	Warmup      int    // operations before those that are measured
	Outstanding int    // operations posted and not done; 0: 32, and 1 for latency, get and fetches
	Verify      bool   // who receives checks each byte and each number
	Percentile  float64
	More        bool // this client has another test for the server: one that serves once waits for it

	Setup
	untilOver bool // of Faults: it ends with the plan
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
	t, err := lookup(p.Test)
	if err != nil {
		return err
	}
	p.Test = t.name
	if p.Faults != nil {
		p.Verify, p.untilOver = true, p.untilOver || p.Iterations == 0 && !p.Faults.Endless() // Validate may come twice
	}
	if p.Iterations == 0 {
		p.Iterations = DefaultIterations(p.Size)
	}
	if p.Outstanding == 0 {
		p.Outstanding = t.window
	}
	if p.Percentile == 0 {
		p.Percentile = 50
	}
	p.Warmup = min(p.Warmup, p.Iterations)
	if err := p.ranges(); err != nil {
		return err
	}
	switch {
	case t.latency && p.Outstanding > 1:
		return fmt.Errorf("-O %d: a latency test has one operation under way; use %s", p.Outstanding, strings.Replace(t.name, "_lat", "_bw", 1))
	case t.put && p.Header > 0:
		return fmt.Errorf("-H %d: a put has no header", p.Header)
	case t.get && p.Header > 0:
		return fmt.Errorf("-H %d: a get has no header", p.Header)
	case t.tag && p.Header > 0:
		return fmt.Errorf("-H %d: a tagged message has no header", p.Header)
	case t.stream:
		return p.streams(t)
	case t.atomic && p.Header > 0:
		return fmt.Errorf("-H %d: an atomic operation has no header", p.Header)
	case t.atomic && p.Size != 4 && p.Size != 8:
		return fmt.Errorf("-s %d: an atomic operation is on a word of 4 or of 8 bytes", p.Size)
	case t.put && t.latency && p.Size < pattern.WordLen:
		return fmt.Errorf("-s %d: %s needs %d bytes or more, for the counter at the end", p.Size, t.name, pattern.WordLen)
	case t.put && t.latency && p.Shared && p.Size != pattern.WordLen:
		return fmt.Errorf("-s %d: with --shared another goroutine writes what %s polls, and only a put of %d bytes is seen whole then (docs/memory.md)", p.Size, t.name, pattern.WordLen)
	case (t.put || t.get) && p.Verify && p.Size == 0:
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
func (p *Params) streams(t test) error {
	switch {
	case !p.Shared || p.Sleep:
		return fmt.Errorf("%s: calls on a stream wait, which needs workers that move by themselves: --shared, without -E sleep, on both sides", t.name)
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

// test is one row of the table of tests.
type test struct {
	name    string
	help    string
	latency bool // a ping-pong
	put     bool
	get     bool
	atomic  bool
	fetch   bool // it brings what the word was
	swaps   bool
	tag     bool
	stream  bool // of bytes
	sync    bool // it is done when it is matched
	window  int
}

// tests is what there is. A new operation of the API gets its row here and its poster in stream.go.
var tests = []test{
	{name: "put_lat", help: "put latency", latency: true, put: true, window: 1},
	{name: "put_bw", help: "put bandwidth / message rate", put: true, window: 32},
	{name: "get", help: "get latency / bandwidth / message rate", get: true, window: 1},
	{name: "add", help: "atomic add message rate", atomic: true, window: 32},
	{name: "fadd", help: "atomic fetch-and-add latency / message rate", atomic: true, fetch: true, window: 1},
	{name: "swap", help: "atomic swap latency / message rate", atomic: true, fetch: true, swaps: true, window: 1},
	{name: "cswap", help: "atomic compare-and-swap latency / message rate", atomic: true, fetch: true, swaps: true, window: 1},
	{name: "am_lat", help: "active message latency", latency: true, window: 1},
	{name: "am_bw", help: "active message bandwidth / message rate", window: 32},
	{name: "tag_lat", help: "tagged message latency", latency: true, tag: true, window: 1},
	{name: "tag_bw", help: "tagged message bandwidth / message rate", tag: true, window: 32},
	{name: "tag_sync_lat", help: "synchronous tagged message latency", latency: true, tag: true, sync: true, window: 1},
	{name: "tag_sync_bw", help: "synchronous tagged message bandwidth / message rate", tag: true, sync: true, window: 32},
	{name: "stream_lat", help: "byte stream latency", latency: true, stream: true, window: 1},
	{name: "stream_bw", help: "byte stream bandwidth / write rate", stream: true, window: 1},
}

// Tests lists the names, each with what it measures.
func Tests() (list [][2]string) {
	for _, t := range tests {
		list = append(list, [2]string{t.name, t.help})
	}
	return list
}

func lookup(name string) (test, error) {
	short := strings.TrimPrefix(name, "ucp_")
	var names []string
	for _, t := range tests {
		if t.name == short {
			return t, nil
		}
		names = append(names, t.name)
	}
	have := strings.Join(names, ", ")
	if name == "" {
		return test{}, fmt.Errorf("which test? -t %s", have)
	}
	return test{}, fmt.Errorf("-t %s: no such test; there are %s", name, have)
}

// IsLatency says whether the test's time per operation is a latency; otherwise it is an overhead. That of a get, or a fetch, is the
// whole way there and back, and one only while there is no other under way: -O says which of the two it is.
func (p *Params) IsLatency() bool {
	t, err := lookup(p.Test)
	return err == nil && (t.latency || (t.get || t.fetch) && p.Outstanding == 1)
}
