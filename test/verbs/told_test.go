//go:build linux && verbs

package verbs

import (
	"context"
	"encoding/binary"
	"net"
	"os"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// TestTold runs in two machines, each with two rails: one serves (BRAID_VERBS_PEER is not set), the other one dials it and takes a link down at its own end, again and again. The
// server's port stays up, and nothing comes over it any more: it hears of the loss over the other rail, long before its adapter's retry time is over.
func TestTold(t *testing.T) {
	if peer := os.Getenv("BRAID_VERBS_PEER"); peer != "" {
		tells(t, peer)
		return
	}
	isTold(t)
}

// port of the server.
const toldPort = "7788"

func isTold(t *testing.T) {
	left(t)
	w := &world{t: t, rails: rails(t)}
	k := &keeper{}
	var about time.Time
	server := node(t, braid.Options{Settings: settings(t, "verbs,self"), Rails: w.rails, OnEvent: w.event})
	done := make(chan struct{})
	server.HandleAM(amCount, k.counted)
	server.HandleAM(amAbout, func(*braid.Message) { about = time.Now() })
	server.HandleAM(amReport, func(m *braid.Message) {
		text := "the lane is not lost here"
		if e, ok := w.find(0, braid.LaneDown); ok {
			text = "known " + e.at.Sub(about).Round(100*time.Microsecond).String() + " after the word that the link goes down; adapters ask for " + retryTime.String() + ": " + e.Err.Error()
			if !toldByPeer(e.Err) {
				t.Errorf("it was lost by %v, not by the peer's word", e.Err)
			}
		}
		t.Log(text)
		w.mu.Lock()
		w.events = nil
		w.mu.Unlock()
		m.Endpoint().PostAM(amReport, nil, []byte(text)).Release()
		if len(m.Payload()) > 0 { // the last one
			close(done)
		}
	})
	ln, err := server.Listen(net.JoinHostPort(w.rails[0], toldPort))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*patience)
	defer cancel()
	ep, err := ln.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	ep.OnEnd(func(error) { close(ended) })
	for _, c := range []chan struct{}{done, ended} {
		select {
		case <-c:
		case <-ctx.Done():
			t.Fatal("the other machine did not come to its end")
		}
	}
	if len(k.Bad) > 0 || k.Messages == 0 {
		t.Errorf("%+v", k.tally)
	}
}

func tells(t *testing.T, peer string) {
	left(t)
	ctx, cancel := context.WithTimeout(context.Background(), 5*patience)
	defer cancel()
	w := &world{t: t, ctx: ctx, rails: rails(t)}
	for _, r := range w.rails {
		w.links = append(w.links, link(t, r))
	}
	client := node(t, braid.Options{Settings: settings(t, "verbs,self"), Rails: w.rails, OnEvent: w.event})
	answers := make(chan string, 1)
	client.HandleAM(amReport, func(m *braid.Message) { answers <- string(m.Payload()) })
	w.dial(client, net.JoinHostPort(peer, toldPort))
	w.until("both lanes", w.whole)
	var sent uint64
	send := func() {
		t.Helper()
		if err := w.ep.SendAM(ctx, amCount, binary.LittleEndian.AppendUint64(nil, sent), make([]byte, 20000)); err != nil {
			t.Fatal(err)
		}
		sent++
	}
	t.Cleanup(func() { run(t, "ip", "link", "set", w.links[1], "up") })
	const times = 3
	for i := range times {
		for range 50 {
			send()
		}
		if err := w.ep.SendAM(ctx, amAbout, nil, nil); err != nil {
			t.Fatal(err)
		}
		if err := w.ep.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		down := w.lost(func() {
			run(t, "ip", "link", "set", w.links[1], "down")
			for range 20 {
				send()
			}
		})
		if byWaiting(down.Err) {
			t.Errorf("it was lost by %v, not by what is known at once", down.Err)
		}
		last := []byte(nil)
		if i == times-1 {
			last = []byte{1}
		}
		if err := w.ep.SendAM(ctx, amReport, nil, last); err != nil {
			t.Fatal(err)
		}
		t.Logf("at the other end: %s", <-answers)
		run(t, "ip", "link", "set", w.links[1], "up")
		w.until("the lane to come back", w.whole)
	}
	w.closes()
}
