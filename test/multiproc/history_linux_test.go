package multiproc

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
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
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	ep, err := n.Worker().Dial(ctx, j.Addr)
	s.must(err)
	key, err := braid.ParseRKey(j.Key)
	s.must(err)
	c := &client{self: s, ctx: ctx, ep: ep, key: key, inj: inj, luck: rand.New(rand.NewPCG(uint64(j.Size), 1))}
	for i, batch := 0, 0; i < j.Count; batch++ {
		if batch%20 == 0 {
			c.cut(j.Rails, batch/20+j.Size)
		}
		i += c.some(uint64(j.Size)<<32 | uint64(i))
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
	all := make([]open, 1+c.luck.IntN(4))
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
	count := 400
	if testing.Short() {
		count = 150
	}
	var clients []*child
	for i := range 3 {
		clients = append(clients, start(t, job{Role: "history", Addr: ln.Addr(), Rails: rails, Key: mem.Key(braid.Read | braid.Write | braid.Atomic).Bytes(), Count: count, Size: i + 1, Peer: 500 * time.Millisecond}))
		if _, err := ln.Accept(within(t, patience)); err != nil {
			t.Fatal(err)
		}
	}
	var ops []porcupine.Operation
	var mu sync.Mutex
	note := func(client int, a access, call, end int64) {
		mu.Lock()
		defer mu.Unlock()
		ops = append(ops, porcupine.Operation{ClientId: client, Input: a, Call: call, Return: end})
	}
	stop := make(chan struct{})
	var once sync.Once
	var loads sync.WaitGroup
	t.Cleanup(func() { once.Do(func() { close(stop) }); loads.Wait() })
	loads.Go(func() { owner(mem, stop, func(a access, call, end int64) { note(len(clients), a, call, end) }) })
	handovers := 0
	for i, c := range clients {
		handovers += hear(t, c, func(a access, call, end int64) { note(i, a, call, end) })
	}
	once.Do(func() { close(stop) })
	loads.Wait()
	swapped := swapped(ops)
	t.Logf("%d accesses, %d compared and swapped, %d hand-overs", len(ops), swapped, handovers)
	if swapped == 0 {
		t.Error("nothing that was compared was the same")
	}
	if handovers == 0 {
		t.Error("no lane was lost: nothing was tested")
	}
	switch r := porcupine.CheckOperationsTimeout(registers, ops, patience); r {
	case porcupine.Ok:
	case porcupine.Unknown:
		t.Log("the checker did not come to an end: the machine is busy")
	default:
		t.Error("the history is not linearizable")
	}
}

// owner loads the words and adds to them.
func owner(mem *braid.Memory, stop <-chan struct{}, note func(access, int64, int64)) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(time.Millisecond):
		}
		w, a := mem.Word64(uint64(8*(i%words))), access{word: i % words}
		call := monotonic()
		if i%3 == 0 {
			a.kind, a.value = fetchAdd, uint64(i)
			a.old = w.Add(a.value) - a.value
		} else {
			a.old = w.Load()
		}
		note(a, call, monotonic())
	}
}

// swapped is how many compared what was there.
func swapped(ops []porcupine.Operation) (n int) {
	for _, o := range ops {
		if a := o.Input.(access); a.kind == compareSwap && a.old == a.compare {
			n++
		}
	}
	return n
}

// hear takes what a client says, until it is done.
func hear(t *testing.T, c *child, note func(access, int64, int64)) (handovers int) {
	late := time.After(3 * patience)
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
			case "done":
				return handovers
			}
		case <-late:
			t.Fatal("a client does not come to an end")
		}
	}
}

// registers are words that are changed one access at a time.
var registers = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := make([][]porcupine.Operation, words)
		for _, o := range history {
			i := o.Input.(access).word
			parts[i] = append(parts[i], o)
		}
		return parts
	},
	Init: func() any { return uint64(0) },
	Step: func(state, input, _ any) (bool, any) {
		after, ok := input.(access).after(state.(uint64))
		return ok, after
	},
}
