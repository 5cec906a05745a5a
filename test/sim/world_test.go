package sim

import (
	"fmt"
	"strings"
	"time"

	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/secret"
	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/worker"
	"github.com/openbraid/braid/transport/sim"
)

// shape is what a seed decides before anything runs.
type shape struct {
	lanes   int
	devices int // of the lanes: those over RDMA devices
	ops     int // of each side
	faults  int
	fences  bool // before every second operation
	atomics bool // most operations are
	mode    wire.Mode
	kinds   []sim.Kind
	regions int
	slot    int // bytes of memory of each put
	config  config.Config
	net     sim.Config
	secret  secret.Secret
}

// world is two workers, a dials b.
type world struct {
	shape
	net   *sim.Net
	rc    *rcNet // nil: no lane is one of a device
	seed  uint64
	luck  uint64
	a, b  *side
	fails []string
	turns int
}

func (w *world) rand() uint64 {
	w.luck += 0x9e3779b97f4a7c15
	z := w.luck
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// n is a number below limit.
func (w *world) n(limit int) int { return int(w.rand() % uint64(limit)) }

func (w *world) failf(format string, args ...any) {
	if len(w.fails) < 10 {
		w.fails = append(w.fails, fmt.Sprintf("at %v: ", w.net.Now())+fmt.Sprintf(format, args...))
	}
}

func newWorld(seed uint64, s shape) *world {
	w := &world{shape: s, seed: seed, luck: seed, net: sim.New(seed, s.net)}
	if s.devices > 0 {
		w.rc = newRCNet(w)
	}
	w.a = w.newSide("a", s.lanes)
	w.b = w.newSide("b", s.lanes)
	w.a.peer, w.b.peer = w.b, w.a
	return w
}

func rails(name string, n int) (rs []string) {
	for i := range n {
		rs = append(rs, fmt.Sprintf("%s%d", name, i))
	}
	return rs
}

// start makes a side's worker on its host.
func (s *side) start() {
	w := s.w
	env := s.host.Env()
	s.mem = memory.NewTable(env.Rand)
	s.incarnation = env.Rand() | 1
	eng, err := worker.New(worker.Options{Config: w.config, Transports: s.transports(), Env: env, Memory: s.mem,
		Incarnation: s.incarnation, Rails: topo.View{Rails: topo.Fixed(s.rails...)}})
	if err != nil {
		panic(err)
	}
	s.eng = eng
	s.checks()
}

// connect dials until both sides have the endpoint.
func (w *world) connect() bool {
	w.b.start()
	ln, err := w.b.eng.Listen(w.b.rails[0]+":7", worker.ListenOptions{Secret: w.secret})
	if err != nil {
		panic(err)
	}
	w.b.ln = ln
	w.a.start()
	ep, r, err := w.a.eng.Dial([]string{w.b.rails[0] + ":7"}, worker.DialOptions{Mode: w.mode, Secret: w.secret})
	if err != nil {
		panic(err)
	}
	if !w.until(time.Second, func() bool { return r.Reported }) || r.Err != nil {
		w.failf("dial: %v", r.Err)
		return false
	}
	w.a.eng.Release(r)
	w.a.ep = ep
	acc, r, err := ln.Accept()
	if r != nil { // with a secret it is b's when the dialer has confirmed it
		if w.until(time.Second, func() bool { return r.Reported }); r.Reported {
			acc, err = r.Result.(*worker.Endpoint), r.Err
			w.b.eng.Release(r)
		}
	}
	if acc == nil || err != nil {
		w.failf("accept: %v", err)
		return false
	}
	w.b.ep = acc
	return true
}

// turn lets one of the workers, or both, make a turn. Time passes when neither has anything to do, and now and then before
// that: a worker may be late, but not for longer than others are busy.
func (w *world) turn() bool {
	w.turns++
	n := 0
	if w.n(3) > 0 {
		n += w.a.progress()
	}
	if w.n(3) > 0 {
		n += w.b.progress()
	}
	if n > 0 {
		if w.n(4) == 0 {
			w.net.StepTo(w.net.Now() + time.Duration(w.n(100))*time.Microsecond)
			w.catchUp()
		}
		return true
	}
	if w.a.progress()+w.b.progress() > 0 {
		return true
	}
	for _, s := range []*side{w.a, w.b} {
		if s.eng != nil {
			if d := s.eng.Deadline(); d > w.net.Now() {
				w.net.At(d)
			}
		}
	}
	defer w.catchUp()
	return w.net.Step()
}

// catchUp: what has the world's time, too.
func (w *world) catchUp() {
	if w.rc != nil {
		w.rc.catchUp()
	}
}

// until turns until ok, or until so much virtual time is over.
func (w *world) until(limit time.Duration, ok func() bool) bool {
	end := w.net.Now() + limit
	for !ok() {
		if w.net.Now() > end || len(w.fails) > 0 || w.turns > 4_000_000 {
			return false
		}
		w.turn()
	}
	return true
}

func (w *world) report() string {
	var b strings.Builder
	for _, f := range w.fails {
		fmt.Fprintln(&b, f)
	}
	for _, s := range []*side{w.a, w.b} {
		if s.ep != nil {
			fmt.Fprintf(&b, "%s: %v %v\n", s.name, s.ep.State(), s.ep.Err())
			for _, l := range s.ep.Lanes() {
				fmt.Fprintf(&b, "   %v %v posted %d acked %d accepted %d\n", l.Instance, l.State, l.PostedBytes, l.AckedBytes, l.AcceptedBytes)
			}
		}
	}
	return b.String()
}
