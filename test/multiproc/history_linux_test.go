package multiproc

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"golang.org/x/sys/unix"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/tcp"
)

// words are what all processes write and read: naturally aligned, eight bytes each.
const words = 4

const (
	perRound = 40 // accesses of a client, after which all wait for each other
	most     = 4  // that a client has under way
)

// monotonic is a clock that all processes of a machine share.
func monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err)
	}
	return ts.Nano()
}

// access is one operation of a history. The interval of one that brings nothing ends when a flush says that it is executed.
type access struct {
	kind    kind
	word    int
	value   uint64 // put, added, swapped in
	compare uint64
	old     uint64 // what was read
}

type kind int

const (
	get kind = iota
	put
	add
	fetchAdd
	swap
	compareSwap
)

// after is what the word is behind an access that found it so; ok says whether the access may have found that.
func (a access) after(is uint64) (after uint64, ok bool) {
	switch a.kind {
	case get:
	case put:
		return a.value, true
	case add:
		return is + a.value, true
	case fetchAdd:
		return is + a.value, a.old == is
	case swap:
		return a.value, a.old == is
	case compareSwap:
		if is == a.compare {
			return a.value, a.old == is
		}
	}
	return is, a.old == is
}

// client is a process that makes a history.
type client struct {
	*self
	ctx  context.Context
	ep   *braid.Endpoint
	key  braid.RKey
	inj  *fault.Injector
	luck *rand.Rand
	seen [words]uint64 // last
}

func init() { roles["history"] = history }

// history puts, gets and changes words, several at a time, while its lanes are cut, and says what it did when.
func history(s *self, j job) {
	begun := time.Now()
	inj := fault.New(func() time.Duration { return time.Since(begun) + 1 })
	defer inj.Close()
	n, err := braid.Open(braid.Options{Rails: j.Rails, Times: brisk(j), Transports: []transport.Transport{tcp.New(tcp.Options{Wrapper: inj})}})
	s.must(err)
	ctx, cancel := context.WithTimeout(context.Background(), lifetime)
	defer cancel()
	w, err := n.NewWorker()
	s.must(err)
	ep, err := w.Dial(ctx, j.Addr)
	s.must(err)
	key, err := braid.ParseRKey(j.Key)
	s.must(err)
	c := &client{self: s, ctx: ctx, ep: ep, key: key, inj: inj, luck: rand.New(rand.NewPCG(uint64(j.Size), 1))}
	for i, batch := 0, 0; i < j.Count; batch++ {
		if batch%20 == 0 {
			c.cut(j.Rails, batch/20+j.Size)
		}
		before := i / perRound
		if i += c.some(uint64(j.Size)<<32 | uint64(i)); i/perRound > before {
			s.say("round")
			<-s.heard // all have made theirs
		}
	}
	s.say("handovers %d", ep.Stats().Handovers)
	s.must(ep.Close(ctx))
	s.say("done")
}

// cut cuts a rail in the middle of the next write, once both lanes are up: of two silent ones only the peer's time-out would tell.
func (c *client) cut(rails []string, i int) {
	for up := 0; up < len(rails); {
		if up = 0; c.ctx.Err() != nil {
			c.die("the lanes don't come back")
		}
		for _, l := range c.ep.Lanes() {
			if l.State == "up" {
				up++
			}
		}
		if up < len(rails) {
			time.Sleep(time.Millisecond)
		}
	}
	c.inj.Apply(fault.Rule{Rail: rails[i%2], Kind: []fault.Kind{fault.Reset, fault.Silence}[i/2%2], For: 10 * time.Millisecond, Start: fault.Write})
}

// some posts a few accesses, so that they overlap, and reports each with its interval.
func (c *client) some(value uint64) int {
	type open struct {
		access
		call, end int64
		buf       [8]byte
		r         braid.Request
	}
	all := make([]open, 1+c.luck.IntN(most))
	for i := range all {
		o := &all[i]
		o.kind, o.word, o.value = kind(c.luck.IntN(int(compareSwap)+1)), c.luck.IntN(words), value+uint64(i)
		w := c.ep.Word64(c.key, uint64(8*o.word))
		o.call = monotonic()
		switch o.kind {
		case get:
			o.r = c.ep.PostGet(o.buf[:], c.key, uint64(8*o.word))
		case put:
			binary.NativeEndian.PutUint64(o.buf[:], o.value)
			o.r = c.ep.PostPut(o.buf[:], c.key, uint64(8*o.word))
		case add:
			o.r = w.PostAdd(o.value)
		case fetchAdd:
			o.r = w.PostFetchAdd(o.value).Request
		case swap:
			o.r = w.PostSwap(o.value).Request
		case compareSwap:
			o.compare = c.seen[o.word]
			o.r = w.PostCompareSwap(o.compare, o.value).Request
		}
	}
	flush := c.ep.PostFlush()
	for i := range all {
		o := &all[i]
		switch o.kind {
		case get:
			c.must(o.r.Wait(c.ctx))
			o.old = binary.NativeEndian.Uint64(o.buf[:])
		case put, add:
			c.must(o.r.Wait(c.ctx))
		case fetchAdd, swap, compareSwap:
			var err error
			o.old, err = braid.Fetch[uint64]{Request: o.r}.Wait(c.ctx)
			c.must(err)
		}
		o.end = monotonic()
		if o.kind != add {
			c.seen[o.word], _ = o.after(o.old)
		}
	}
	c.must(flush.Wait(c.ctx))
	flushed := monotonic()
	for i := range all {
		o := &all[i]
		if o.kind == put || o.kind == add {
			o.end = flushed
		}
		c.say("access %d %d %d %d %d %d %d", o.kind, o.word, o.value, o.compare, o.old, o.call, o.end)
	}
	return len(all)
}

// TestLinearizable: words that several processes put, get and change atomically over lanes that are cut all the time, and that their owner loads and adds to, behave as if each
// access happened at one moment between its call and its end.
func TestLinearizable(t *testing.T) {
	begin(t)
	rails := []string{"127.0.0.1", "127.0.0.2"}
	w := open(t, braid.Options{Rails: rails, Limits: braid.Limits{HalfOpen: 256}})
	ln, err := w.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	mem, err := w.Node().Alloc(8 * words)
	if err != nil {
		t.Fatal(err)
	}
	count := 6 * perRound
	if testing.Short() {
		count = 3 * perRound
	}
	var clients []*child
	for i := range 3 {
		clients = append(clients, start(t, job{Role: "history", Addr: ln.Addr(), Rails: rails, Key: mem.Key(braid.Read | braid.Write | braid.Atomic).Bytes(), Count: count, Size: i + 1, Peer: 500 * time.Millisecond}))
		if _, err := ln.Accept(within(t, patience)); err != nil {
			t.Fatal(err)
		}
	}
	book := &book{mem: mem, now: make([]uint64, words)}
	stop := make(chan struct{})
	var once sync.Once
	var loads sync.WaitGroup
	t.Cleanup(func() { once.Do(func() { close(stop) }); loads.Wait() })
	loads.Go(func() { book.owner(len(clients), stop) })
	handovers := 0
	for left := clients; len(left) > 0; {
		var on []*child
		for _, c := range left {
			if n, over := hear(t, c, func(a access, call, end int64) { book.note(slices.Index(clients, c), a, call, end) }); over {
				handovers += n
			} else {
				on = append(on, c)
			}
		}
		book.turn()
		for _, c := range on {
			c.tell("on")
		}
		left = on
	}
	once.Do(func() { close(stop) })
	loads.Wait()
	book.turn()
	swapped, accesses, widest := 0, 0, 0
	for _, p := range book.pages {
		swapped += p.swapped()
		accesses += len(p.ops)
		widest = max(widest, len(p.ops))
		if err := p.decide(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d accesses, %d compared and swapped, %d hand-overs; %d parts, the largest of %d", accesses, swapped, handovers, len(book.pages), widest)
	if swapped == 0 {
		t.Error("nothing that was compared was the same")
	}
	if handovers == 0 {
		t.Error("no lane was lost: nothing was tested")
	}
}

// page is what was done to one word in one round: from a moment at which nothing was under way, when it was this, to the next such moment. It
// is small enough to be decided whatever else the machine does.
type page struct {
	word, round int
	begin       uint64
	ops         []porcupine.Operation
}

// book is a history, cut where nothing is under way.
type book struct {
	mem   *braid.Memory
	mu    sync.Mutex
	round int
	now   []uint64 // what the words were at the last cut
	open  [words]page
	pages []page
}

func (b *book) note(client int, a access, call, end int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.enter(client, a, call, end)
}

func (b *book) enter(client int, a access, call, end int64) {
	p := &b.open[a.word]
	p.ops = append(p.ops, porcupine.Operation{ClientId: client, Input: a, Call: call, Return: end})
}

// turn ends a round: nobody else accesses anything.
func (b *book) turn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.open {
		call := monotonic()
		is := b.mem.Word64(uint64(8 * i)).Load()
		b.enter(len(b.open), access{word: i, old: is}, call, monotonic())
		p := b.open[i]
		p.word, p.round, p.begin = i, b.round, b.now[i]
		b.pages, b.open[i], b.now[i] = append(b.pages, p), page{}, is
	}
	b.round++
}

// owner loads the words and adds to them.
func (b *book) owner(client int, stop <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(time.Millisecond):
		}
		w, a := b.mem.Word64(uint64(8*(i%words))), access{word: i % words}
		b.mu.Lock()
		call := monotonic()
		if i%3 == 0 {
			a.kind, a.value = fetchAdd, uint64(i)
			a.old = w.Add(a.value) - a.value
		} else {
			a.old = w.Load()
		}
		b.enter(client, a, call, monotonic())
		b.mu.Unlock()
	}
}

// swapped is how many compared what was there.
func (p page) swapped() (n int) {
	for _, o := range p.ops {
		if a := o.Input.(access); a.kind == compareSwap && a.old == a.compare {
			n++
		}
	}
	return n
}

// effort is how many steps of the model a page may take. It is no time, which a busy machine would use up; one of a run takes some hundreds.
const effort = 20_000_000

// decide says why a page is not linearizable, or that it could not be told.
func (p page) decide() error {
	steps := 0
	word := porcupine.Model{
		Init: func() any { return p.begin },
		Step: func(state, input, _ any) (bool, any) {
			if steps++; steps > effort {
				return false, state
			}
			after, ok := input.(access).after(state.(uint64))
			return ok, after
		},
	}
	switch ok := porcupine.CheckOperations(word, p.ops); {
	case ok:
		return nil
	case steps > effort:
		return fmt.Errorf("word %d, round %d: %d accesses, too many at a time to be decided in %d steps; make rounds smaller (perRound)", p.word, p.round, len(p.ops), effort)
	}
	return fmt.Errorf("word %d, round %d, which began as %#x: no order of its %d accesses explains what they read:\n%+v", p.word, p.round, p.begin, len(p.ops), p.ops)
}

// TestPages: what decides about histories finds what it is for, and decides the widest round that there can be.
func TestPages(t *testing.T) {
	at := func(call, end int64, a access) porcupine.Operation {
		return porcupine.Operation{Input: a, Call: call, Return: end}
	}
	for name, p := range map[string]page{
		"a stale read":           {ops: []porcupine.Operation{at(0, 1, access{kind: put, value: 7}), at(2, 3, access{old: 0})}},
		"an addition made twice": {begin: 5, ops: []porcupine.Operation{at(0, 1, access{kind: add, value: 2}), at(2, 3, access{old: 9})}},
		"one of a round before":  {begin: 5, ops: []porcupine.Operation{at(0, 1, access{old: 5}), at(2, 3, access{old: 7})}},
		"an addition lost":       {ops: []porcupine.Operation{at(0, 9, access{kind: fetchAdd, value: 1}), at(0, 9, access{kind: fetchAdd, value: 1})}},
	} {
		if err := p.decide(); err == nil || !strings.Contains(err.Error(), "explains") {
			t.Errorf("%s: %v", name, err)
		}
	}
	wide := page{}
	for i := range int64(3 * (perRound + most)) { // in threes of four that are all open at once
		begin := i / 12 * 10
		wide.ops = append(wide.ops, at(begin, begin+9, access{kind: add, value: 1}))
	}
	n := int64(len(wide.ops))
	wide.ops = append(wide.ops, at(10*n, 10*n+1, access{old: uint64(n)}))
	if err := wide.decide(); err != nil {
		t.Error(err)
	}
	wide.ops[n].Input = access{old: uint64(n) + 1} // every order has to be refuted
	if err := wide.decide(); err == nil || !strings.Contains(err.Error(), "explains") {
		t.Error(err)
	}
}

// hear takes what a client says, until its round is over, or all of it.
func hear(t *testing.T, c *child, note func(access, int64, int64)) (handovers int, over bool) {
	late := time.After(lifetime)
	for {
		select {
		case line, ok := <-c.lines:
			if !ok {
				<-c.done
				t.Fatalf("a client ended early:\n%s", &c.noise)
			}
			var a access
			var call, end int64
			switch word, rest, _ := strings.Cut(line, " "); word {
			case "access":
				if _, err := fmt.Sscan(rest, &a.kind, &a.word, &a.value, &a.compare, &a.old, &call, &end); err != nil {
					t.Fatal(err)
				}
				note(a, call, end)
			case "handovers":
				fmt.Sscan(rest, &handovers)
			case "round":
				return 0, false
			case "done":
				return handovers, true
			}
		case <-late:
			t.Fatal("a client does not come to an end")
		}
	}
}
