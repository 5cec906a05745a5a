package braid_test

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/internal/wire"
)

// patience is how long anything may take that should take milliseconds, on a busy machine.
const patience = 10 * time.Second

func eventually(what func() bool) bool {
	for end := time.Now().Add(patience); !what(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// tidy fails the test if it leaves goroutines or descriptors behind. Call it first.
func tidy(t *testing.T) {
	t.Helper()
	if w, err := net.Listen("tcp", "127.0.0.1:0"); err == nil { // so that what the runtime opens once is open
		w.Close()
	}
	before, goroutines := descriptors(), goleak.IgnoreCurrent()
	t.Cleanup(func() {
		goleak.VerifyNone(t, goroutines)
		if !eventually(func() bool { return descriptors() <= before }) {
			t.Errorf("%d descriptors are open, %d were", descriptors(), before)
		}
	})
}

// injector is one whose rules end with the test: a silence keeps the sockets that it hides until then.
func injector(t *testing.T) *fault.Injector {
	start := time.Now()
	f := fault.New(func() time.Duration { return time.Since(start) + 1 })
	t.Cleanup(func() { f.Close() })
	return f
}

// descriptors is how many the process has open; 0 where that can't be known.
func descriptors() int {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(fds)
}

// journal is a log that counts lines of one text.
type journal struct {
	slog.Handler
	text  string
	count *atomic.Int64
}

func counting(text string) journal {
	return journal{slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelDebug}), text, new(atomic.Int64)}
}

func (j journal) Handle(_ context.Context, r slog.Record) error {
	if r.Message == j.text {
		j.count.Add(1)
	}
	return nil
}

// work keeps an endpoint busy: messages of all sizes in order, puts, flushes.
type work struct {
	t      *testing.T
	sent   atomic.Uint64
	came   atomic.Uint64
	events atomic.Int64 // about the lanes of its own endpoints
	own    [2]atomic.Pointer[braid.Endpoint]
	stop   chan struct{}
	done   sync.WaitGroup
}

const workAM = 100

func (k *work) note(e braid.Event) {
	if e.Kind != braid.LaneUp && (e.Endpoint == k.own[0].Load() || e.Endpoint == k.own[1].Load()) {
		k.events.Add(1)
	}
}

func (k *work) handle(m *braid.Message) {
	h := m.Header()
	n := binary.LittleEndian.Uint64(h)
	if want := k.came.Load(); n != want || crc32.ChecksumIEEE(m.Payload()) != binary.LittleEndian.Uint32(h[8:]) {
		k.t.Errorf("message %d of %d bytes is wrong or out of order: %d is due", n, len(m.Payload()), want)
	}
	k.came.Store(n + 1)
}

func sealed(n uint64, payload []byte) []byte {
	h := binary.LittleEndian.AppendUint64(nil, n)
	return binary.LittleEndian.AppendUint32(h, crc32.ChecksumIEEE(payload))
}

func (k *work) run(ctx context.Context, ep *braid.Endpoint, key braid.RKey) {
	defer k.done.Done()
	buf := make([]byte, 300<<10)
	for i := range buf {
		buf[i] = byte(i * i >> 7)
	}
	for n := uint64(0); ; n++ {
		select {
		case <-k.stop:
			if err := ep.Flush(ctx); err != nil {
				k.t.Errorf("flush: %v", err)
			}
			return
		default:
		}
		p := buf[:int(n*104729)%len(buf)]
		err := ep.SendAM(ctx, workAM, sealed(n, p), p)
		if err == nil {
			err = ep.Put(ctx, p, key, 0)
		}
		if err == nil && n%16 == 0 {
			err = ep.Flush(ctx)
		}
		if err != nil {
			k.t.Errorf("the honest endpoint: %v", err)
			return
		}
		k.sent.Add(1)
	}
}

// busy is a pair at full work until the end of the test, which fails if the work notices anything.
func busy(t *testing.T, log slog.Handler) (*pair, *work) {
	k := &work{t: t, stop: make(chan struct{})}
	o := braid.Options{OnEvent: k.note, Log: slog.New(log)}
	p := connect(t, o, o)
	k.own[0].Store(p.a)
	k.own[1].Store(p.b)
	p.bw.HandleAM(workAM, k.handle)
	mem, err := p.bn.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	k.done.Add(1)
	go k.run(ctx, p.a, mem.Key(braid.Write))
	t.Cleanup(func() {
		close(k.stop)
		k.done.Wait()
		cancel()
		if k.events.Load() != 0 {
			t.Errorf("%d events of lanes: the strangers were noticed", k.events.Load())
		}
		if !eventually(func() bool { return k.came.Load() == k.sent.Load() }) {
			t.Errorf("%d messages were sent, %d came", k.sent.Load(), k.came.Load())
		}
	})
	return p, k
}

// moves waits until the work goes on.
func (k *work) moves() {
	k.t.Helper()
	at := k.came.Load()
	if !eventually(func() bool { return k.came.Load() > at+2 }) {
		k.t.Error("the work stands still")
	}
}

// raw is a frame of the TCP transport, by hand: size, id, flags, head's size, acknowledgement, head, payload.
func raw(id, flags uint8, head, payload []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(head)+len(payload)))
	b = append(b, id, flags)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(head)))
	b = binary.LittleEndian.AppendUint64(b, 0)
	return append(append(b, head...), payload...)
}

const control = 1 // the flag of a control frame

func rawPreface() []byte { return raw(wire.IDPreface, control, wire.Preface{}.AppendTo(nil), nil) }

func rawHello(h wire.Hello) []byte { return raw(wire.IDHello, control, h.AppendTo(nil), nil) }

// hello is one that a listener takes.
func hello() wire.Hello {
	return wire.Hello{
		Optional: wire.CapHandover, Instance: wire.Instance{Opener: wire.Dialer, N: 1}, Incarnation: 77, Endpoint: 1,
		Mode: wire.ModeFailover, MaxFrame: 256 << 10, MaxMessage: 64 << 20, Keepalive: 1000, PeerTimeout: 10000,
	}
}

// stranger is a connection that says what it likes.
func stranger(t testing.TB, addr string, say ...[]byte) net.Conn {
	t.Helper()
	c, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	for _, b := range say {
		if _, err := c.Write(b); err != nil {
			t.Logf("write: %v", err) // it has been thrown out already
		}
	}
	return c
}

// frame reads one frame from a braid peer.
func frame(t testing.TB, c net.Conn) (id uint8, body []byte) {
	t.Helper()
	id, body, err := readFrame(c)
	if err != nil {
		t.Fatalf("no answer, or half of one: %v", err)
	}
	return id, body
}

// readFrame is frame, of a peer that may go at any time.
func readFrame(c net.Conn) (id uint8, body []byte, err error) {
	h := make([]byte, 16)
	if _, err := io.ReadFull(c, h); err != nil {
		return 0, nil, err
	}
	body = make([]byte, binary.LittleEndian.Uint32(h))
	_, err = io.ReadFull(c, body)
	return h[4], body, err
}

// helloFrom reads what a dialer begins with; it may give up meanwhile.
func helloFrom(c net.Conn) (wire.Hello, error) {
	if _, _, err := readFrame(c); err != nil { // the preface
		return wire.Hello{}, err
	}
	_, body, err := readFrame(c)
	if err != nil {
		return wire.Hello{}, err
	}
	return wire.DecodeHello(body)
}

// answer reads the preface and the frame behind it.
func answer(t testing.TB, c net.Conn) (id uint8, body []byte) {
	t.Helper()
	if id, body := frame(t, c); id != wire.IDPreface {
		t.Fatalf("%s % x instead of a preface", wire.Name(id), body)
	}
	return frame(t, c)
}

// closed waits until the other side has hung up.
func closed(t testing.TB, c net.Conn) {
	t.Helper()
	_, err := io.Copy(io.Discard, c)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		t.Error("the connection was not closed")
	}
}
