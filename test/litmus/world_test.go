package litmus

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/outbox"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/worker"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/sim"
)

// program is what one side posts, word by word.
//
//	P put of 8 bytes     Q put of two frames      S put of two frames with a signal     s the same in one frame
//	M message            L message of two frames  G0 get of the word of operation 0     F flush
//	|  fence of the endpoint   || fence of the worker   @1 from here on the endpoint 1
type program struct {
	words string
	lanes int
	cuts  int // lanes that break
	kind  sim.Kind
}

// op is one operation of the program.
type op struct {
	word     string
	ep       int
	fence    int // fences before it on its endpoint
	slot     int // of its bytes
	size     int
	r        *request.Request
	posted   bool
	ended    bool
	err      error
	wrote    int // at the target: bytes
	accepted int // messages
	signaled int
	got      []byte // of a get
}

// whole says whether all of its effect is at the target.
func (o *op) whole() bool {
	switch o.word[0] {
	case 'P', 'Q':
		return o.wrote == o.size
	case 'S', 's':
		return o.wrote == o.size && o.signaled == 1
	case 'M', 'L':
		return o.accepted == 1
	}
	return o.ended
}

const (
	slotSize = 8 << 10
	big      = 5000 // two frames
)

// world is two workers over a steered network: a posts the program, b is its target.
type world struct {
	program
	net    *sim.Net
	hosts  [2]*sim.Host
	eng    [2]*worker.Worker
	mem    [2]*memory.Table
	region *memory.Region // of b
	words  *memory.Region // of b, for signals
	eps    []*worker.Endpoint
	calls  []delivery.Call

	todo   []string // words that are not posted
	at     int      // endpoint that the words are for
	fences []int    // by endpoint
	ops    []*op
	cut    int
	fails  []string
}

func (w *world) failf(format string, args ...any) {
	w.fails = append(w.fails, fmt.Sprintf(format, args...))
}

// newWorld connects both sides. From then on nothing happens by itself.
func newWorld(p program) *world {
	w := &world{program: p, todo: strings.Fields(p.words)}
	w.net = sim.New(1, sim.Config{MaxHead: 2048, MaxFrame: 4096, ZeroCopy: 1 << 20, PlaceFrom: 1 << 20, Window: 256, Steered: true})
	for i, name := range []string{"a", "b"} {
		w.start(i, name)
	}
	w.checks()
	ln, err := w.eng[1].Listen("b0:7", worker.ListenOptions{})
	if err != nil {
		panic(err)
	}
	endpoints := 1
	for _, word := range w.todo {
		if word[0] == '@' {
			endpoints = max(endpoints, int(word[1]-'0')+1)
		}
	}
	w.fences = make([]int, endpoints)
	for range endpoints {
		w.dial(ln)
	}
	return w
}

func (w *world) start(i int, name string) {
	var rails []string
	for k := range w.lanes {
		rails = append(rails, fmt.Sprintf("%s%d", name, k))
	}
	h := w.net.Host(name, rails...)
	env := h.Env()
	w.mem[i] = memory.NewTable(env.Rand)
	eng, err := worker.New(worker.Options{Transports: []transport.Transport{h}, Env: env, Memory: w.mem[i], Incarnation: uint64(i) + 1,
		Rails:  topo.View{Rails: topo.Fixed(rails...)},
		Config: config.Config{Bounds: config.Bounds{Window: 256, MaxFrame: 4096, Stripe: 1 << 20}}})
	if err != nil {
		panic(err)
	}
	w.hosts[i], w.eng[i] = h, eng
}

func (w *world) dial(ln *worker.Listener) {
	ep, r, err := w.eng[0].Dial([]string{"b0:7"}, worker.DialOptions{Mode: wire.ModeFailover})
	if err != nil {
		panic(err)
	}
	for i := 0; !r.Reported || len(ep.Lanes()) < w.lanes; i++ {
		if i > 10_000 {
			panic("the dial does not end")
		}
		if as := w.net.Arrivals(); len(as) > 0 {
			w.let(as[0])
		} else {
			w.passTime()
		}
	}
	for as := w.net.Arrivals(); len(as) > 0; as = w.net.Arrivals() {
		w.let(as[0])
	}
	w.eng[0].Release(r)
	if acc, _, err := ln.Accept(); acc == nil || err != nil {
		panic("nothing was accepted")
	}
	w.eps = append(w.eps, ep)
}

// turn lets one side do what it can.
func (w *world) turn(i int) {
	eng := w.eng[i]
	for n := 1; n > 0; {
		n = eng.Turn()
		w.calls = eng.Calls().Take(w.calls[:0])
		for k := range w.calls {
			eng.Calls().Run(&w.calls[k])
		}
		eng.Calls().Finish(w.calls)
		n += len(w.calls)
		eng.Flush()
	}
	w.poll()
}

func (w *world) let(a sim.Arrival) {
	w.net.Let(a)
	w.turn(int(a.Host[0] - 'a'))
}

// passTime goes to the next time at which something happens by itself.
func (w *world) passTime() bool {
	for _, e := range w.eng {
		if d := e.Deadline(); d > w.net.Now() {
			w.net.At(d)
		}
	}
	if !w.net.Step() {
		return false
	}
	w.turn(0)
	w.turn(1)
	return true
}

// post posts the next word.
func (w *world) post() {
	word := w.todo[0]
	w.todo = w.todo[1:]
	ep := w.eps[w.at]
	switch word[0] {
	case '@':
		w.at = int(word[1] - '0')
		return
	case '|':
		if word == "||" {
			w.eng[0].Fence()
			for i := range w.fences {
				w.fences[i]++
			}
		} else {
			ep.Fence()
			w.fences[w.at]++
		}
		return
	}
	o := &op{word: word, ep: w.at, fence: w.fences[w.at], slot: len(w.ops), posted: true}
	w.ops = append(w.ops, o)
	key := w.region.Key(wire.Read|wire.Write, 2)
	var err error
	switch word[0] {
	case 'P', 'Q', 'S', 's':
		o.size = 8
		if word == "Q" || word == "S" {
			o.size = big
		}
		src := make([]byte, o.size)
		src[0] = byte(len(w.ops))
		if word == "S" || word == "s" {
			o.r, err = ep.PostPutSignal(src, key, uint64(o.slot*slotSize), outbox.Signal{Key: w.words.Key(wire.Write, 2), Offset: uint64(8 * o.slot), Value: 1, Add: true})
		} else {
			o.r, err = ep.PostPut(src, key, uint64(o.slot*slotSize))
		}
	case 'M', 'L':
		payload := make([]byte, 8)
		if word == "L" {
			payload = make([]byte, big)
		}
		o.r, err = ep.PostAM(1, binary.LittleEndian.AppendUint32(nil, uint32(len(w.ops)-1)), payload)
	case 'G':
		o.slot = int(word[1] - '0')
		o.got = make([]byte, 8)
		o.r, err = ep.PostGet(o.got, key, uint64(o.slot*slotSize))
	case 'F':
		o.r, err = ep.PostFlush(outbox.Flushing{})
	}
	if o.r == nil {
		w.end(o, err)
	}
	w.eng[0].Flush()
}

// poll sees the ends of operations.
func (w *world) poll() {
	for _, o := range w.ops {
		if o.r != nil && o.r.Reported {
			err := o.r.Err
			w.eng[0].Release(o.r)
			o.r = nil
			w.end(o, err)
		}
	}
}

// left says what is not over, "" if nothing is.
func (w *world) left() string {
	if len(w.todo) > 0 {
		return "not all is posted"
	}
	for i, o := range w.ops {
		if !o.ended || !o.whole() {
			return fmt.Sprintf("%s, operation %d, did not end", o.word, i)
		}
	}
	return ""
}
