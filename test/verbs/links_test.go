//go:build linux && verbs

package verbs

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/rdma"
)

// lost takes something away under load, and waits until the lane on the second rail is given up and what it had is handed over.
func (w *world) lost(takeAway func()) (down event) {
	w.t.Helper()
	n := len(w.seen(0))
	began := time.Now()
	takeAway()
	took := time.Since(began)
	w.until("the loss", func() bool { _, ok := w.find(n, braid.LaneDown); return ok })
	w.until("the hand-over", func() bool { _, ok := w.find(n, braid.HandedOver); return ok })
	down, _ = w.find(n, braid.LaneDown)
	over, _ := w.find(n, braid.HandedOver)
	round := func(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }
	w.t.Logf("noticed %v and all handed over %v after the command began, which took %v; an adapter's retry time is %v: %v",
		round(down.at.Sub(began)), round(over.at.Sub(began)), round(took), round(retryTime), down.Err)
	if !strings.HasPrefix(down.Lane, w.rails[1]+":") {
		w.t.Errorf("the lane %s is lost, not the one on %s", down.Lane, w.rails[1])
	}
	return down
}

// TestLinkDown: a link that goes down under load is known by its event, not by the retry time. Nothing is lost or done twice, messages keep their order, and the
// lane comes back with the link.
func TestLinkDown(t *testing.T) {
	w := newWorld(t, nil)
	stop := w.load()
	t.Cleanup(func() { run(t, "ip", "link", "set", w.links[1], "up") })
	for range 3 {
		down := w.lost(func() { run(t, "ip", "link", "set", w.links[1], "down") })
		if byWaiting(down.Err) {
			t.Errorf("it was lost by %v, not by what is known at once", down.Err)
		}
		run(t, "ip", "link", "set", w.links[1], "up")
		w.until("the lane to come back", w.whole)
	}
	stop()
	w.closes()
}

// byWaiting says whether a lane was lost by somebody's patience: the retry time of the adapter, or the silence of the lane. What is known at once is the word of the
// adapter's port, of netlink, of a work request that found the link down, or of the peer, who heard it first.
func byWaiting(err error) bool {
	return err == nil || strings.Contains(err.Error(), rdma.StatusRetryExceeded.String()) || strings.Contains(err.Error(), "silent")
}

// toldByPeer says whether it was the peer that told of the loss, over the other lane.
func toldByPeer(err error) bool {
	return err != nil && strings.Contains(err.Error(), "the peer lost it")
}

// TestPortFlaps: twenty times down and up, without waiting for the lane to come back.
func TestPortFlaps(t *testing.T) {
	w := newWorld(t, nil)
	stop := w.load()
	t.Cleanup(func() { run(t, "ip", "link", "set", w.links[1], "up") })
	for range 20 {
		run(t, "ip", "link", "set", w.links[1], "down")
		time.Sleep(20 * time.Millisecond)
		run(t, "ip", "link", "set", w.links[1], "up")
		time.Sleep(20 * time.Millisecond)
	}
	w.until("the lane to come back", w.whole)
	stop()
	if _, ok := w.find(0, braid.LaneDown); !ok {
		t.Error("no lane was lost: the flaps did nothing")
	}
	w.closes()
}

// TestAddressGoes: the GID of a rail goes under load, and comes back.
func TestAddressGoes(t *testing.T) {
	w := newWorld(t, nil)
	stop := w.load()
	addr := w.rails[1] + "/24"
	put := func() { _ = exec.Command("ip", "addr", "add", addr, "dev", w.links[1]).Run() }
	t.Cleanup(put)
	w.lost(func() { run(t, "ip", "addr", "del", addr, "dev", w.links[1]) })
	put()
	w.until("the lane to come back", w.whole)
	stop()
	w.closes()
}
