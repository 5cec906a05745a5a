package multiproc

import (
	"context"
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

// access is one operation of a history. A write's interval ends when a flush says that it is executed.
type access struct {
	write bool
	word  int
	value uint64
}

// client is a process that makes a history.
type client struct {
	*self
	ctx  context.Context
	ep   *braid.Endpoint
	key  braid.RKey
	inj  *fault.Injector
	luck *rand.Rand
}

func init() { roles["history"] = history }

// history puts and gets words, several at a time, while its lanes are cut, and says what it did when.
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
	c := &client{s, ctx, ep, key, inj, rand.New(rand.NewPCG(uint64(j.Size), 1))}
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
		o.write, o.word = c.luck.IntN(2) == 0, c.luck.IntN(words)
		o.call = monotonic()
		if o.write {
			o.value = value + uint64(i)
			for k := range o.buf {
				o.buf[k] = byte(o.value >> (8 * k))
			}
			o.r = c.ep.PostPut(o.buf[:], c.key, uint64(8*o.word))
		} else {
			o.r = c.ep.PostGet(o.buf[:], c.key, uint64(8*o.word))
		}
	}
	flush := c.ep.PostFlush()
	for i := range all {
		o := &all[i]
		c.must(o.r.Wait(c.ctx))
		o.end = monotonic()
		if !o.write {
			for k, b := range o.buf {
				o.value |= uint64(b) << (8 * k)
			}
		}
	}
	c.must(flush.Wait(c.ctx))
	flushed := monotonic()
	for i := range all {
		o := &all[i]
		if o.write {
			o.end = flushed
		}
		c.say("access %v %d %d %d %d", o.write, o.word, o.value, o.call, o.end)
	}
	return len(all)
}

// TestLinearizable: words that several processes put and get over lanes that are cut all the time, and that their owner loads, behave as if each
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
		clients = append(clients, start(t, job{Role: "history", Addr: ln.Addr(), Rails: rails, Key: mem.Key(braid.Read | braid.Write).Bytes(), Count: count, Size: i + 1, Peer: 500 * time.Millisecond}))
		if _, err := ln.Accept(within(t, patience)); err != nil {
			t.Fatal(err)
		}
	}
	var ops []porcupine.Operation
	var mu sync.Mutex
	add := func(client int, a access, call, end int64) {
		mu.Lock()
		defer mu.Unlock()
		ops = append(ops, porcupine.Operation{ClientId: client, Input: access{a.write, a.word, a.value}, Output: a.value, Call: call, Return: end})
	}
	stop := make(chan struct{})
	var once sync.Once
	var loads sync.WaitGroup
	t.Cleanup(func() { once.Do(func() { close(stop) }); loads.Wait() })
	loads.Go(func() { // the owner
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				call := monotonic()
				v := mem.Load64(uint64(8 * (i % words)))
				add(len(clients), access{word: i % words, value: v}, call, monotonic())
			}
		}
	})
	handovers := 0
	for i, c := range clients {
		handovers += hear(t, c, func(a access, call, end int64) { add(i, a, call, end) })
	}
	once.Do(func() { close(stop) })
	loads.Wait()
	t.Logf("%d accesses, %d hand-overs", len(ops), handovers)
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

// hear takes what a client says, until it is done.
func hear(t *testing.T, c *child, add func(access, int64, int64)) (handovers int) {
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
				if _, err := fmt.Sscan(rest, &a.write, &a.word, &a.value, &call, &end); err != nil {
					t.Fatal(err)
				}
				add(a, call, end)
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

// registers are words that hold what was written last.
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
	Step: func(state, input, output any) (bool, any) {
		if a := input.(access); a.write {
			return true, a.value
		}
		return output == state, state
	},
}
