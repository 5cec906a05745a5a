package litmus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/outbox"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/worker"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/sim"
)

// program is what is posted, word by word.
//
//	P put of 8 bytes     Q put of two frames      S put of two frames with a signal     s the same in one frame
//	M message            L message of two frames  R message in parts             G0 get of the word of operation 0
//	A fetch and add      a add                    all of them to one word
//	|  fence of the endpoint                      || fence of the worker         ~ none, and the checks take it for one
//	F  flush: of the endpoint     W of its worker     Fs until buffers are free     Fl of its first lane     Fm of the memory of puts
//	X  flush that cancels what waits              C0 cancel of operation 0
//	>1 its messages are to move to its lane 1     V0 the interface of lane 0 becomes much slower
//	@1 from here on for the endpoint 1            @c for that of a second worker
type program struct {
	words string
	lanes int
	cuts  int // lanes that break
	kind  sim.Kind
}

// oneWay is a silent cut of one direction of a lane, of either.
const oneWay = sim.Some + 1

// silent says whether nobody is told of a cut.
func (p program) silent() bool { return p.kind == sim.Silence || p.kind == oneWay }

// op is one operation of the program, as its poster knows it.
type op struct {
	fact
	at  int // in the program
	dst []byte
	r   *request.Request
}

// fact is what the checks know of it.
type fact struct {
	word  string
	from  int // side
	ep    int
	fence int // fences before it on its endpoint
	slot  int // of its bytes
	size  int
	end   ending
	got   uint64 // of a get its first byte, of a fetch and add the word
}

// ending is how an operation ended for its user.
type ending uint8

const (
	open ending = iota
	well
	unexecuted // canceled, and not executed
	badly
)

// effect is what became of an operation at the target.
type effect struct {
	wrote    int // bytes
	accepted int // times
	signaled int
	added    int
}

const (
	slotSize = 5 << 10
	big      = 5000 // two frames
	striped  = 6000 // in four parts, if there are two lanes
	room     = 8    // operations
	sum      = room // which of the words is added to
)

// The sides: a posts, b is the target, c posts where a program has a second worker.
const (
	target = 1
	second = 2
)

// side is one worker and its host.
type side struct {
	name   string
	rails  []string
	host   *sim.Host
	eng    *worker.Worker
	mem    *memory.Table
	ops    []*op // that it posted
	fences []int // by endpoint
}

// world is the workers over a steered network.
type world struct {
	program
	net    *sim.Net
	sides  []*side
	region *memory.Region // of b
	words  *memory.Region // of b, for signals, and one that is added to
	sum    uint64         // what this one is
	eps    []*worker.Endpoint
	owner  []int // by endpoint
	calls  []delivery.Call

	plan    []posting
	taken   int // words of it that are posted
	ops     []*op
	done    [room]effect
	effects []happening // of the last step
	cut     int
	*hasher
}

// happening is one effect at the target.
type happening struct {
	what byte // w written, s signaled, m accepted, a added
	op   int
	n    int // bytes, or the value of a signal
}

// posting is a word of a program, and for whom it is.
type posting struct {
	word     string
	ep, side int
}

// plan takes a program apart. Endpoints are those of the first worker, and that of the second behind them.
func (p program) plan() (all []posting, endpoints int, both bool) {
	words := strings.Fields(p.words)
	endpoints = 1
	for _, w := range words {
		if both = both || w == "@c"; w[0] == '@' && w != "@c" {
			endpoints = max(endpoints, int(w[1]-'0')+1)
		}
	}
	at := posting{}
	for _, w := range words {
		switch {
		case w == "@c":
			at = posting{ep: endpoints, side: second}
		case w[0] == '@':
			at = posting{ep: int(w[1] - '0')}
		default:
			at.word = w
			all = append(all, at)
		}
	}
	return all, endpoints, both
}

// newWorld connects everybody. From then on nothing happens by itself.
func newWorld(p program, h *hasher) *world {
	w := &world{program: p, hasher: h}
	w.net = sim.New(1, sim.Config{MaxHead: 2048, MaxFrame: 4096, ZeroCopy: 1 << 20, PlaceFrom: 1 << 20, Window: 256, Steered: true})
	plan, endpoints, both := p.plan()
	w.plan = plan
	names := []string{"a", "b", "c"}[:2]
	if both {
		names = names[:3]
	}
	for i, name := range names {
		w.start(i, name)
	}
	w.watch()
	ln, err := w.sides[target].eng.Listen("b0:7", worker.ListenOptions{})
	if err != nil {
		panic(err)
	}
	for range endpoints {
		w.dial(ln, 0)
	}
	if len(names) > 2 {
		w.dial(ln, second)
	}
	for _, s := range w.sides {
		s.fences = make([]int, len(w.eps))
	}
	return w
}

func (w *world) start(i int, name string) {
	var rails []string
	for k := range w.lanes {
		rails = append(rails, fmt.Sprintf("%s%d", name, k))
	}
	s := &side{name: name, rails: rails, host: w.net.Host(name, rails...)}
	env := s.host.Env()
	s.mem = memory.NewTable(env.Rand)
	var err error
	s.eng, err = worker.New(worker.Options{Transports: []transport.Transport{s.host}, Env: env, Memory: s.mem, Incarnation: uint64(i) + 1,
		Rails:  topo.View{Rails: topo.Fixed(rails...)},
		Config: config.Config{Bounds: config.Bounds{Window: 256, MaxFrame: 4096, Stripe: striped}}})
	if err != nil {
		panic(err)
	}
	w.sides = append(w.sides, s)
}

func (w *world) dial(ln *worker.Listener, from int) {
	ep, r, err := w.sides[from].eng.Dial([]string{"b0:7"}, worker.DialOptions{Mode: wire.ModeFailover})
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
	w.sides[from].eng.Release(r)
	if acc, _, err := ln.Accept(); acc == nil || err != nil {
		panic("nothing was accepted")
	}
	w.eps, w.owner = append(w.eps, ep), append(w.owner, from)
}

// turn lets one side do what it can.
func (w *world) turn(i int) {
	eng := w.sides[i].eng
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
	w.poll(i)
}

func (w *world) let(a sim.Arrival) {
	w.net.Let(a)
	w.turn(int(a.Host[0] - 'a'))
}

// passTime goes to the next time at which something happens by itself.
func (w *world) passTime() bool {
	for _, s := range w.sides {
		if d := s.eng.Deadline(); d > w.net.Now() {
			w.net.At(d)
		}
	}
	if !w.net.Step() {
		return false
	}
	for i := range w.sides {
		w.turn(i)
	}
	return true
}

// post posts the next word.
func (w *world) post() {
	p := w.plan[w.taken]
	w.taken++
	word, ep, s := p.word, w.eps[p.ep], w.sides[p.side]
	switch word[0] {
	case '~':
		s.fences[p.ep]++
		return
	case '|':
		if word == "||" {
			s.eng.Fence()
			for i, o := range w.owner {
				if w.sides[o] == s {
					s.fences[i]++
				}
			}
		} else {
			ep.Fence()
			s.fences[p.ep]++
		}
		return
	case '>', 'V':
		w.weigh(s, ep, word[0], int(word[1]-'0'))
		w.poll(p.side)
		return
	case 'C':
		if o := w.ops[word[1]-'0']; o.r != nil {
			s.eng.Cancel(o.r)
			s.eng.Flush()
			w.poll(p.side)
		}
		return
	}
	o := &op{fact: fact{word: word, from: p.side, ep: p.ep, fence: s.fences[p.ep], slot: len(w.ops)}, at: len(w.ops)}
	w.ops, s.ops = append(w.ops, o), append(s.ops, o)
	var err error
	if word[0] == 'F' || word == "W" || word == "X" {
		err = w.flush(o, s, ep)
	} else {
		err = w.operate(o, ep)
	}
	if o.r == nil {
		o.over(err)
	}
	s.eng.Flush()
	w.poll(p.side)
}

// weigh makes the n-th lane the one for messages, or a slow one.
func (w *world) weigh(s *side, ep *worker.Endpoint, how byte, n int) {
	if how == 'V' {
		rails := topo.Fixed(s.rails...)
		rails[n].Speed = 10 // Mbit/s, beside what is thought to be a gigabit
		s.eng.RailsChanged(rails)
	} else if ls := ep.Lanes(); n < len(ls) {
		ep.Box().Prefer(ls[n].Instance.String())
	}
	s.eng.Flush()
}

func (w *world) operate(o *op, ep *worker.Endpoint) (err error) {
	key := w.region.Key(wire.Read|wire.Write, target+1)
	switch o.word[0] {
	case 'P', 'Q', 'S', 's':
		o.size = 8
		if o.word == "Q" || o.word == "S" {
			o.size = big
		}
		src := make([]byte, o.size)
		src[0] = byte(o.at + 1)
		if o.word == "S" || o.word == "s" {
			o.r, err = ep.PostPutSignal(src, key, uint64(o.slot*slotSize), outbox.Signal{Key: w.words.Key(wire.Write, target+1), Offset: uint64(8 * o.slot), Value: 1, Add: true})
		} else {
			o.r, err = ep.PostPut(src, key, uint64(o.slot*slotSize))
		}
	case 'M', 'L', 'R':
		payload := make([]byte, map[byte]int{'M': 8, 'L': big, 'R': striped}[o.word[0]])
		o.r, err = ep.PostAM(1, binary.LittleEndian.AppendUint32(nil, uint32(o.at)), payload)
	case 'A', 'a':
		o.r, err = ep.PostAtomic(w.words.Key(wire.Atomic, target+1), wire.AtomicOp{Change: wire.ChangeAdd, Size: 8, Fetch: o.word == "A", Offset: 8 * sum, Value: 1 << (8 * o.at)})
	case 'G':
		o.slot = int(o.word[1] - '0')
		o.dst = make([]byte, 8)
		o.r, err = ep.PostGet(o.dst, key, uint64(o.slot*slotSize))
	}
	return err
}

func (w *world) flush(o *op, s *side, ep *worker.Endpoint) (err error) {
	f := outbox.Flushing{Cancel: o.word == "X", Sent: o.word == "Fs"}
	switch o.word {
	case "W":
		o.r, err = s.eng.PostFlush(f)
		return err
	case "Fl":
		if ls := ep.Lanes(); len(ls) > 0 {
			f.Lanes = []string{ls[0].Instance.String()}
		}
	case "Fm":
		f.Key = w.region.Key(wire.Read|wire.Write, target+1)
	}
	o.r, err = ep.PostFlush(f)
	return err
}

// over is the user's end of an operation.
func (o *op) over(err error) {
	var e *outcome.Error
	switch {
	case err == nil:
		o.end = well
	case errors.As(err, &e) && errors.Is(err, outcome.ErrCanceled) && e.Fate == outcome.NotExecuted:
		o.end = unexecuted
	default:
		o.end = badly
	}
}

// poll sees the ends of operations.
func (w *world) poll(i int) {
	s := w.sides[i]
	for _, o := range s.ops {
		if o.r != nil && o.r.Reported {
			err := o.r.Err
			switch {
			case err != nil:
			case o.word == "A":
				o.got = binary.LittleEndian.Uint64(o.r.Word[:])
			case o.dst != nil:
				o.got = uint64(o.dst[0])
			}
			s.eng.Release(o.r)
			o.r = nil
			o.over(err)
		}
	}
}
