package braid_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// TestMessageLimits: a message that the peer would not take is refused here, at once.
func TestMessageLimits(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	const limit = 5000
	p := connect(t, braid.Options{}, braid.Options{Limits: braid.Limits{Message: limit}})
	got := make(chan int, 10)
	p.bw.HandleAM(1, func(m *braid.Message) { got <- len(m.Header()) + len(m.Payload()) })
	for _, c := range []struct {
		name            string
		header, payload int
		fits            bool
	}{
		{"largest message", 0, limit, true}, {"message, one too long", 0, limit + 1, false}, {"a large one", 0, 10 << 20, false},
		{"largest header", 1024, 0, true}, {"header, one too long", 1025, 0, false}, {"a large one", 1 << 20, 0, false},
		{"largest of both", 1024, limit, true}, {"nothing", 0, 0, true},
	} {
		err := p.a.SendAM(ctx, 1, make([]byte, c.header), make([]byte, c.payload))
		if c.fits {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			} else if n := <-got; n != c.header+c.payload {
				t.Errorf("%s: %d bytes came", c.name, n)
			}
			continue
		}
		var op *braid.OpError
		if !errors.Is(err, braid.ErrLimit) || !errors.As(err, &op) || op.Fate != braid.NotExecuted || op.Temporary() {
			t.Errorf("%s: %v, want %v, not executed, for good", c.name, err, braid.ErrLimit)
		}
	}
	if err := p.a.Flush(ctx); err != nil {
		t.Error(err)
	}
}

// TestUnknownMessage: nobody handles it there: the flush says so, with the id, once; what is handled is not hurt.
func TestUnknownMessage(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	p.bw.HandleAM(1, func(*braid.Message) {})
	p.bw.HandleAM(9, func(*braid.Message) {})
	p.bw.HandleAM(9, nil)
	for _, id := range []uint16{0, 2, 9, 65279} {
		for _, size := range []int{0, 1000, 3 << 20} {
			if err := p.a.SendAM(ctx, 1, nil, nil); err != nil {
				t.Fatal(err)
			}
			if err := p.a.SendAM(ctx, id, nil, make([]byte, size)); err != nil && !errors.Is(err, braid.ErrHandler) {
				t.Fatal(err)
			}
			var op *braid.OpError
			if err := p.a.Flush(ctx); !errors.Is(err, braid.ErrHandler) || !errors.As(err, &op) || op.Op != "am" || op.Fate != braid.NotExecuted {
				t.Errorf("id %d, %d bytes: Flush: %v, want %v", id, size, err, braid.ErrHandler)
			}
			if err := p.a.Flush(ctx); err != nil {
				t.Errorf("id %d: it is told once, second Flush: %v", id, err)
			}
		}
	}
}

// TestDeadContext: a context that is over ends every call that would wait, and says so; what needs no wait may be done.
func TestDeadContext(t *testing.T) {
	tidy(t)
	p := connect(t, braid.Options{}, braid.Options{})
	mem, err := p.bn.Alloc(4 << 20)
	if err != nil {
		t.Fatal(err)
	}
	key := mem.Key(braid.Write)
	p.bw.HandleAM(1, func(*braid.Message) {})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	big := make([]byte, 4<<20)
	canceled := 0
	for _, m := range []method{
		{"Put", func(ctx context.Context) error { return p.a.Put(ctx, big, key, 0) }},
		{"SendAM", func(ctx context.Context) error { return p.a.SendAM(ctx, 1, nil, big) }},
		{"Flush", func(ctx context.Context) error {
			p.a.PostPut(big, key, 0).Release()
			return p.a.Flush(ctx)
		}},
		{"Wait", func(ctx context.Context) error { return p.a.PostPut(big, key, 0).Wait(ctx) }},
		{"Accept", func(ctx context.Context) error { _, err := p.ln.Accept(ctx); return err }},
		{"Dial", func(ctx context.Context) error { _, err := p.aw.Dial(ctx, p.ln.Addr()); return err }},
		{"Close", func(ctx context.Context) error { return p.a.Close(ctx) }},
	} {
		since := time.Now()
		err := m.call(ctx)
		var op *braid.OpError
		switch {
		case err == nil && m.name != "Accept": // the end came before anybody looked at the context
		case !errors.Is(err, context.Canceled) || !errors.As(err, &op):
			t.Errorf("%s: %v, want an *OpError that is %v", m.name, err, context.Canceled)
		default:
			canceled++
		}
		if took := time.Since(since); took > time.Second {
			t.Errorf("%s took %v", m.name, took)
		}
	}
	if canceled < 4 {
		t.Errorf("only %d of 7 calls looked at the context", canceled)
	}
}

// poison is what a caller writes into a buffer that he has back.
const poison = 0xdd

// TestExpiringContexts: contexts end at random moments of messages and puts. The buffers are the caller's at return: he poisons
// them. What was not executed never shows up, what was shows up once and whole, and nobody ever sees poison.
func TestExpiringContexts(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{Limits: braid.Limits{Window: 256 << 10}}, braid.Options{})
	const rounds, slot = 150, 512 << 10
	var mu sync.Mutex
	came := map[uint64]int{}
	p.bw.HandleAM(1, func(m *braid.Message) {
		n := binary.LittleEndian.Uint64(m.Header())
		if !allEqual(m.Payload(), byte(n%100)+1) {
			t.Errorf("message %d of %d bytes is not what was sent", n, len(m.Payload()))
		}
		mu.Lock()
		came[n]++
		mu.Unlock()
	})
	mem, err := p.bn.Alloc(slot * 16)
	if err != nil {
		t.Fatal(err)
	}
	key := mem.Key(braid.Write)
	luck := rand.New(rand.NewPCG(1, 2))
	var fates [3]int // nil, not executed, unknown
	for n := range uint64(rounds) {
		src := make([]byte, luck.IntN(slot))
		fill(src, byte(n%100)+1)
		header := binary.LittleEndian.AppendUint64(nil, n)
		at := n % 16 * slot
		short, cancel := context.WithTimeout(ctx, time.Duration(luck.IntN(2000))*time.Microsecond)
		var amErr, putErr error
		if n%2 == 0 {
			amErr = p.a.SendAM(short, 1, header, src)
			fill(header, poison)
		} else {
			putErr = p.a.Put(short, src, key, at)
		}
		fill(src, poison)
		cancel()
		fate := fateOf(t, amErr, putErr)
		fates[fate]++
		if n%4 == 0 && fate != 1 {
			continue // so that several are under way
		}
		if err := p.a.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		p.bw.Progress()
		if n%2 == 1 {
			wrote(t, n, fate, mem.Bytes()[at:][:len(src)])
			clear(mem.Bytes()[at:][:slot])
		}
		mu.Lock()
		if count := came[n]; n%2 == 0 && (count > 1 || count == 1 && fate == 1) {
			t.Errorf("message %d came %d times, its fate was %d", n, count, fate)
		}
		mu.Unlock()
	}
	t.Logf("sent %d, not executed %d, unknown %d", fates[0], fates[1], fates[2])
	if fates[2] == 0 || fates[0] == 0 {
		t.Error("the moments were not spread: nothing was tested")
	}
}

// fateOf is 0 for success, 1 for not executed, 2 for unknown.
func fateOf(t *testing.T, errs ...error) int {
	t.Helper()
	for _, err := range errs {
		var op *braid.OpError
		switch {
		case err == nil:
		case !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &op):
			t.Fatalf("%v, want %v", err, context.DeadlineExceeded)
		case op.Fate == braid.NotExecuted:
			return 1
		default:
			return 2
		}
	}
	return 0
}

// wrote checks what a put left, after a flush: all of it, or nothing if it was said not to be executed.
func wrote(t *testing.T, n uint64, fate int, b []byte) {
	t.Helper()
	want := byte(n%100) + 1
	if fate == 1 {
		want = 0
	}
	if !allEqual(b, want) {
		t.Errorf("put %d of %d bytes, fate %d: the target differs", n, len(b), fate)
	}
}

func fill(b []byte, v byte) { copy(b, bytes.Repeat([]byte{v}, len(b))) }

func allEqual(b []byte, v byte) bool { return bytes.Count(b, []byte{v}) == len(b) }
