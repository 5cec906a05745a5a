package demo

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openbraid/braid"
)

const (
	// pollEvery is how often the receiver looks at the words when nothing is announced.
	pollEvery = 250 * time.Microsecond
	// keepWindows are not given back at once: what comes late shall still meet them.
	keepWindows = 2
	// lateTime is how long the receiver goes on looking after the end.
	lateTime = 300 * time.Millisecond
)

// receiver is one of the two processes.
type receiver struct {
	t     *teller
	ep    *braid.Endpoint
	board *board
	gaps  gaps

	mu    sync.Mutex // of order: messages come from callbacks
	order *order

	work    chan task
	checked atomic.Uint64 // bytes of data, for who looks
}

// task is what a message asks for: a window to check, or the end.
type task struct {
	window announcement
	end    *ending
}

// receive listens, checks everything that arrives, and says what it found.
func receive(ctx context.Context, s spec, t *teller) error {
	// A sender can't have more windows announced than there are; one more task is the end.
	x := &receiver{t: t, order: newOrder(), work: make(chan task, windows+1)}
	n, err := braid.Open(braid.Options{
		Name: "demo receiver", Rails: s.Rails.local(), OnEvent: func(e braid.Event) { tellEvent(t, e, -1) },
	})
	if err != nil {
		return err
	}
	defer n.Close()
	w, err := n.NewWorker()
	if err != nil {
		return err
	}
	w.HandleAM(idNumber, x.message)
	ln, err := w.Listen(net.JoinHostPort(s.Rails.Addrs[0], "0"))
	if err != nil {
		return err
	}
	t.tell(line{Listening: ln.Addr()})
	if err := x.welcome(ctx, n, ln); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go each(ctx, tickEvery, func() { t.tell(line{Tick: &tick{Bytes: x.checked.Load(), Lanes: x.lanes()}}) })
	return x.run(ctx)
}

// welcome accepts the sender and tells it where to put things.
func (x *receiver) welcome(ctx context.Context, n *braid.Node, ln *braid.Listener) error {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	ring, err := n.Alloc(ringBytes)
	if err != nil {
		return err
	}
	words, err := n.Alloc(wordsBytes)
	if err != nil {
		return err
	}
	x.board = newBoard(ring.Bytes(), words, func() { x.gaps.completed(now()) })
	if x.ep, err = ln.Accept(ctx); err != nil {
		return err
	}
	return x.ep.SendAM(ctx, idKeys, nil, append(ring.Key(braid.Write).Bytes(), words.Key(braid.Write).Bytes()...))
}

// message is the handler. It leaves what takes time to run, so that the worker goes on.
func (x *receiver) message(m *braid.Message) {
	x.gaps.completed(now())
	x.mu.Lock()
	defer x.mu.Unlock()
	kind, ok := x.order.message(m.Header(), m.Payload())
	if !ok {
		return
	}
	var k task
	var err error
	switch kind {
	case kindAnnounce:
		k.window, err = parseAnnouncement(m.Payload())
	case kindEnd:
		var e ending
		e, err = parseEnding(m.Payload())
		k.end = &e
	case kindNote:
		return
	}
	if err != nil {
		x.order.problem("message of kind %d: %v", kind, err)
		return
	}
	select {
	case x.work <- k:
	default:
		x.order.problem("more windows are announced than there are")
	}
}

// run checks windows as they are announced, and polls the words all the time.
func (x *receiver) run(ctx context.Context) error {
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		select {
		case k := <-x.work:
			if k.end != nil {
				return x.finish(ctx, *k.end)
			}
			x.board.check(k.window)
			x.checked.Store(x.board.Bytes)
			if err := x.giveBack(keepWindows); err != nil {
				return err
			}
		case <-poll.C:
			x.board.sweep()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (x *receiver) giveBack(keep int) error {
	for _, w := range x.board.giveBack(keep) {
		q := x.ep.PostAM(idRelease, nil, le.AppendUint64(nil, w))
		if done, err := q.Test(); done && err != nil {
			return err
		}
		q.Release()
	}
	return nil
}

// finish looks for what comes late, then says what it found, and stays until it may go.
func (x *receiver) finish(ctx context.Context, e ending) error {
	ended := now()
	for now() < ended+lateTime {
		if err := pause(ctx, pollEvery); err != nil {
			return err
		}
		x.board.sweep()
	}
	x.board.giveBack(0)
	r := checkResult{Ended: ended, Digest: fmt.Sprintf("%x", x.board.sum.Sum(nil)), Lanes: x.lanes()}
	x.mu.Lock()
	r.counts = conclude(x.board, x.order, e.totals)
	x.mu.Unlock()
	for _, at := range e.cuts {
		r.Gaps = append(r.Gaps, x.gaps.longest(at, at+time.Second))
	}
	x.t.tell(line{Checked: &r})
	<-ctx.Done()
	return nil
}

// lanes are the bytes that came over each lane instance that is up.
func (x *receiver) lanes() map[string]uint64 {
	m := map[string]uint64{}
	for _, l := range x.ep.Lanes() {
		if l.State == "up" {
			m[l.Instance] = l.AcceptedBytes
		}
	}
	return m
}
