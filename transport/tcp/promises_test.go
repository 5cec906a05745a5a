package tcp

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/mpool"
	"github.com/openbraid/braid/transport"
)

// party is one side of a connection of this package's tests: sink, completer, diary.
type party struct {
	f     *iface
	ep    transport.Endpoint
	up    bool
	diary []string
	got   int
	ended int
	err   error
}

func (p *party) Connected()                           { p.up = true }
func (p *party) Place(uint8, []byte, int) []byte      { return nil }
func (p *party) Room()                                {}
func (p *party) OnError(err error) transport.Decision { p.err = err; return transport.Hold }
func (p *party) Sent(uint64)                          {}
func (p *party) Executed(tag uint64, err error) {
	p.ended++
	p.diary = append(p.diary, fmt.Sprint("executed ", tag))
}
func (p *party) Frame(in *transport.Incoming) {
	if in.Class == transport.Data {
		p.got++
	}
	p.diary = append(p.diary, fmt.Sprint("frame ", in.ID))
}
func (p *party) Accepted(ep transport.Endpoint) (transport.Sink, transport.Options) {
	p.ep = ep
	return p, transport.Options{}
}

func parties(t *testing.T) (a, b *party) {
	t.Helper()
	a, b = &party{f: newTestIface(t)}, &party{f: newTestIface(t)}
	l, err := b.f.Listen("127.0.0.1:0", b)
	if err != nil {
		t.Fatal(err)
	}
	if a.ep, err = a.f.Dial("", l.Addr(), transport.Options{}, a); err != nil {
		t.Fatal(err)
	}
	wait(t, a, b, "the connection", func() bool { return a.up && b.ep != nil })
	a.ep.Admit(maxFrame, true)
	b.ep.Admit(maxFrame, true)
	return a, b
}

func (p *party) turn() {
	p.f.Progress()
	p.f.Flush()
}

func wait(t *testing.T, a, b *party, what string, cond func() bool) {
	t.Helper()
	for start := time.Now(); !cond(); {
		a.turn()
		b.turn()
		if time.Since(start) > 10*time.Second {
			t.Fatalf("gave up: %s", what)
		}
	}
}

// TestRefusalFirst: what a peer says of a frame comes before the acknowledgement that covers the frame.
func TestRefusalFirst(t *testing.T) {
	a, b := parties(t)
	a.ep.Post(&transport.Frame{ID: 9, Done: a, Tag: 77})
	a.f.Flush()
	for b.got == 0 {
		b.f.Progress()
	}
	b.ep.Post(&transport.Frame{ID: 36, Class: transport.Control}) // its header carries the acknowledgement
	b.f.Flush()
	wait(t, a, b, "the acknowledgement", func() bool { return a.ended == 1 })
	if got := fmt.Sprint(a.diary); got != "[frame 36 executed 77]" {
		t.Errorf("%s", got)
	}
}

// TestControlPasses: control frames go before data of which nothing is on its way, behind a frame that is begun.
func TestControlPasses(t *testing.T) {
	a, b := parties(t)
	for i := range 3 {
		a.ep.Post(&transport.Frame{ID: uint8(1 + i), Done: a, Payload: make([]byte, 1000)})
	}
	a.ep.Post(&transport.Frame{ID: 40, Class: transport.Control})
	a.ep.Post(&transport.Frame{ID: 41, Class: transport.Control})
	wait(t, a, b, "all frames", func() bool { return len(b.diary) == 5 })
	if got := fmt.Sprint(b.diary); got != "[frame 40 frame 41 frame 1 frame 2 frame 3]" {
		t.Errorf("%s", got)
	}

	a, b = parties(t) // now with a socket that is full
	a.ep.(*endpoint).setWindow(transport.Options{Window: 1 << 30})
	big := make([]byte, maxFrame)
	for i := 0; !a.ep.(*endpoint).out.blocked; i++ {
		if st := a.ep.Post(&transport.Frame{ID: 1, Done: a, Payload: big, ZeroCopy: true}); st == transport.NoResource {
			t.Fatal("the system takes a whole window")
		}
		a.f.Flush()
	}
	n := int(a.ep.Counts().Posted)
	for range 2 {
		a.ep.Post(&transport.Frame{ID: 2, Done: a})
	}
	a.ep.Post(&transport.Frame{ID: 40, Class: transport.Control})
	wait(t, a, b, "all frames behind a full socket", func() bool { return len(b.diary) == n+3 })
	if at := bytes.Index([]byte(fmt.Sprint(b.diary)), []byte("frame 40")); at > bytes.Index([]byte(fmt.Sprint(b.diary)), []byte("frame 2 ")) {
		t.Errorf("control came behind data that had not begun: %v", b.diary)
	}
}

// poison fills what is given back, so that whoever still reads it finds out.
func poison(p *mpool.Pool) {
	p.OnFree = func(b *transport.Buffer) {
		for i := range b.Bytes {
			b.Bytes[i] = 0xdd
		}
	}
}

// TestKeptUntilAcknowledged: what a purge hands out has the bytes that were posted, over many chunks, with some of them
// acknowledged and their memory used again.
func TestKeptUntilAcknowledged(t *testing.T) {
	for seed := range Seeds(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		a, b := parties(t)
		poison(a.f.pool)
		body := func(n uint64) []byte {
			r := rand.New(rand.NewPCG(n, 4))
			p := make([]byte, r.IntN([]int{50, 5000, 50_000, 150_000}[r.IntN(4)]))
			for i := range p {
				p[i] = byte(uint64(i) + n)
			}
			return p
		}
		for n := range uint64(200) {
			st := a.ep.Post(&transport.Frame{ID: 1, Head: fmt.Append(nil, n), Payload: body(n), Done: a, Tag: n})
			if st == transport.NoResource {
				break
			}
			switch rng.IntN(4) {
			case 0:
				a.turn()
			case 1:
				b.turn()
			}
		}
		a.ep.Quiesce()
		b.ep.Quiesce()
		next := b.ep.Position()
		r, err := a.ep.PurgeOutstanding(next, func(f *transport.Frame) error {
			if string(f.Head) != fmt.Sprint(next) || !bytes.Equal(f.Payload, body(next)) {
				return fmt.Errorf("frame %d: wrong bytes", next)
			}
			next++
			return nil
		})
		if err != nil || next != a.ep.Counts().Posted {
			t.Errorf("seed %d: %+v, %v; up to %d of %d", seed, r, err, next, a.ep.Counts().Posted)
		}
		a.ep.Close()
		b.ep.Close()
	}
}

// TestIdleHoldsNothing: an endpoint that has nothing to do holds no buffer, or a thousand of them would hold 320 MiB.
func TestIdleHoldsNothing(t *testing.T) {
	a, b := parties(t)
	for i := range 50 {
		a.ep.Post(&transport.Frame{ID: 1, Payload: make([]byte, 4000*i), Done: a, AckNow: true})
		wait(t, a, b, "acknowledged", func() bool { return a.ended == i+1 })
	}
	for _, p := range []*party{a, b} {
		if ep := p.ep.(*endpoint); ep.in.buf != nil || ep.out.chunk != nil || len(ep.out.parts) > 0 || cap(ep.out.ctl) > keepControl {
			t.Errorf("idle, but holds %v %v %d", ep.in.buf, ep.out.chunk, len(ep.out.parts))
		}
	}
}

// TestForgedAcknowledgement: nobody can acknowledge what was not sent, and none goes back.
func TestForgedAcknowledgement(t *testing.T) {
	for _, forged := range []uint64{3, 1 << 60, 1} {
		a, b := parties(t)
		for range 2 {
			a.ep.Post(&transport.Frame{ID: 1, Done: a, AckNow: true})
		}
		wait(t, a, b, "acknowledged", func() bool { return a.ended == 2 })
		b.ep.(*endpoint).in.accepted = forged
		b.ep.Post(&transport.Frame{ID: 40, Class: transport.Control})
		wait(t, a, b, "the error", func() bool { return a.err != nil })
		if !errors.Is(a.err, transport.ErrProtocol) || !errors.Is(a.err, transport.ErrPosition) {
			t.Errorf("acknowledged %d of 2: %v", forged, a.err)
		}
	}
}

// TestControlLimit: the room of control frames ends, with NoResource, and Room comes.
func TestControlLimit(t *testing.T) {
	a, b := parties(t)
	n := 0
	for ; n < 1<<20; n++ {
		if a.ep.Post(&transport.Frame{ID: 40, Class: transport.Control, Payload: make([]byte, 1000)}) != transport.Done {
			break
		}
	}
	if n != maxControl/(1000+headerLen) {
		t.Errorf("%d control frames were taken", n)
	}
	if st := a.ep.Post(&transport.Frame{ID: 1, Done: a}); st != transport.Done {
		t.Errorf("data has a room of its own: %v", st)
	}
	wait(t, a, b, "all control frames", func() bool { return len(b.diary) == n+1 })
	if !a.ep.(*endpoint).starved {
		return
	}
	wait(t, a, b, "Room", func() bool { return !a.ep.(*endpoint).starved })
}
