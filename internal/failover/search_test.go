package failover

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/wire"
)

type moveKind uint8

const (
	mvDeliver moveKind = iota
	mvNotice
	mvPost
	mvOpen
	mvLose   // what is in flight in a broken direction never arrives
	mvCut    // both directions break
	mvOneWay // what side sends breaks
	mvDoubt  // side takes a good lane for lost
	mvCancel // side destroys its transport endpoint
	mvRestart
)

type move struct {
	kind moveKind
	side uint8
	inst uint8
	from uint8 // mvPost: which queue
}

// moves appends what can happen now; the first owed of it happens in the end, without any luck.
func (r *runner) moves(dst []move) (_ []move, owed int) {
	start := len(dst)
	for s := range 2 {
		for i := range r.n {
			dst = r.owedMoves(dst, s, i)
		}
	}
	owed = len(dst) - start
	for s := range 2 {
		live := 0
		for i := range r.n {
			if r.m[s].Live(r.ids[i]) {
				live++
			}
		}
		if r.opens[s] > 0 && live < r.cfg.limit {
			dst = append(dst, move{kind: mvOpen, side: uint8(s)})
			if live == 0 { // to the front: a side without lanes dials
				last := len(dst) - 1
				dst[start+owed], dst[last] = dst[last], dst[start+owed]
				owed++
			}
		}
	}
	for s := range 2 {
		for i := range r.n {
			dst = r.luck(dst, s, i)
		}
	}
	if r.deaths > 0 {
		dst = append(dst, move{kind: mvRestart})
	}
	return dst, owed
}

func (r *runner) owedMoves(dst []move, s int, i uint8) []move {
	in, out := &r.pipe[1-s][i], &r.pipe[s][i]
	side := uint8(s)
	if in.n > 0 && !r.blocked(s, i) {
		dst = append(dst, move{mvDeliver, side, i, 0})
		if in.broken {
			dst = append(dst, move{mvLose, side, i, 0})
		}
	}
	live, up := r.m[s].Live(r.ids[i]), r.m[s].State(r.ids[i]) == Up
	if live && (in.broken || out.broken) {
		dst = append(dst, move{mvNotice, side, i, 0})
	}
	for q := range uint8(queues) {
		if w := &r.node[s].queue[q]; up && w.n > 0 && out.n < maxPipe/2 && r.mayPost(s, w.ops[0], i) {
			dst = append(dst, move{mvPost, side, i, q})
		}
	}
	return dst
}

func (r *runner) luck(dst []move, s int, i uint8) []move {
	side := uint8(s)
	in, out := &r.pipe[1-s][i], &r.pipe[s][i]
	live := r.m[s].Live(r.ids[i])
	if r.cuts > 0 && s == 0 && !(in.broken && out.broken) {
		dst = append(dst, move{mvCut, side, i, 0})
	}
	if r.oneWay > 0 && !out.broken {
		dst = append(dst, move{mvOneWay, side, i, 0})
	}
	if r.doubts > 0 && live {
		dst = append(dst, move{mvDoubt, side, i, 0})
	}
	if r.cancel > 0 && r.tep[s][i].exists {
		dst = append(dst, move{mvCancel, side, i, 0})
	}
	return dst
}

func (r *runner) apply(mv move) {
	s, i := int(mv.side), mv.inst
	switch mv.kind {
	case mvDeliver:
		r.deliver(s, i)
	case mvNotice:
		r.broke(s, i, Broke)
	case mvPost:
		r.post(s, i, mv.from)
	case mvOpen:
		r.opens[s]--
		r.open(s)
	case mvLose:
		r.tracef("in flight to the %s on %s: lost", wire.Side(s), r.ids[i])
		r.pipe[1-s][i].lose()
	case mvCut:
		r.cuts--
		r.tracef("%s breaks", r.ids[i])
		r.pipe[0][i].broken, r.pipe[1][i].broken = true, true
	case mvOneWay:
		r.oneWay--
		r.tracef("%s breaks from the %s on", r.ids[i], wire.Side(s))
		r.pipe[s][i].broken = true
	case mvDoubt:
		r.doubts--
		r.broke(s, i, Broke)
	case mvCancel:
		r.cancel--
		r.broke(s, i, Dropped)
	case mvRestart:
		r.restart()
	}
	if r.tidied {
		r.tidy()
	}
}

// search goes through all states that can be reached, depth first, and checks that each is right, that there is no
// cycle (so that every run ends), and that every run ends well: together, that there is no deadlock.
type search struct {
	r      *runner
	hash   maphash.Seed
	seen   known
	path   []move
	worlds []*world // those on the path
	buf    []byte
	states int
	edges  int
	ends   int
	depth  int
	max    int

	outcomes map[ending]bool     // of the ends; nil: nobody asks
	each     func(*runner) error // is shown each state, and may leave the machines in another; nil: nobody looks
}

// visit goes on from the runner's world, of which key is the hash.
func (x *search) visit(key uint64) error {
	x.states++
	if x.states > x.max {
		return errTooMany
	}
	depth := len(x.path)
	x.depth = max(x.depth, depth)
	if depth == len(x.worlds) {
		x.worlds = append(x.worlds, new(world))
	}
	w := x.worlds[depth]
	*w = x.r.world
	x.seen.put(key, true)
	if x.each != nil {
		if err := x.each(x.r); err != nil {
			return err
		}
		x.r.set(w)
	}
	var room [96]move
	moves, owed := x.r.moves(room[:0])
	if owed == 0 {
		x.ends++
		if x.outcomes != nil {
			x.outcomes[x.r.outcome()] = true
		}
		if x.r.settled(); x.r.fail != nil {
			return x.r.fail
		}
	}
	for k, mv := range moves {
		if k > 0 {
			x.r.set(w)
		}
		x.edges++
		x.path = append(x.path, mv)
		x.r.apply(mv)
		if x.r.fail != nil {
			return x.r.fail
		}
		next := x.key()
		onPath, known := x.seen.get(next)
		if onPath {
			return errors.New("a cycle: this goes on for ever")
		}
		if !known {
			if err := x.visit(next); err != nil {
				return err
			}
		}
		x.path = x.path[:depth]
	}
	x.seen.put(key, false)
	return nil
}

// ending is what users can tell of an end.
type ending struct {
	issued, done [2]uint16
	ran          [2][maxOps]uint8
	over         [2]bool
	up           int
}

func (r *runner) outcome() (o ending) {
	for s, nd := range r.node {
		o.issued[s], o.done[s], o.ran[s], o.over[s] = nd.issued, nd.done, nd.ran, nd.over
	}
	o.up = len(r.m[0].Up())
	return o
}

func (x *search) key() uint64 {
	x.buf = x.r.world.encode(x.buf[:0], x.r.cfg.without == everyRule && x.r.tidied)
	return max(2, maphash.Bytes(x.hash, x.buf)) // 0 is none, in either of its forms
}

// known is a set of hashes, each with whether it is on the current path: its lowest bit. A table of numbers with gaps takes half of the time and of the
// room of a map.
type known struct {
	slots []uint64 // 0: free
	n     int
}

// find is where a hash is, or would be.
func (k *known) find(key uint64) int {
	i := int(key>>1) & (len(k.slots) - 1)
	for k.slots[i] != 0 && k.slots[i]&^1 != key&^1 {
		i = (i + 1) & (len(k.slots) - 1)
	}
	return i
}

func (k *known) get(key uint64) (onPath, some bool) {
	if len(k.slots) == 0 {
		return false, false
	}
	v := k.slots[k.find(key)]
	return v&1 == 1, v != 0
}

func (k *known) put(key uint64, onPath bool) {
	if k.n >= len(k.slots)/4*3 {
		old := k.slots
		k.slots = make([]uint64, max(1<<10, 2*len(old)))
		for _, v := range old {
			if v != 0 {
				k.slots[k.find(v)] = v
			}
		}
	}
	i := k.find(key)
	if k.slots[i] == 0 {
		k.n++
	}
	k.slots[i] = key &^ 1
	if onPath {
		k.slots[i] |= 1
	}
}

var errTooMany = errors.New("more states than allowed")

// story tells a path in words.
func story(cfg config, path []move) string {
	var b strings.Builder
	r := newRunner(cfg)
	r.tidied = true
	r.log = func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	for _, mv := range path {
		r.apply(mv)
	}
	return b.String()
}

var searches = []config{
	{name: "1 lane, cut, both reconnect", lanes: 1, ops: "P", cuts: 1, opens: [2]uint8{1, 1}, limit: 1, acks: true},
	{name: "1 lane, doubted by one side, other side may dial too", lanes: 1, ops: "P", doubts: 1, opens: [2]uint8{1, 1}, limit: 1, acks: true},
	{name: "1 lane, cut twice, dialer reconnects", long: true, lanes: 1, ops: "P", cuts: 2, opens: [2]uint8{2, 0}, limit: 1},
	{name: "1 lane, one way twice", lanes: 1, ops: "P", oneWay: 2, opens: [2]uint8{1, 0}, limit: 1},
	{name: "confirmed: 1 lane, cut, both reconnect", confirm: true, lanes: 1, ops: "P", cuts: 1, opens: [2]uint8{1, 1}, limit: 1, acks: true},
	{name: "confirmed: 1 lane, one way twice", confirm: true, lanes: 1, ops: "P", oneWay: 2, opens: [2]uint8{1, 0}, limit: 1},
	{name: "confirmed: 2 lanes, attempt doubted and cut", confirm: true, lanes: 1, ops: "P", cuts: 1, doubts: 1, opens: [2]uint8{1, 0}, limit: 2},
	{name: "confirmed: 1 lane, doubted, attempts", confirm: true, lanes: 1, ops: "P", doubts: 1, opens: [2]uint8{1, 1}, limit: 1, acks: true},
	{name: "confirmed: window 1: 2 lanes, attempt, cut, one way", confirm: true, window: 1, lanes: 2, cuts: 1, oneWay: 1, opens: [2]uint8{1, 0}, limit: 3},
	{name: "confirmed: 1 lane, 2 cuts, attempts of both", confirm: true, lanes: 1, ops: "P/", cuts: 2, opens: [2]uint8{1, 1}, limit: 2, deep: true},
	{name: "confirmed: 1 lane, 2 cuts, attempts of one", confirm: true, lanes: 1, ops: "P/", cuts: 2, opens: [2]uint8{2, 0}, limit: 2, deep: true},
	{name: "2 lanes, cut", lanes: 2, ops: "P", cuts: 1, limit: 2, acks: true},
	{name: "2 lanes, cut, new lane beside", long: true, lanes: 2, cuts: 1, doubts: 1, opens: [2]uint8{1, 1}, limit: 3},
	{name: "2 lanes, both doubted", lanes: 2, ops: "P", doubts: 2, limit: 2, acks: true},
	{name: "2 lanes, one way each", lanes: 2, ops: "P", oneWay: 2, limit: 2},
	{name: "2 lanes, 2 cuts, reconnect", deep: true, lanes: 2, ops: "P", cuts: 2, opens: [2]uint8{1, 0}, limit: 2},
	{name: "2 lanes, attempt doubted and cut", lanes: 1, ops: "P", cuts: 1, doubts: 1, opens: [2]uint8{1, 0}, limit: 2},
	{name: "2 lanes, cancel and cut", lanes: 2, ops: "P", cuts: 1, cancels: 1, limit: 2},
	{name: "3 lanes, 2 cuts", lanes: 3, cuts: 2, limit: 3},
	{name: "3 lanes, 2 cuts, 1 operation", deep: true, lanes: 3, ops: "P", cuts: 2, limit: 3},
	{name: "3 lanes, cut and doubt", lanes: 3, cuts: 1, doubts: 1, limit: 3},
	{name: "3 lanes, cut, doubt, one way", deep: true, lanes: 3, cuts: 1, doubts: 1, oneWay: 1, limit: 3},
	{name: "window 1: 3 lanes, 2 cuts", window: 1, lanes: 3, cuts: 2, limit: 3},
	{name: "window 1: 3 lanes, cut and doubt", window: 1, lanes: 3, cuts: 1, doubts: 1, limit: 3},
	{name: "window 1: 3 lanes, cut, doubt, 1 operation", window: 1, lanes: 3, ops: "P", cuts: 1, doubts: 1, limit: 3, deep: true},
	{name: "window 1: 4 lanes, 3 cuts", window: 1, lanes: 4, cuts: 3, limit: 4, long: true},
	{name: "window 2: 4 lanes, 3 cuts", window: 2, lanes: 4, cuts: 3, limit: 4, deep: true},
	{name: "window 1: 4 lanes, 2 cuts, doubt", window: 1, lanes: 4, cuts: 2, doubts: 1, limit: 4, deep: true},
	{name: "window 1: 1 lane, 2 cuts, attempts of both", window: 1, lanes: 1, cuts: 2, opens: [2]uint8{2, 1}, limit: 2, deep: true},
	{name: "window 1: 2 lanes, both doubted, reconnect", window: 1, lanes: 2, doubts: 2, opens: [2]uint8{1, 0}, limit: 2},
	{name: "window 1: 1 lane, doubted, attempts", window: 1, lanes: 1, doubts: 2, opens: [2]uint8{2, 0}, limit: 2},
	{name: "window 1: 2 lanes, attempt, cut, one way", window: 1, lanes: 2, cuts: 1, oneWay: 1, opens: [2]uint8{1, 0}, limit: 3},
	{name: "window 1: 2 lanes, cancel and cut, reconnect", window: 1, lanes: 2, cuts: 1, cancels: 1, opens: [2]uint8{1, 0}, limit: 2},
	{name: "2 lanes, messages, cut", lanes: 2, ops: "MM/M", cuts: 1, limit: 2, acks: true, long: true},
	{name: "2 lanes, messages, doubted, reconnect", lanes: 2, ops: "MM/", doubts: 1, opens: [2]uint8{1, 0}, limit: 2, acks: true, long: true},
	{name: "2 lanes, messages, both doubted, reconnect", lanes: 2, ops: "MM/", doubts: 2, opens: [2]uint8{1, 0}, limit: 2, acks: true, deep: true},
	{name: "2 lanes, messages, one way each", lanes: 2, ops: "MM/", oneWay: 2, limit: 2, acks: true, long: true},
	{name: "3 lanes, messages, 2 cuts", lanes: 3, ops: "MM/", cuts: 2, limit: 3, acks: true, deep: true},
	{name: "2 lanes, a fence, cut and doubt", lanes: 2, ops: "P|P/", cuts: 1, doubts: 1, limit: 2, acks: true, long: true},
	{name: "2 lanes, fences between kinds, cut", lanes: 2, ops: "P|M|P/", cuts: 1, limit: 2, acks: true},
	{name: "3 lanes, a fence, 2 cuts", lanes: 3, ops: "PP|P/", cuts: 2, limit: 3, acks: true, deep: true},
	{name: "2 lanes, a striped message, cut", lanes: 2, ops: "ffcM/", cuts: 1, limit: 2, acks: true, long: true},
	{name: "1 lane, a striped message, cut, reconnect", lanes: 1, ops: "ffcM/", cuts: 1, opens: [2]uint8{1, 0}, limit: 1, acks: true},
	{name: "2 lanes full of fetches, cut", lanes: 2, ops: "FF", ring: 2, credits: 2, cuts: 1, limit: 2, acks: true, deep: true},
	{name: "1 lane full of fetches, cut, reconnect", lanes: 1, ops: "FF/F", ring: 2, credits: 2, cuts: 1, opens: [2]uint8{1, 0}, limit: 1, acks: true, long: true},
	{name: "1 lane, fetches and fences, cut, reconnect", lanes: 1, ops: "F|P/F", credits: 2, cuts: 1, opens: [2]uint8{1, 0}, limit: 1, acks: true, long: true},
	{name: "1 lane, fetches and fences of both, cut, reconnect", lanes: 1, ops: "F|P", credits: 2, cuts: 1, opens: [2]uint8{1, 0}, limit: 1, acks: true, deep: true},
	{name: "2 lanes, restart in the exchange", lanes: 2, ops: "P/P", cuts: 1, restarts: 1, opens: [2]uint8{1, 0}, limit: 2},
	{name: "1 lane, restart, attempts of both", lanes: 1, ops: "P/P", restarts: 1, opens: [2]uint8{1, 1}, limit: 2},
	{name: "1 lane, doubted, restart, attempts", lanes: 1, ops: "P/", doubts: 1, restarts: 1, opens: [2]uint8{2, 0}, limit: 2, deep: true},
	{name: "2 lanes, a late HELLO, cut", lanes: 2, ops: "P/", late: true, cuts: 1, limit: 2},
	{name: "2 lanes, replies, cut", lanes: 2, ops: "F", cuts: 1, limit: 2},
	{name: "2 lanes, replies, doubt", lanes: 2, ops: "F", doubts: 1, limit: 2},
	{name: "2 lanes, 2 operations, replies, cut", deep: true, lanes: 2, ops: "FF", cuts: 1, limit: 2},
}

// TestSearch prints with -v how many states each world has.
func TestSearch(t *testing.T) {
	if raceEnabled {
		t.Skip("one goroutine, and ten times as slow")
	}
	total := 0
	defer func() { t.Logf("%8d states in all", total) }()
	for _, cfg := range searches {
		t.Run(cfg.name, func(t *testing.T) {
			if cfg.deep && os.Getenv("BRAID_DEEP") == "" {
				t.Skip("minutes: set BRAID_DEEP=1 to run it")
			}
			if cfg.long && testing.Short() {
				t.Skip("seconds: not in -short")
			}
			start := time.Now()
			limit := 2_000_000
			if cfg.deep {
				limit = 40_000_000
			}
			x, err := explore(cfg, limit)
			total += x.states
			t.Logf("%8d states %9d moves %7d ends, depth %d, %v", x.states, x.edges, x.ends, x.depth, time.Since(start).Round(time.Millisecond))
			if err != nil {
				t.Fatalf("%v\n%s", err, story(cfg, x.path))
			}
		})
	}
}

// TestDropped: a world in which frames that will be dropped are still under way, and all that is over is told apart, has more states, and ends in no other way.
func TestDropped(t *testing.T) {
	if raceEnabled {
		t.Skip("one goroutine, and ten times as slow")
	}
	for _, cfg := range []config{
		{name: "1 lane, cut, both reconnect", lanes: 1, ops: "P", cuts: 1, opens: [2]uint8{1, 1}, limit: 1, acks: true},
		{name: "confirmed", confirm: true, lanes: 1, ops: "P/", cuts: 1, opens: [2]uint8{1, 1}, limit: 1, acks: true},
		{name: "2 lanes, both doubted", lanes: 2, ops: "P/", doubts: 2, limit: 2, acks: true},
		{name: "2 lanes, cancel and cut", lanes: 2, ops: "P/", cuts: 1, cancels: 1, limit: 2},
		{name: "2 lanes, restart", lanes: 2, ops: "P/", cuts: 1, restarts: 1, opens: [2]uint8{1, 0}, limit: 2},
		{name: "a late HELLO", lanes: 2, ops: "P/", late: true, cuts: 1, limit: 2},
	} {
		var ends [2]map[ending]bool
		var states [2]int
		for i := range ends {
			x := newSearch(cfg, 2_000_000)
			x.r.tidied, x.outcomes = i == 0, map[ending]bool{}
			if err := x.visit(x.key()); err != nil {
				t.Fatalf("%s: %v", cfg.name, err)
			}
			ends[i], states[i] = x.outcomes, x.states
		}
		if !maps.Equal(ends[0], ends[1]) || states[0] > states[1] {
			t.Errorf("%s: %d states end in %v, all %d in %v", cfg.name, states[0], ends[0], states[1], ends[1])
		}
		t.Logf("%-30s %6d states of %6d, %d outcomes", cfg.name, states[0], states[1], len(ends[0]))
	}
}

var walks = []config{
	{name: "3 lanes, everything", lanes: 3, ops: "FFFF", cuts: 3, oneWay: 2, doubts: 3, cancels: 1,
		opens: [2]uint8{3, 3}, limit: 3, acks: true},
	{name: "1 lane, both reconnect", lanes: 1, ops: "FFFF", cuts: 2, oneWay: 2, doubts: 2, cancels: 2,
		opens: [2]uint8{4, 4}, limit: 2, acks: true},
	{name: "3 lanes, everything, window 1", window: 1, lanes: 3, ops: "FFFF", cuts: 3, oneWay: 2, doubts: 3, cancels: 1,
		opens: [2]uint8{3, 3}, limit: 3, acks: true},
	{name: "3 lanes, everything, window 2", window: 2, lanes: 3, ops: "PPPP", cuts: 3, oneWay: 2, doubts: 4, cancels: 2,
		opens: [2]uint8{3, 3}, limit: 3},
	{name: "1 lane, both reconnect, window 1", window: 1, lanes: 1, ops: "FFFF", cuts: 2, oneWay: 2, doubts: 2, cancels: 2,
		opens: [2]uint8{4, 4}, limit: 2, acks: true},
	{name: "confirmed: 2 lanes, everything", confirm: true, lanes: 2, ops: "FFFF", cuts: 3, oneWay: 2, doubts: 3, cancels: 2,
		opens: [2]uint8{3, 3}, limit: 3, acks: true},
	{name: "confirmed: 1 lane, both reconnect, window 1", confirm: true, window: 1, lanes: 1, ops: "PPPP", cuts: 2, oneWay: 2, doubts: 2, cancels: 2,
		opens: [2]uint8{4, 4}, limit: 2, acks: true},
	{name: "3 lanes, messages and fences", lanes: 3, ops: "MP|fcMP/MM", ring: 3, credits: 2, cuts: 3, oneWay: 1, doubts: 2, cancels: 1,
		opens: [2]uint8{3, 3}, limit: 3, acks: true},
	{name: "2 lanes, fetches between fences, restart", lanes: 2, ops: "FM|F/F|PM", ring: 3, credits: 2, cuts: 2, oneWay: 1, doubts: 1, restarts: 1,
		opens: [2]uint8{4, 2}, limit: 2, acks: true, late: true},
	{name: "2 lanes, no acknowledgements", lanes: 2, ops: "PPPPPPPP", cuts: 3, oneWay: 3, doubts: 3, cancels: 2,
		opens: [2]uint8{4, 4}, limit: 2},
}

func TestWalks(t *testing.T) {
	for _, cfg := range walks {
		t.Run(cfg.name, func(t *testing.T) {
			steps := 0
			for seed := range uint64(walkSeeds()) {
				n, path, err := walk(cfg, seed)
				steps += n
				if err != nil {
					t.Fatalf("seed %d: %v\n%s", seed, err, story(cfg, path))
				}
			}
			t.Logf("%d steps", steps)
		})
	}
}

func walkSeeds() int {
	switch {
	case raceEnabled:
		return 30
	case testing.Short():
		return 300
	}
	if os.Getenv("BRAID_DEEP") != "" {
		return 20000
	}
	return 1000
}

func walk(cfg config, seed uint64) (steps int, path []move, err error) {
	luck := rand.New(rand.NewPCG(seed, 1))
	r := newRunner(cfg)
	r.tidied = true
	var moves []move
	for len(path) < 5000 {
		var owed int
		moves, owed = r.moves(moves[:0])
		if owed == 0 {
			r.settled()
		}
		if r.fail != nil || len(moves) == 0 {
			return len(path), path, r.fail
		}
		n := len(moves)
		if owed > 0 && luck.IntN(8) > 0 {
			n = owed
		}
		mv := moves[luck.IntN(n)]
		path = append(path, mv)
		r.apply(mv)
	}
	return len(path), path[:100], errors.New("this goes on for ever")
}
