package braid_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
)

// mustOpen is a node that is closed with the test.
func mustOpen(t testing.TB, o braid.Options) *braid.Node {
	t.Helper()
	n, err := braid.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// addressOf is a worker of its own node, and its address.
func addressOf(t *testing.T, o braid.Options) (*braid.Worker, braid.Address) {
	t.Helper()
	w := newWorker(t, mustOpen(t, o))
	a, err := w.Address()
	if err != nil {
		t.Fatal(err)
	}
	return w, a
}

// TestAddress: both of two workers connect by each other's address, which has travelled as text or as bytes, and neither has listened.
func TestAddress(t *testing.T) {
	ctx := testContext(t)
	left, la := addressOf(t, braid.Options{})
	right, ra := addressOf(t, braid.Options{})
	packed, err := json.Marshal(ra)
	if err != nil {
		t.Fatal(err)
	}
	var there braid.Address
	if err := json.Unmarshal(packed, &there); err != nil || !there.Equal(ra) {
		t.Fatal(there, err)
	}
	back, err := braid.AddressOf(la.Bytes())
	if err != nil || !back.Equal(la) {
		t.Fatal(back, err)
	}
	if again, err := left.Address(); err != nil || !again.Equal(la) {
		t.Error("another address the second time:", again, err)
	}
	buf := make([]byte, 16)
	for _, way := range []struct {
		from, to *braid.Worker
		a        braid.Address
	}{{left, right, there}, {right, left, back}} {
		ep, err := way.from.Connect(ctx, way.a)
		if err != nil {
			t.Fatal(err)
		}
		if err := ep.SendTag(ctx, 7, []byte("hello")); err != nil {
			t.Fatal(err)
		}
		info, err := way.to.RecvTag(ctx, buf, 7, braid.ExactTag)
		if err != nil || string(buf[:info.Len]) != "hello" {
			t.Fatal(info, err)
		}
		if err := info.From.SendTag(ctx, 8, []byte("answer")); err != nil {
			t.Fatal(err)
		}
		if info, err = ep.RecvTag(ctx, buf, 8, braid.ExactTag); err != nil || string(buf[:info.Len]) != "answer" {
			t.Fatal(info, err)
		}
		if err := ep.Close(ctx); err != nil {
			t.Error(err)
		}
	}
}

// TestAddressSelf: a worker reaches itself by its address, without a network.
func TestAddressSelf(t *testing.T) {
	ctx := testContext(t)
	w, a := addressOf(t, braid.Options{})
	ep, err := w.Connect(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	if lanes := ep.Lanes(); len(lanes) != 1 || lanes[0].Local[:4] != "self" {
		t.Errorf("%+v", lanes)
	}
	if err := ep.Close(ctx); err != nil {
		t.Error(err)
	}
}

// TestAddressStale: who was meant is gone, and somebody else is where it was: an error that says so and what to do, and no endpoint to that one.
func TestAddressStale(t *testing.T) {
	ctx := testContext(t)
	n := mustOpen(t, braid.Options{})
	w := newWorker(t, n)
	ln, err := w.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a, err := ln.Address()
	if err != nil {
		t.Fatal(err)
	}
	at := ln.Addr()
	client := newWorker(t, mustOpen(t, braid.Options{}))
	if ep, err := client.Connect(ctx, a); err != nil {
		t.Fatal(err)
	} else if got, err := ln.Accept(ctx); err != nil || got == nil {
		t.Error(err)
	} else if err := ep.Close(ctx); err != nil {
		t.Error(err)
	}
	w.Close()
	if _, err := ln.Address(); !errors.Is(err, braid.ErrClosed) {
		t.Error(err)
	}
	if _, err := w.Address(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if _, err := client.Connect(ctx, a); !errors.Is(err, braid.ErrDial) {
		t.Errorf("nobody is there: %v", err)
	}
	for _, other := range []struct {
		n    *braid.Node
		want error
	}{{n, braid.ErrPeerClosed}, {mustOpen(t, braid.Options{}), braid.ErrPeerRestarted}} {
		w := newWorker(t, other.n)
		ln, err := w.Listen(at)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Connect(ctx, a); !errors.Is(err, other.want) || !errors.Is(err, braid.ErrDial) {
			t.Errorf("got %v, want %v", err, other.want)
		}
		ln.Close()
		w.Close()
	}
}

// TestAddressOnly: where who has the address is let in who has host and port alone isn't; nor is who has another secret, or none.
func TestAddressOnly(t *testing.T) {
	ctx := testContext(t)
	secret := braid.NewSecret()
	w, a := addressOf(t, braid.Options{Secret: secret, Name: "server"})
	var lane string
	client := newWorker(t, mustOpen(t, braid.Options{}))
	ep, err := client.Connect(ctx, a, secret)
	if err != nil {
		t.Fatal(err)
	}
	if ep.Peer() != "server" {
		t.Error(ep.Peer())
	}
	for _, l := range ep.Lanes() {
		if _, _, err := net.SplitHostPort(l.Remote); err == nil && lane == "" && l.Path == 0 {
			lane = l.Remote
		}
	}
	if err := ep.Close(ctx); err != nil {
		t.Error(err)
	}
	if _, err := client.Dial(ctx, lane, secret); !errors.Is(err, braid.ErrRefused) {
		t.Errorf("dialed %s: %v", lane, err)
	}
	if _, err := client.Connect(ctx, a); !errors.Is(err, braid.ErrSecret) {
		t.Error(err)
	}
	if _, err := client.Connect(ctx, a, braid.NewSecret()); !errors.Is(err, braid.ErrSecret) {
		t.Error(err)
	}
	if s := w.Strangers(); s.Refused < 3 {
		t.Errorf("%+v", s)
	}
}

// TestAddressBad: what is no address is said to be none, before anything is sent.
func TestAddressBad(t *testing.T) {
	ctx := testContext(t)
	w := newWorker(t, mustOpen(t, braid.Options{}))
	if _, err := w.Connect(ctx, braid.Address{}); !errors.Is(err, braid.ErrAddress) {
		t.Error(err)
	}
	for _, text := range []string{"", "10.0.0.5:7777", "braid1.AQ"} {
		if _, err := braid.ParseAddress(text); !errors.Is(err, braid.ErrAddress) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := braid.AddressOf([]byte{1}); !errors.Is(err, braid.ErrAddress) {
		t.Error(err)
	}
}

// TestC4AddressCrowd: 64 goroutines of one worker connect to one peer at once, and 4 workers of one process to each other: each has an endpoint of its own, which works.
func TestC4AddressCrowd(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 120*time.Second)
	defer cancel()
	patient := braid.Options{Lanes: 1, Times: braid.Times{Handshake: 100 * time.Second, Hello: 100 * time.Second}} // of a busy machine
	n := mustOpen(t, patient)
	workers := make([]*braid.Worker, 4)
	addrs := make([]braid.Address, len(workers))
	for i := range workers {
		var err error
		workers[i] = newWorker(t, n)
		if addrs[i], err = workers[i].Address(); err != nil {
			t.Fatal(err)
		}
	}
	client := newWorker(t, mustOpen(t, patient))
	var all sync.WaitGroup
	talk := func(from *braid.Worker, to int, tag uint64) {
		defer all.Done()
		ep, err := from.Connect(ctx, addrs[to])
		if err == nil {
			err = ep.SendTagSync(ctx, tag, []byte(fmt.Sprint(tag)))
		}
		if err == nil {
			err = ep.Close(ctx)
		}
		if err != nil {
			t.Errorf("%d: %v", tag, err)
		}
	}
	hear := func(to int, tag uint64) {
		defer all.Done()
		buf := make([]byte, 16)
		if info, err := workers[to].RecvTag(ctx, buf, tag, braid.ExactTag); err != nil || string(buf[:info.Len]) != fmt.Sprint(tag) {
			t.Errorf("%d: %v, %v", tag, info, err)
		}
	}
	for i := range 64 {
		all.Add(2)
		go talk(client, 0, uint64(i))
		go hear(0, uint64(i))
	}
	for i, w := range workers {
		for j := range workers {
			tag := uint64(1000 + 10*i + j)
			all.Add(2)
			go talk(w, j, tag)
			go hear(j, tag)
		}
	}
	all.Wait()
}

// TestAddressFlat: peers that come by the address and go leave nothing, though nobody has accepted or closed them.
func TestAddressFlat(t *testing.T) {
	ctx := testContext(t)
	w, a := addressOf(t, braid.Options{Lanes: 1})
	client := newWorker(t, mustOpen(t, braid.Options{Lanes: 1}))
	many := 1100 // more than may wait to be accepted
	if testing.Short() {
		many = 100
	}
	for range many {
		ep, err := client.Connect(ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		if err := ep.Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if s := w.Strangers(); s.Refused != 0 {
		t.Errorf("%+v", s)
	}
}

// heals has what was cut heal when its time is over, whatever the test waits for.
func heals(t *testing.T, faults *fault.Injector) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				faults.Advance()
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-stopped })
}

// TestAddressUnderCuts: an endpoint by an address goes on when its lanes die, as any: each message once and in order, while both rails are cut in turns, and what the
// peer is answered on, too.
func TestAddressUnderCuts(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	faults, rails := injector(t), []string{"127.0.0.1", "127.0.0.2"}
	heals(t, faults)
	times := braid.Times{RedialMin: time.Millisecond, RedialMax: 20 * time.Millisecond, Probe: 5 * time.Millisecond, Lost: 20 * time.Millisecond, Keepalive: 100 * time.Millisecond, Peer: 500 * time.Millisecond}
	server, a := addressOf(t, braid.Options{Rails: rails, Times: times})
	client := newWorker(t, mustOpen(t, braid.Options{Rails: rails, Times: times, Faults: faults}))
	ep, err := client.Connect(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(ep.Lanes()); n != 2 {
		t.Errorf("%d lanes", n)
	}
	buf, back := make([]byte, 8), make([]byte, 8)
	for i := range uint64(60) {
		if i%10 == 5 {
			faults.Cut(rails[i/10%2], fault.Kind(i/20%2), 2*time.Millisecond)
		}
		if err := ep.SendTag(ctx, 1, binary.LittleEndian.AppendUint64(nil, i)); err != nil {
			t.Fatal(err)
		}
		info, err := server.RecvTag(ctx, buf, 1, braid.ExactTag)
		if err != nil || binary.LittleEndian.Uint64(buf) != i {
			t.Fatalf("message %d: %v, %v", i, buf, err)
		}
		if err := info.From.SendTag(ctx, 2, buf); err != nil {
			t.Fatal(err)
		}
		if _, err := ep.RecvTag(ctx, back, 2, braid.ExactTag); err != nil || !bytes.Equal(back, buf) {
			t.Fatalf("answer %d: %v, %v", i, back, err)
		}
	}
	if err := ep.Close(ctx); err != nil {
		t.Error(err)
	}
}

// newWorker is a worker of n.
func newWorker(t testing.TB, n *braid.Node) *braid.Worker {
	t.Helper()
	w, err := n.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	return w
}
