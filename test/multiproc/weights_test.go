package multiproc

import (
	"context"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// putStream keeps 16 puts of Size bytes under way. Each 300 ms it says how many bytes of a thousand were posted on each lane meanwhile, in the
// order in which the lanes came up; until somebody says "enough".
func putStream(s *self, j job) {
	n, ep := connect(s, j)
	defer n.Close()
	key, err := braid.ParseRKey(j.Key)
	s.must(err)
	ctx, cancel := context.WithTimeout(context.Background(), lifetime)
	defer cancel()
	src := make([]byte, j.Size)
	var under []braid.Request
	before, since := posted(ep), time.Now()
	for {
		for len(under) < 16 {
			under = append(under, ep.PostPut(src, key, 0))
		}
		s.must(under[0].Wait(ctx))
		under = append(under[:0], under[1:]...)
		if time.Since(since) > 300*time.Millisecond {
			s.say("shares %s", shares(before, posted(ep)))
			before, since = posted(ep), time.Now()
		}
		select {
		case <-s.heard:
			s.must(ep.Close(ctx))
			return
		default:
		}
	}
}

// posted is what was posted on each lane that is up, by the rail.
func posted(ep *braid.Endpoint) map[string]uint64 {
	m := map[string]uint64{}
	for _, l := range ep.Lanes() {
		if l.State == "up" {
			m[l.Local] = l.PostedBytes
		}
	}
	return m
}

// shares are what was posted by 10.77.1.1 and by 10.77.2.1, of a thousand; a lane that is new counts from now on.
func shares(before, now map[string]uint64) string {
	var n [2]uint64
	for local, bytes := range now {
		var rail int
		if was, ok := before[local]; ok {
			_, _ = fmt.Sscanf(local, "10.77.%d.1:", &rail)
			n[rail-1] = bytes - was
		}
	}
	sum := max(n[0]+n[1], 1)
	return fmt.Sprintf("%d %d", 1000*n[0]/sum, 1000*n[1]/sum)
}

// limit bounds the rate of a link, at both ends.
func (w *world) limit(link int, rate string) {
	w.t.Helper()
	if _, err := exec.LookPath("tc"); err != nil {
		skip(w.t, "needs the tc command (package iproute2): %v", err)
	}
	for _, ns := range []string{w.left, w.right} {
		if out, err := exec.Command("tc", "-n", ns, "qdisc", "replace", "dev", w.link(link), "root", "tbf", "rate", rate, "burst", "64kb", "latency", "100ms").CombinedOutput(); err != nil {
			skip(w.t, "this system does not limit the rate of links: %v: %s", err, out)
		}
	}
}

// messageStream keeps 32 messages of Size bytes under way, and says each 300 ms how many bytes a second are acknowledged, on all lanes together; until somebody says "enough".
func messageStream(s *self, j job) {
	n, ep := connect(s, j)
	defer n.Close()
	ctx, cancel := context.WithTimeout(context.Background(), lifetime)
	defer cancel()
	acked := func() (sum uint64) {
		for _, l := range ep.Lanes() {
			sum += l.AckedBytes
		}
		return sum
	}
	src := make([]byte, j.Size)
	var under []braid.Request
	before, since := acked(), time.Now()
	for {
		for len(under) < 32 {
			under = append(under, ep.PostAM(amSink, nil, src))
		}
		s.must(under[0].Wait(ctx))
		under = append(under[:0], under[1:]...)
		if took := time.Since(since); took > 300*time.Millisecond {
			now := acked() // less, if a lane went
			s.say("carried %d", int(float64(max(now, before)-before)/took.Seconds()))
			before, since = now, time.Now()
		}
		select {
		case <-s.heard:
			ep.Abort()
			return
		default:
		}
	}
}

// TestD16_MessagesOverTwoRails: messages of 32 KiB over two limited links reach 1.8 times what they do over one of them. The links are so slow that no busy machine is the limit.
func TestD16_MessagesOverTwoRails(t *testing.T) {
	begin(t)
	w := newWorld(t, 2)
	w.limit(1, "24mbit")
	w.limit(2, "24mbit")
	const size = 32 << 10
	receiver := start(t, job{Role: "serve", Netns: w.right, Addr: "10.77.1.2:0", Rails: w.rails(1), Size: 8})
	addr := receiver.expect("addr")
	best := func(rails []string, enough int) (rate int) {
		sender := start(t, job{Role: "messages", Netns: w.left, Addr: addr, Rails: rails, Size: size})
		sender.expect("carried") // with it queues are full
		for n := 0; n < 2 || rate < enough; n++ {
			rate = max(rate, sender.number("carried"))
			if n > 40 {
				break
			}
		}
		sender.tell("enough")
		sender.exits()
		return rate
	}
	one := best(w.rails(0)[:1], 0)
	two := best(w.rails(0), one*18/10)
	t.Logf("one rail carries %d bytes a second, two %d: %.2f times as much", one, two, float64(two)/float64(one))
	if two < one*18/10 {
		t.Errorf("two rails carry %d bytes a second, one %d: %.2f times as much", two, one, float64(two)/float64(one))
	}
}

// TestB15_Weights: two links whose rates are as 4 to 1, which their interfaces don't say. The bytes of a stream of puts are shared out as the
// rates are, and so they are again after the fast link was down, and after the slow one was. Rates are so low that no busy machine is the limit.
func TestB15_Weights(t *testing.T) {
	begin(t)
	w := newWorld(t, 2)
	w.limit(1, "80mbit")
	w.limit(2, "20mbit")
	const size = 1 << 20
	receiver := start(t, job{Role: "serve", Netns: w.right, Addr: "10.77.1.2:0", Rails: w.rails(1), Size: size})
	key, err := parseKey(receiver.expect("key"))
	if err != nil {
		t.Fatal(err)
	}
	sender := start(t, job{Role: "weigh", Netns: w.left, Addr: receiver.expect("addr"), Rails: w.rails(0), Key: key.Bytes(), Size: size})
	weighed := func(when string) {
		t.Helper()
		var said string
		since := time.Now()
		ok := eventually(func() bool { // within 10 % of all
			var fast, slow int
			said = sender.expect("shares")
			_, err := fmt.Sscan(said, &fast, &slow)
			return err == nil && fast >= 700 && fast <= 900 && slow >= 100 && slow <= 300
		})
		t.Logf("%s: after %v shares of %s", when, time.Since(since).Round(time.Millisecond), said)
		if !ok {
			t.Errorf("%s: shares of %s, the rates are as 800 to 200", when, said)
		}
	}
	weighed("at first")
	for link := 1; link <= 2; link++ {
		w.set(0, link, "down")
		sender.expect("lanedown")
		w.set(0, link, "up")
		sender.expect("laneup")
		weighed(fmt.Sprintf("link %d is back", link))
	}
	sender.tell("enough")
	sender.exits()
}
