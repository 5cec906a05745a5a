//go:build linux

package shm

import (
	"bufio"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/transport"
)

// plain is a sink that counts, and the acceptor of one.
type plain struct {
	ep  transport.Endpoint
	up  bool
	got int
	err error
}

func (p *plain) Connected()                      { p.up = true }
func (p *plain) Place(uint8, []byte, int) []byte { return nil }
func (p *plain) Frame(*transport.Incoming)       { p.got++ }
func (p *plain) Room()                           {}
func (p *plain) Sent(uint64)                     {}
func (p *plain) Executed(uint64, error)          {}
func (p *plain) OnError(err error) transport.Decision {
	p.err = err
	return transport.Complete
}

func (p *plain) Accepted(ep transport.Endpoint) (transport.Sink, transport.Options) {
	p.ep, p.up = ep, true
	ep.Admit(maxFrame, true)
	return p, transport.Options{}
}

func opened(t testing.TB) *iface {
	t.Helper()
	return openedOn(t, New(Options{Slots: 8, Data: 128 << 10}))
}

func openedOn(t testing.TB, tr transport.Transport) *iface {
	t.Helper()
	start := time.Now()
	f, err := tr.Open(transport.Env{
		Now: func() time.Duration { return time.Since(start) + 1 }, Rand: rand.Uint64, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return f.(*iface)
}

// turns makes progress on both sides until cond holds, for so many turns at most.
func turns(n int, cond func() bool, all ...*iface) bool {
	for ; n > 0 && !cond(); n-- {
		for _, f := range all {
			f.Progress()
			f.Flush()
		}
	}
	return cond()
}

func mapped(f *iface) int {
	n, _ := f.budget.Used()
	return n
}

func never() bool { return false }

// TestGarbage: a peer that writes anything into the memory that is shared costs its own connection and nothing else: no panic, no frame beyond the limits,
// and what stands beside goes on.
func TestGarbage(t *testing.T) {
	a, b := opened(t), opened(t)
	defer a.Close()
	defer b.Close()
	connect := func() (client, server *plain) {
		client, server = &plain{}, &plain{}
		l, err := b.Listen("shm:0", server)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if client.ep, err = a.Dial("", l.Addr(), transport.Options{}, client); err != nil {
			t.Fatal(err)
		}
		if !turns(1000, func() bool { return client.up && server.up }, a, b) {
			t.Fatal("no connection")
		}
		client.ep.Admit(maxFrame, true)
		return client, server
	}
	post := func(p *plain, size int) {
		p.ep.Post(&transport.Frame{ID: 1, Head: []byte("head"), Payload: make([]byte, size), Done: p})
	}
	good, peer := connect()
	broken := 0
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 1))
		client, server := connect()
		mem := client.ep.(*endpoint).seg.Bytes()
		half := len(mem) / 2
		for range 6 {
			post(client, rng.IntN(70<<10))
			post(server, rng.IntN(200))
			for range 1 + rng.IntN(3) { // the lines and slots of either ring
				at := rng.IntN(2)*half + rng.IntN(256+8*64)
				if mem[at] = byte(rng.Uint32()); rng.IntN(2) == 0 {
					copy(mem[at&^7:], []byte{byte(rng.IntN(12)), 0, 0, 0, 1, 0, 4, 0, 0xff, 0xff, byte(rng.Uint32()), 0})
				}
			}
			turns(3, never, a, b)
			if client.err != nil || server.err != nil {
				break
			}
		}
		if client.err != nil || server.err != nil {
			broken++
		}
		client.ep.Close()
		server.ep.Close()
		if post(good, 100); !turns(1000, func() bool { return peer.got == int(seed)+1 }, a, b) {
			t.Fatalf("seed %d: the connection beside it does not go on: %v, %v", seed, good.err, peer.err)
		}
	}
	if broken < 50 {
		t.Errorf("of 150 connections with garbage %d were found out", broken)
	}
	good.ep.Close()
	peer.ep.Close()
	if turns(3, never, a, b); mapped(a)+mapped(b) != 0 {
		t.Errorf("%d and %d bytes are still mapped", mapped(a), mapped(b))
	}
}

// TestLooksOnceMore: who goes to sleep while something has arrived for which nobody was going to wake him, wakes.
func TestLooksOnceMore(t *testing.T) {
	a, b := opened(t), opened(t)
	defer a.Close()
	defer b.Close()
	client, server := &plain{}, &plain{}
	l, err := b.Listen("shm:0", server)
	if err != nil {
		t.Fatal(err)
	}
	if client.ep, err = a.Dial("", l.Addr(), transport.Options{}, client); err != nil {
		t.Fatal(err)
	}
	if !turns(1000, func() bool { return client.up && server.up }, a, b) {
		t.Fatal("no connection")
	}
	b.Watch(false)
	post := func() {
		client.ep.Post(&transport.Frame{ID: 1, Class: transport.Control})
		a.Flush()
	}
	post()
	turns(3*eventsEvery, never, b) // the bell was rung, and is taken
	if ep := server.ep.(*endpoint); ep.lies || server.got != 1 {
		t.Fatalf("it says that it sleeps: %v; %d frames", ep.lies, server.got)
	}
	post()
	b.Watch(true)
	p := []unix.PollFd{{Fd: int32(b.EventFD()), Events: unix.POLLIN}}
	if n, err := unix.Poll(p, 0); n != 1 || err != nil {
		t.Errorf("a frame is there, and who sleeps now would not wake: %d, %v", n, err)
	}
}

// child is the process that TestKilled kills: it dials, and sends frames for ever.
func child(addr string) {
	start := time.Now()
	f, err := New(Options{}).Open(transport.Env{
		Now: func() time.Duration { return time.Since(start) + 1 }, Rand: rand.Uint64, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		panic(err)
	}
	p := &plain{}
	if p.ep, err = f.Dial("", addr, transport.Options{}, p); err != nil {
		panic(err)
	}
	if os.Getenv("BRAID_SHM_BORROW") != "" {
		borrower(f.(*iface), p)
	}
	if os.Getenv("BRAID_SHM_FORBID") != "" {
		forbidden(addr)
	}
	for i := 0; ; i++ {
		if p.up {
			if i == 0 || p.got == 0 {
				p.ep.Admit(maxFrame, true)
				p.got = 1
				fmt.Println("up")
			}
			p.ep.Post(&transport.Frame{ID: 1, Payload: make([]byte, i*37%60000), Done: p})
		}
		f.Progress()
		f.Flush()
	}
}

// TestKilled: a peer that is killed at any instruction of a send leaves a typed error, soon, and neither memory nor descriptors.
func TestKilled(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 10
	}
	f := opened(t)
	defer f.Close()
	sum := 0
	for i := range rounds {
		p := &plain{}
		l, err := f.Listen("shm:0", p)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "BRAID_SHM_CHILD="+l.Addr())
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		var up atomic.Bool
		go func() {
			_, _ = bufio.NewReader(out).ReadString('\n')
			up.Store(true)
		}()
		waits := func(what string, cond func() bool) {
			for end := time.Now().Add(20 * time.Second); !turns(100, cond, f); {
				if time.Now().After(end) {
					cmd.Process.Kill()
					t.Fatalf("round %d: gave up: %s", i, what)
				}
			}
		}
		waits("the child", up.Load)
		waits("frames", func() bool { return p.got > i*13%400 })
		cmd.Process.Kill()
		waits("the news of its death", func() bool { return p.err != nil })
		_ = cmd.Wait()
		if !errors.Is(p.err, transport.ErrPeerClosed) && !errors.Is(p.err, transport.ErrReset) {
			t.Errorf("round %d: %v", i, p.err)
		}
		if n := p.ep.Position(); n != uint64(p.got) {
			t.Errorf("round %d: the position is %d, taken are %d", i, n, p.got)
		}
		sum += p.got
		p.ep.Close()
		l.Close()
		if turns(2, never, f); mapped(f) != 0 || len(f.eps) > 0 || len(f.byFD) > 0 {
			t.Fatalf("round %d: %d bytes, %d endpoints, %d descriptors are left", i, mapped(f), len(f.eps), len(f.byFD))
		}
	}
	t.Logf("%d deaths, %d frames", rounds, sum)
}

// Child is for TestMain.
var Child = child
