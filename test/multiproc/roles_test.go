package multiproc

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid"
)

// Active messages of these tests.
const (
	amCount = 1  // counted; "got" is said for each
	amEcho  = 2  // sent back
	amSink  = 13 // dropped
	amCheck = 3  // number, checksum of the payload; checked, must come in order
)

// serve is a server that is progressed by the library.
func serve(s *self, j job) {
	n, w, ln, mem := listen(s, j, false)
	defer n.Close()
	burn(j.Burn)
	go func() {
		for {
			if _, err := ln.Accept(context.Background()); err != nil {
				return
			}
			s.say("accepted")
		}
	}()
	for command := range s.heard {
		obey(s, w, mem, command)
	}
}

// serveOwned is a server that makes progress only as long as nobody says "freeze".
func serveOwned(s *self, j job) {
	n, w, ln, mem := listen(s, j, true)
	defer n.Close()
	if _, err := ln.Accept(context.Background()); err != nil {
		s.die("accept: %v", err)
	}
	s.say("accepted")
	for {
		select {
		case command := <-s.heard:
			obey(s, w, mem, command)
		default:
			if w.Progress() == 0 {
				time.Sleep(50 * time.Microsecond)
			}
		}
	}
}

// serveAsleep is an Owned server that sleeps until it has something to do.
func serveAsleep(s *self, j job) {
	serveBetween(s, j, func(w *braid.Worker) { s.must(w.Sleep(context.Background())) })
}

// serveArmed is one that sleeps in an event loop of its own.
func serveArmed(s *self, j job) {
	serveBetween(s, j, func(w *braid.Worker) {
		fd, err := w.EventFD()
		s.must(err)
		if w.Arm() {
			unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		}
	})
}

// serveBetween is an Owned server that sleeps between what it has to do.
func serveBetween(s *self, j job, sleep func(*braid.Worker)) {
	n, w, _, mem := listen(s, j, true)
	defer n.Close()
	commands := make(chan string, 1)
	go func() {
		for command := range s.heard {
			commands <- command
			w.Wake()
		}
	}()
	for {
		for w.Progress() > 0 {
		}
		select {
		case command := <-commands:
			obey(s, w, mem, command)
		default:
			sleep(w)
		}
	}
}

// burnOnly has the machine busy.
func burnOnly(s *self, j job) {
	burn(j.Burn)
	for range s.heard {
	}
}

// burn has goroutines compute until the process ends.
func burn(goroutines int) {
	for range goroutines {
		go func() {
			for x := uint64(1); x != 0; x = x*6364136223846793005 + 1442695040888963407 {
			}
		}()
	}
}

func listen(s *self, j job, owned bool) (*braid.Node, *braid.Worker, *braid.Listener, *braid.Memory) {
	setPorts(s, j)
	n, err := braid.Open(braid.Options{Owned: owned, Rails: j.Rails, Times: brisk(j)})
	s.must(err)
	w, err := n.NewWorker()
	s.must(err)
	handle(s, w)
	mem, err := n.Alloc(j.Size)
	s.must(err)
	s.say("key %x", mem.Key(braid.Read|braid.Write).Bytes())
	ln, err := w.Listen(j.Addr)
	s.must(err)
	s.say("addr %s", ln.Addr())
	return n, w, ln, mem
}

// counted is how many messages a server has handled.
var counted atomic.Int64

func handle(s *self, w *braid.Worker) {
	w.HandleAM(amSink, func(*braid.Message) {})
	w.HandleAM(amCount, func(m *braid.Message) { s.say("got %d", counted.Add(1)) })
	w.HandleAM(amEcho, func(m *braid.Message) {
		m.Endpoint().PostAM(amEcho, m.Header(), m.Payload()).Then(func(error) {})
	})
	w.HandleAM(amCheck, func(m *braid.Message) {
		if number, err := checked(m); err != nil {
			s.die("%v", err)
		} else {
			s.say("checked %d", number)
		}
	})
}

func obey(s *self, w *braid.Worker, mem *braid.Memory, command string) {
	switch command {
	case "sum":
		w.Progress() // so that the race detector sees what the peer's flush means
		s.say("sum %d", crc32.ChecksumIEEE(mem.Bytes()))
	case "cpu": // used so far
		var u syscall.Rusage
		s.must(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		s.say("cpu %d", (u.Utime.Nano()+u.Stime.Nano())/1000)
	case "freeze": // no progress any more
		s.say("frozen")
		select {}
	case "exit":
		os.Exit(0)
	default:
		s.die("command %q?", command)
	}
}

// brisk are times that make a test short. Keepalive is so long that nothing is found by it, unless the job says.
func brisk(j job) braid.Times {
	t := braid.Times{Peer: j.Peer, Handshake: 2 * time.Second, Keepalive: j.Alive, RedialMin: 10 * time.Millisecond, RedialMax: 100 * time.Millisecond}
	if t.Keepalive == 0 {
		t.Keepalive = 20 * time.Second
	}
	return t
}

// checkedHeader says what the payload is.
func checkedHeader(number uint64, payload []byte) []byte {
	h := binary.LittleEndian.AppendUint64(nil, number)
	return binary.LittleEndian.AppendUint32(h, crc32.ChecksumIEEE(payload))
}

// checked holds a message against its header, and returns its number.
func checked(m *braid.Message) (uint64, error) {
	h := m.Header()
	if len(h) != 12 {
		return 0, fmt.Errorf("header % x", h)
	}
	number := binary.LittleEndian.Uint64(h)
	if sum := crc32.ChecksumIEEE(m.Payload()); sum != binary.LittleEndian.Uint32(h[8:]) {
		return number, fmt.Errorf("message %d, %d bytes: its checksum is wrong", number, len(m.Payload()))
	}
	return number, nil
}

// pattern fills b with bytes that depend on the seed.
func pattern(b []byte, seed uint64) []byte {
	x := seed*0x9e3779b97f4a7c15 | 1
	for i := 0; i+8 <= len(b); i += 8 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		binary.LittleEndian.PutUint64(b[i:], x)
	}
	return b
}

// connect is the client half of most roles.
func connect(s *self, j job) (*braid.Node, *braid.Endpoint) {
	setPorts(s, j)
	n, err := braid.Open(braid.Options{Rails: j.Rails, Times: brisk(j), OnEvent: func(e braid.Event) {
		s.say("%s %s %v", strings.ToLower(e.Kind.String()), e.Lane, e.Err)
	}})
	s.must(err)
	w, err := n.NewWorker()
	s.must(err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ep, err := w.Dial(ctx, j.Addr)
	s.must(err)
	return n, ep
}

// sendAndExit sends Count messages of up to Size bytes, waits for each, flushes, closes and leaves at once.
func sendAndExit(s *self, j job) {
	_, ep := connect(s, j)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	payload := pattern(make([]byte, j.Size), 1)
	for i := range j.Count {
		p := payload[:(i*7919)%(j.Size+1)]
		s.must(ep.SendAM(ctx, amCheck, checkedHeader(uint64(i), p), p))
	}
	s.must(ep.Flush(ctx))
	s.must(ep.Close(ctx))
	os.Exit(0)
}

// closeAndExit sends Count messages of Size bytes and closes, which flushes.
func closeAndExit(s *self, j job) {
	_, ep := connect(s, j)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	payload := pattern(make([]byte, j.Size), 2)
	for i := range j.Count {
		ep.PostAM(amCheck, checkedHeader(uint64(i), payload), payload).Release()
	}
	s.must(ep.Close(ctx))
	os.Exit(0)
}

// setPorts narrows the local ports of the process's network namespace.
func setPorts(s *self, j job) {
	if j.Ports != "" {
		s.must(os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte(j.Ports), 0o644))
	}
}

func parseKey(text string) (braid.RKey, error) {
	b, err := hex.DecodeString(text)
	if err != nil {
		return braid.RKey{}, err
	}
	return braid.ParseRKey(b)
}
