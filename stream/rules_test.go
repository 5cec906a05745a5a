package stream_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/family"
	"github.com/openbraid/braid/internal/stream/frame"
	"github.com/openbraid/braid/stream"
)

// liar is a peer that says what it likes.
type liar struct {
	t  *testing.T
	ep *braid.Endpoint
}

func (l *liar) say(f frame.Frame, payload []byte) { l.raw(f.AppendTo(nil), payload) }

func (l *liar) raw(header, payload []byte) {
	var q braid.Request
	family.Braid.Post(l.ep, family.Stream, header, payload, &q)
	q.Release()
}

// TestRules: valid frames in an invalid order, and invalid ones, cost the peer its endpoint, and nobody else anything.
func TestRules(t *testing.T) {
	tidy(t)
	open := frame.Frame{Kind: frame.Open, Total: 1 << 20}
	say := func(fs ...frame.Frame) func(*liar) {
		return func(l *liar) {
			for _, f := range fs {
				l.say(f, nil)
			}
		}
	}
	p := newPair(t, stream.Options{Streams: 4}, stream.Options{})
	honest, served := p.conns(t)
	for what, lie := range map[string]func(*liar){
		"no frame":                  func(l *liar) { l.raw([]byte{1, 2, 3}, nil) },
		"an unknown kind":           func(l *liar) { l.say(frame.Frame{Kind: 99}, nil) },
		"never opened":              say(frame.Frame{Kind: frame.Fin}),
		"the peer's, never opened":  say(frame.Frame{Kind: frame.Accept, Stream: 1, Total: 5}),
		"opened out of order":       say(frame.Frame{Kind: frame.Open, Stream: 2, Total: 5}),
		"opened twice":              say(open, open),
		"opened in the peer's name": say(frame.Frame{Kind: frame.Open, Stream: 1, Total: 5}),
		"accepted by the opener":    say(open, frame.Frame{Kind: frame.Accept, Total: 5}),
		"a window that shrinks":     say(open, frame.Frame{Kind: frame.Window, Total: 5}),
		"two ends":                  say(open, frame.Frame{Kind: frame.Fin}, frame.Frame{Kind: frame.Fin}),
		"data after the end":        say(open, frame.Frame{Kind: frame.Fin}, frame.Frame{Kind: frame.Data}),
		"beyond the window": func(l *liar) {
			l.say(open, nil)
			l.say(frame.Frame{Kind: frame.Data}, make([]byte, 64<<10))
			l.say(frame.Frame{Kind: frame.Data}, make([]byte, 1))
		},
	} {
		ep, err := newWorker(t, p.client).Dial(within(t), p.ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		over := make(chan error, 1)
		ep.OnEnd(func(err error) { over <- err })
		lie(&liar{t, ep})
		select {
		case err := <-over:
			if !errors.Is(err, braid.ErrPeerFailed) {
				t.Errorf("%s: %v", what, err)
			}
		case <-within(t).Done():
			t.Errorf("%s: nothing happens", what)
		}
		ep.Abort()
		if strings.HasPrefix(what, "opened twice") || strings.HasPrefix(what, "beyond") { // one stream of it was accepted
			c, err := p.ln.Accept()
			if err != nil {
				t.Fatal(err)
			}
			if _, err = io.ReadAll(c); err == nil || !strings.Contains(err.Error(), "rules") {
				t.Errorf("%s: its stream ends with %v", what, err)
			}
			c.Close()
		}
	}
	write(t, honest, "still here")
	read(t, served, "still here")
}

// TestLateFrames: what was said before the other side's end was heard is no lie.
func TestLateFrames(t *testing.T) {
	tidy(t)
	p := newPair(t, stream.Options{}, stream.Options{})
	ep, err := newWorker(t, p.client).Dial(within(t), p.ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer ep.Abort()
	l := &liar{t, ep}
	l.say(frame.Frame{Kind: frame.Open, Total: 1 << 20}, nil)
	c, err := p.ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c.(*stream.Conn).Reset("enough")
	l.say(frame.Frame{Kind: frame.Data}, []byte("late"))
	l.say(frame.Frame{Kind: frame.Window, Total: 1 << 21}, nil)
	l.say(frame.Frame{Kind: frame.Close}, nil)
	l.say(frame.Frame{Kind: frame.Open, Stream: 2, Total: 5}, nil)
	next, err := p.ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	l.say(frame.Frame{Kind: frame.Data, Stream: 2}, []byte("in time"))
	read(t, next, "in time")
	if err := ep.Err(); err != nil {
		t.Error(err)
	}
}

// TestFlood: a peer that opens streams beyond all limits, and takes no answer, costs what the limits allow.
func TestFlood(t *testing.T) {
	tidy(t)
	p := newPair(t, stream.Options{Streams: 4}, stream.Options{})
	honest, served := p.conns(t)
	ep, err := newWorker(t, p.client).Dial(within(t), p.ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	l := &liar{t, ep}
	for i := range frame.Stream(5000) {
		l.say(frame.Frame{Kind: frame.Open, Stream: i << 1, Total: 5}, nil)
	}
	write(t, honest, "still here")
	read(t, served, "still here")
	ep.Abort()
	for range 4 {
		c, err := p.ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
}

// TestFloodUnanswered: a peer that asks and asks while it takes no answer loses its endpoint: what it is owed must not grow.
func TestFloodUnanswered(t *testing.T) {
	tidy(t)
	p := newPairOver(t, braid.Options{Limits: braid.Limits{Pending: 8}}, stream.Options{Streams: 4}, stream.Options{})
	honest, served := p.conns(t)
	deaf, err := braid.Open(braid.Options{Limits: braid.Limits{Backlog: 4 << 10}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { deaf.Close() })
	w, release := newWorker(t, deaf), make(chan struct{})
	defer close(release)
	if err := family.Braid.Handle(w, family.Stream, func(any) { <-release }); err != nil {
		t.Fatal(err)
	}
	ep, err := w.Dial(within(t), p.ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	l, ctx := &liar{t, ep}, within(t)
	for i := frame.Stream(0); ep.Err() == nil; i++ {
		l.say(frame.Frame{Kind: frame.Open, Stream: i << 1, Total: 5}, nil)
		if ctx.Err() != nil {
			t.Fatalf("%d were asked for, and it still listens", i)
		}
		if i%64 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	write(t, honest, "still here")
	read(t, served, "still here")
}
