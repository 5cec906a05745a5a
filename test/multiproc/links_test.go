package multiproc

import (
	"context"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// putUntilTold puts Size bytes again and again, each time others, and flushes. It says "round" when a third of a put has
// been taken by the peer, and goes on until somebody says "enough"; then it says the checksum of the last bytes.
func putUntilTold(s *self, j job) {
	n, ep := connect(s, j)
	defer n.Close()
	key, err := braid.ParseRKey(j.Key)
	s.must(err)
	s.say("lanes %d", up(ep))
	ctx, cancel := context.WithTimeout(context.Background(), lifetime)
	defer cancel()
	src := make([]byte, j.Size)
	for round, told := uint64(1), false; !told; round++ {
		pattern(src, round)
		before := ackedBytes(ep)
		put := ep.PostPut(src, key, 0)
		for ackedBytes(ep) < before+uint64(j.Size)/3 && !ended(put) {
			time.Sleep(100 * time.Microsecond)
		}
		s.say("round %d", round)
		s.must(put.Wait(ctx))
		s.must(ep.Flush(ctx))
		select {
		case <-s.heard: // "enough"
			told = true
		default:
		}
	}
	s.say("sent %d", crc32.ChecksumIEEE(src))
	for command := range s.heard {
		if command == "lanes" {
			s.say("lanes %d", up(ep))
			continue
		}
		s.must(ep.Close(ctx))
		return
	}
}

func ended(r braid.Request) bool {
	done, _ := r.Test()
	return done
}

func ackedBytes(ep *braid.Endpoint) (n uint64) {
	for _, l := range ep.Lanes() {
		n += l.AckedBytes
	}
	return n
}

func up(ep *braid.Endpoint) (n int) {
	for _, l := range ep.Lanes() {
		if l.State == "up" {
			n++
		}
	}
	return n
}

// TestB1_LinkDown: two links are the lanes of one put; one of them goes down in mid transfer. The put completes, the data is
// right, the loss is told with the lane's name, and the lane comes back with the link. B1: at the receiver; B2: at the sender.
func TestB1_LinkDown(t *testing.T) { linkDown(t, 1) }

// TestB2_OwnLinkDown is TestB1_LinkDown at the sender's end.
func TestB2_OwnLinkDown(t *testing.T) { linkDown(t, 0) }

func linkDown(t *testing.T, end int) {
	begin(t)
	w := newWorld(t, 2)
	const size = 128 << 20
	receiver := start(t, job{Role: "serve", Netns: w.right, Addr: "10.77.1.2:0", Rails: w.rails(1), Size: size})
	key, err := parseKey(receiver.expect("key"))
	if err != nil {
		t.Fatal(err)
	}
	sender := start(t, job{Role: "put", Netns: w.left, Addr: receiver.expect("addr"), Rails: w.rails(0), Key: key.Bytes(), Size: size})
	if n := sender.number("lanes"); n != 2 {
		t.Fatalf("%d lanes", n)
	}
	sender.expect("round")
	sender.expect("round") // in mid put
	w.set(end, 2, "down")
	since := time.Now()
	lost := sender.expect("lanedown")
	if took := time.Since(since); took > bound { // only keepalive would find it
		t.Errorf("lost after %v, though work was under way", took)
	}
	t.Logf("lost after %v: %s", time.Since(since).Round(time.Millisecond), lost)
	if want := "10.77.2.1:"; !strings.HasPrefix(lost, want) {
		t.Errorf("lane %q is lost, want %s...", lost, want)
	}
	sender.expect("handedover")
	sender.tell("enough")
	sent := sender.expect("sent")
	receiver.tell("sum")
	if got := receiver.expect("sum"); got != sent {
		t.Errorf("checksum of what was put: %s, of what came: %s", sent, got)
	}
	w.set(end, 2, "up")
	if !eventually(func() bool { sender.tell("lanes"); return sender.number("lanes") == 2 }) {
		t.Error("the lane does not come back with the link")
	}
	sender.tell("close")
	sender.exits()
}

// TestB8_AllLinksDown: both links go down in mid put, and come back. The endpoint is suspended, resumes, and nothing is lost.
func TestB8_AllLinksDown(t *testing.T) {
	begin(t)
	w := newWorld(t, 2)
	const size = 64 << 20
	const silence = 300 * time.Millisecond
	receiver := start(t, job{Role: "serve", Netns: w.right, Addr: "10.77.1.2:0", Rails: w.rails(1), Size: size, Peer: silence})
	key, err := parseKey(receiver.expect("key"))
	if err != nil {
		t.Fatal(err)
	}
	sender := start(t, job{Role: "put", Netns: w.left, Addr: receiver.expect("addr"), Rails: w.rails(0), Key: key.Bytes(), Size: size, Peer: silence})
	sender.expect("round")
	w.set(0, 1, "down")
	w.set(0, 2, "down")
	sender.expect("suspended")
	w.set(0, 1, "up")
	w.set(0, 2, "up")
	sender.expect("resumed")
	sender.tell("enough")
	sent := sender.expect("sent")
	receiver.tell("sum")
	if got := receiver.expect("sum"); got != sent {
		t.Errorf("checksum of what was put: %s, of what came: %s", sent, got)
	}
	sender.tell("close")
	sender.exits()
}

// ports of TestC6_DialsSpareListener: few, and the listener's is one of them.
const (
	firstPort, lastPort = 40000, 40015
	listenPort          = 40007
)

// dialMany dials the listener until no port is left, uses each endpoint, and says what happened.
func dialMany(s *self, j job) {
	setPorts(s, j)
	n, err := braid.Open(braid.Options{Lanes: 1, Times: braid.Times{Handshake: 2 * time.Second}})
	s.must(err)
	defer n.Close()
	w, err := n.NewWorker()
	s.must(err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var eps []*braid.Endpoint
	for range 2 * (lastPort - firstPort + 1) {
		ep, err := w.Dial(ctx, j.Addr)
		if err != nil {
			s.say("error %v", strings.ReplaceAll(err.Error(), "\n", "; "))
			break
		}
		eps = append(eps, ep)
		s.must(ep.SendAM(ctx, amCount, nil, nil))
		s.must(ep.Flush(ctx))
		s.say("local %s", ep.Lanes()[0].Local)
	}
	s.say("dialed %d", len(eps))
	for _, ep := range eps {
		s.must(ep.Close(ctx))
	}
}

// TestC6_DialsSpareListener: all ports come from a small range, in which the listener's is. No dial takes that one, each other
// one can be used, and when there is none left the error says so.
func TestC6_DialsSpareListener(t *testing.T) {
	begin(t)
	w := newWorld(t, 0)
	ports := fmt.Sprintf("%d %d", firstPort, lastPort)
	addr := fmt.Sprintf("127.0.0.1:%d", listenPort)

	// Nobody listens yet. A system may connect a socket that dials a port of the range with itself: that is nobody.
	alone := start(t, job{Role: "dial", Netns: w.left, Addr: addr, Ports: ports})
	if text := alone.expect("error"); !strings.Contains(text, addr) || !strings.Contains(text, "refused") {
		t.Errorf("nobody listens, and the error is %q", text)
	}
	if n := alone.number("dialed"); n != 0 {
		t.Errorf("%d dials succeeded, and nobody listens", n)
	}
	alone.exits()

	server := start(t, job{Role: "serve", Netns: w.left, Addr: addr, Ports: ports})
	if got := server.expect("addr"); got != addr {
		t.Fatalf("it listens on %s", got)
	}
	client := start(t, job{Role: "dial", Netns: w.left, Addr: addr, Ports: ports})
	seen := map[string]bool{}
	for range lastPort - firstPort { // all but the listener's
		local := client.expect("local")
		if local == addr || seen[local] {
			t.Errorf("a dial has the address %s, which is taken", local)
		}
		seen[local] = true
	}
	if text := client.expect("error"); !strings.Contains(text, "assign requested address") && !strings.Contains(text, "in use") {
		t.Errorf("no port is left, and the error is %q", text)
	}
	if n := client.number("dialed"); n != lastPort-firstPort {
		t.Errorf("%d dials succeeded, want %d", n, lastPort-firstPort)
	}
	client.exits()
}
