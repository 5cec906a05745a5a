//go:build invariants

package braid_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/tcp"
)

// held is a transport that stays in Progress as long as somebody says, so that its worker's owner is inside the engine for sure.
type held struct {
	transport.Transport
	in, out chan struct{}
	was     atomic.Bool // it was held
}

type heldIface struct {
	transport.Iface
	h *held
}

func (h *held) Open(env transport.Env) (transport.Iface, error) {
	i, err := h.Transport.Open(env)
	return &heldIface{i, h}, err
}

func (i *heldIface) Progress() int {
	select {
	case i.h.in <- struct{}{}:
		<-i.h.out
		i.h.was.Store(true)
	default:
	}
	return i.Iface.Progress()
}

// TestTwoOwners: who enters an Owned worker while another goroutine is inside panics, is told both calls and what to do, and harms nobody.
func TestTwoOwners(t *testing.T) {
	h := &held{Transport: tcp.New(tcp.Options{}), in: make(chan struct{}), out: make(chan struct{})}
	n, err := braid.Open(braid.Options{Owned: true, Transports: []transport.Transport{h}})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	w := newWorker(t, n)
	ln, err := w.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	far := connectPolled(t, braid.Options{Owned: true}) // its worker is not w: no harm in its calls
	for _, c := range []struct {
		name string
		call func()
	}{
		{"(*Worker).Progress", func() { w.Progress() }},
		{"(*Worker).PostFlush", func() { w.PostFlush() }},
		{"(*Worker).Fence", func() { w.Fence() }},
		{"(*Worker).HandleAM", func() { w.HandleAM(1, nil) }},
		{"(*Worker).Sleep", func() { w.Sleep(context.Background()) }},
		{"(*Worker).Arm", func() { w.Arm() }},
		{"(*Worker).Close", func() { w.Close() }},
		{"(*Listener).Addr", func() { ln.Addr() }},
	} {
		over := make(chan struct{})
		go func() {
			defer close(over)
			for !h.was.Swap(false) {
				w.Progress()
			}
		}()
		select {
		case <-h.in:
		case <-time.After(patience):
			t.Fatal("Progress does not come to the transport")
		}
		w.Wake() // may come from anywhere
		far.turn()
		said := panics(c.call)
		h.out <- struct{}{}
		<-over
		for _, want := range []string{"braid: " + c.name + " was called while another goroutine is in (*Worker).Progress: ", "Options.Owned", "Wake"} {
			if !strings.Contains(said, want) {
				t.Errorf("%s: panics with %q, want %q in it", c.name, said, want)
			}
		}
		if said := panics(func() { w.Fence(); w.Progress() }); said != "" {
			t.Errorf("%s: afterwards one goroutine alone is refused: %s", c.name, said)
		}
	}
}

// panics is what the call panics with, "" if it doesn't.
func panics(call func()) (said string) {
	defer func() {
		if r := recover(); r != nil {
			said = r.(string)
		}
	}()
	call()
	return ""
}
