package failover

import (
	"errors"
	"fmt"
	"hash/maphash"
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
)

type move struct {
	kind moveKind
	side uint8
	inst uint8
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
			dst = append(dst, move{mvOpen, uint8(s), 0})
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
	return dst, owed
}

func (r *runner) owedMoves(dst []move, s int, i uint8) []move {
	in, out := &r.pipe[1-s][i], &r.pipe[s][i]
	side := uint8(s)
	if in.n > 0 {
		dst = append(dst, move{mvDeliver, side, i})
		if in.broken {
			dst = append(dst, move{mvLose, side, i})
		}
	}
	live, up := r.m[s].Live(r.ids[i]), r.m[s].State(r.ids[i]) == Up
	if live && (in.broken || out.broken) {
		dst = append(dst, move{mvNotice, side, i})
	}
	if up && r.node[s].queued > 0 && out.n < maxPipe/2 {
		dst = append(dst, move{mvPost, side, i})
	}
	return dst
}

func (r *runner) luck(dst []move, s int, i uint8) []move {
	side := uint8(s)
	in, out := &r.pipe[1-s][i], &r.pipe[s][i]
	live := r.m[s].Live(r.ids[i])
	if r.cuts > 0 && s == 0 && !(in.broken && out.broken) {
		dst = append(dst, move{mvCut, side, i})
	}
	if r.oneWay > 0 && !out.broken {
		dst = append(dst, move{mvOneWay, side, i})
	}
	if r.doubts > 0 && live {
		dst = append(dst, move{mvDoubt, side, i})
	}
	if r.cancel > 0 && r.tep[s][i].exists {
		dst = append(dst, move{mvCancel, side, i})
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
		r.post(s, i)
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
	}
}

// search goes through all states that can be reached, depth first, and checks that each is right, that there is no
// cycle (so that every run ends), and that every run ends well: together, that there is no deadlock.
type search struct {
	r      *runner
	hash   maphash.Seed
	seen   map[uint64]bool // true: on the current path
	path   []move
	buf    []byte
	states int
	edges  int
	ends   int
	depth  int
	max    int
}

func (x *search) visit(w *world) error {
	x.buf = w.encode(x.buf[:0])
	key := maphash.Bytes(x.hash, x.buf)
	if open, ok := x.seen[key]; ok {
		if open {
			return errors.New("a cycle: this goes on for ever")
		}
		return nil
	}
	x.states++
	if x.states > x.max {
		return errTooMany
	}
	x.depth = max(x.depth, len(x.path))
	x.seen[key] = true
	x.r.set(w)
	var room [96]move
	moves, owed := x.r.moves(room[:0])
	if owed == 0 {
		x.ends++
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
		next := x.r.world
		if err := x.visit(&next); err != nil {
			return err
		}
		x.path = x.path[:len(x.path)-1]
	}
	x.seen[key] = false
	return nil
}

var errTooMany = errors.New("more states than allowed")

// story tells a path in words.
func story(cfg config, path []move) string {
	var b strings.Builder
	r := newRunner(cfg)
	r.log = func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	for _, mv := range path {
		r.apply(mv)
	}
	return b.String()
}

var searches = []config{
	{name: "1 lane, cut, both reconnect", lanes: 1, ops: 1, cuts: 1, opens: [2]uint8{1, 1}, limit: 1, acks: true},
	{name: "1 lane, doubted by one side, other side may dial too", lanes: 1, ops: 1, doubts: 1, opens: [2]uint8{1, 1}, limit: 1, acks: true},
	{name: "1 lane, cut twice, dialer reconnects", long: true, lanes: 1, ops: 1, cuts: 2, opens: [2]uint8{2, 0}, limit: 1},
	{name: "1 lane, one way twice", lanes: 1, ops: 1, oneWay: 2, opens: [2]uint8{1, 0}, limit: 1},
	{name: "confirmed: 1 lane, cut, both reconnect", confirm: true, lanes: 1, ops: 1, cuts: 1, opens: [2]uint8{1, 1}, limit: 1, acks: true},
	{name: "confirmed: 1 lane, one way twice", confirm: true, lanes: 1, ops: 1, oneWay: 2, opens: [2]uint8{1, 0}, limit: 1},
	{name: "confirmed: 2 lanes, attempt doubted and cut", confirm: true, lanes: 1, ops: 1, cuts: 1, doubts: 1, opens: [2]uint8{1, 0}, limit: 2},
	{name: "confirmed: 1 lane, doubted, attempts", confirm: true, lanes: 1, ops: 1, doubts: 1, opens: [2]uint8{1, 1}, limit: 1, acks: true},
	{name: "confirmed: window 1: 2 lanes, attempt, cut, one way", confirm: true, window: 1, lanes: 2, ops: 0, cuts: 1, oneWay: 1, opens: [2]uint8{1, 0}, limit: 3},
	{name: "confirmed: 1 lane, 2 cuts, attempts of both", confirm: true, lanes: 1, ops: 1, cuts: 2, opens: [2]uint8{2, 1}, limit: 2, deep: true},
	{name: "2 lanes, cut", lanes: 2, ops: 1, cuts: 1, limit: 2, acks: true},
	{name: "2 lanes, cut, new lane beside", long: true, lanes: 2, ops: 0, cuts: 1, doubts: 1, opens: [2]uint8{1, 1}, limit: 3},
	{name: "2 lanes, both doubted", lanes: 2, ops: 1, doubts: 2, limit: 2, acks: true},
	{name: "2 lanes, one way each", lanes: 2, ops: 1, oneWay: 2, limit: 2},
	{name: "2 lanes, 2 cuts, reconnect", deep: true, lanes: 2, ops: 1, cuts: 2, opens: [2]uint8{1, 0}, limit: 2},
	{name: "2 lanes, attempt doubted and cut", lanes: 1, ops: 1, cuts: 1, doubts: 1, opens: [2]uint8{1, 0}, limit: 2},
	{name: "2 lanes, cancel and cut", lanes: 2, ops: 1, cuts: 1, cancels: 1, limit: 2},
	{name: "3 lanes, 2 cuts", lanes: 3, ops: 0, cuts: 2, limit: 3},
	{name: "3 lanes, 2 cuts, 1 operation", deep: true, lanes: 3, ops: 1, cuts: 2, limit: 3},
	{name: "3 lanes, cut and doubt", lanes: 3, ops: 0, cuts: 1, doubts: 1, limit: 3},
	{name: "3 lanes, cut, doubt, one way", deep: true, lanes: 3, ops: 0, cuts: 1, doubts: 1, oneWay: 1, limit: 3},
	{name: "window 1: 3 lanes, 2 cuts", window: 1, lanes: 3, ops: 0, cuts: 2, limit: 3},
	{name: "window 1: 3 lanes, cut and doubt", window: 1, lanes: 3, ops: 0, cuts: 1, doubts: 1, limit: 3},
	{name: "window 1: 3 lanes, cut, doubt, 1 operation", window: 1, lanes: 3, ops: 1, cuts: 1, doubts: 1, limit: 3, deep: true},
	{name: "window 1: 4 lanes, 3 cuts", window: 1, lanes: 4, ops: 0, cuts: 3, limit: 4, long: true},
	{name: "window 2: 4 lanes, 3 cuts", window: 2, lanes: 4, ops: 0, cuts: 3, limit: 4, deep: true},
	{name: "window 1: 4 lanes, 2 cuts, doubt", window: 1, lanes: 4, ops: 0, cuts: 2, doubts: 1, limit: 4, deep: true},
	{name: "window 1: 1 lane, 2 cuts, attempts of both", window: 1, lanes: 1, ops: 0, cuts: 2, opens: [2]uint8{2, 1}, limit: 2, deep: true},
	{name: "window 1: 2 lanes, both doubted, reconnect", window: 1, lanes: 2, ops: 0, doubts: 2, opens: [2]uint8{1, 0}, limit: 2},
	{name: "window 1: 1 lane, doubted, attempts", window: 1, lanes: 1, ops: 0, doubts: 2, opens: [2]uint8{2, 0}, limit: 2},
	{name: "window 1: 2 lanes, attempt, cut, one way", window: 1, lanes: 2, ops: 0, cuts: 1, oneWay: 1, opens: [2]uint8{1, 0}, limit: 3},
	{name: "window 1: 2 lanes, cancel and cut, reconnect", window: 1, lanes: 2, ops: 0, cuts: 1, cancels: 1, opens: [2]uint8{1, 0}, limit: 2},
	{name: "2 lanes, replies, cut", lanes: 2, ops: 1, replies: true, cuts: 1, limit: 2},
	{name: "2 lanes, replies, doubt", lanes: 2, ops: 1, replies: true, doubts: 1, limit: 2},
	{name: "2 lanes, 2 operations, replies, cut", deep: true, lanes: 2, ops: 2, replies: true, cuts: 1, limit: 2},
}

func TestSearch(t *testing.T) {
	for _, cfg := range searches {
		t.Run(cfg.name, func(t *testing.T) {
			if cfg.deep && os.Getenv("BRAID_DEEP") == "" {
				t.Skip("minutes: set BRAID_DEEP=1 to run it")
			}
			if cfg.long && (testing.Short() || raceEnabled) {
				t.Skip("seconds: not in -short, not with -race")
			}
			start := time.Now()
			limit := 2_000_000
			if cfg.deep {
				limit = 40_000_000
			}
			x := &search{r: newRunner(cfg), hash: maphash.MakeSeed(), seen: map[uint64]bool{}, max: limit}
			first := x.r.world
			err := x.visit(&first)
			t.Logf("%8d states %9d moves %7d ends, depth %d, %v", x.states, x.edges, x.ends, x.depth, time.Since(start).Round(time.Millisecond))
			if err != nil {
				t.Fatalf("%v\n%s", err, story(cfg, x.path))
			}
		})
	}
}

var walks = []config{
	{name: "3 lanes, everything", lanes: 3, ops: 4, replies: true, cuts: 3, oneWay: 2, doubts: 3, cancels: 1,
		opens: [2]uint8{3, 3}, limit: 3, acks: true},
	{name: "1 lane, both reconnect", lanes: 1, ops: 4, replies: true, cuts: 2, oneWay: 2, doubts: 2, cancels: 2,
		opens: [2]uint8{4, 4}, limit: 2, acks: true},
	{name: "3 lanes, everything, window 1", window: 1, lanes: 3, ops: 4, replies: true, cuts: 3, oneWay: 2, doubts: 3, cancels: 1,
		opens: [2]uint8{3, 3}, limit: 3, acks: true},
	{name: "3 lanes, everything, window 2", window: 2, lanes: 3, ops: 4, cuts: 3, oneWay: 2, doubts: 4, cancels: 2,
		opens: [2]uint8{3, 3}, limit: 3},
	{name: "1 lane, both reconnect, window 1", window: 1, lanes: 1, ops: 4, replies: true, cuts: 2, oneWay: 2, doubts: 2, cancels: 2,
		opens: [2]uint8{4, 4}, limit: 2, acks: true},
	{name: "confirmed: 2 lanes, everything", confirm: true, lanes: 2, ops: 4, replies: true, cuts: 3, oneWay: 2, doubts: 3, cancels: 2,
		opens: [2]uint8{3, 3}, limit: 3, acks: true},
	{name: "confirmed: 1 lane, both reconnect, window 1", confirm: true, window: 1, lanes: 1, ops: 4, cuts: 2, oneWay: 2, doubts: 2, cancels: 2,
		opens: [2]uint8{4, 4}, limit: 2, acks: true},
	{name: "2 lanes, no acknowledgements", lanes: 2, ops: 8, cuts: 3, oneWay: 3, doubts: 3, cancels: 2,
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
	if testing.Short() || raceEnabled {
		return 500
	}
	return 4000
}

func walk(cfg config, seed uint64) (steps int, path []move, err error) {
	luck := rand.New(rand.NewPCG(seed, 1))
	r := newRunner(cfg)
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
