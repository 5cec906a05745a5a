package demo

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/demo/tally"
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
	board *tally.Board
	gaps  tally.Gaps

	mu    sync.Mutex // of order: messages come from callbacks
	order *tally.Order

	work    chan task
	checked atomic.Uint64 // bytes of data, for who looks
}

// task is what a message asks for: a window to check, or the end.
type task struct {
	window tally.Announcement
	end    *tally.Ending
}

// receive listens, checks everything that arrives, and says what it found.
func receive(ctx context.Context, s spec, o braid.Options, t *teller) error {
	// A sender can't have more windows announced than there are; one more task is the end.
	x := &receiver{t: t, order: tally.NewOrder(), work: make(chan task, tally.Windows+1)}
	o.Name, o.Rails, o.OnEvent = "demo receiver", s.Rails.local(), func(e braid.Event) { tellEvent(t, e, -1) }
	n, err := braid.Open(o)
	if err != nil {
		return err
	}
	defer n.Close()
	w, err := n.NewWorker()
	if err != nil {
		return err
	}
	w.HandleAM(tally.IDNumber, x.message)
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
	go each(ctx, s.every(), func() { t.tell(line{Tick: &tick{Bytes: x.checked.Load(), Lanes: x.lanes()}}) })
	return x.run(ctx)
}

// welcome accepts the sender and tells it where to put things.
func (x *receiver) welcome(ctx context.Context, n *braid.Node, ln *braid.Listener) error {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	ring, err := n.Alloc(tally.RingBytes)
	if err != nil {
		return err
	}
	words, err := n.Alloc(tally.WordsBytes)
	if err != nil {
		return err
	}
	x.board = tally.NewBoard(ring.Bytes(), words, func() { x.gaps.Completed(now()) })
	if x.ep, err = ln.Accept(ctx); err != nil {
		return err
	}
	return x.ep.SendAM(ctx, tally.IDKeys, nil, append(ring.Key(braid.Write).Bytes(), words.Key(braid.Write).Bytes()...))
}

// message is the handler. It leaves what takes time to run, so that the worker goes on.
func (x *receiver) message(m *braid.Message) {
	x.gaps.Completed(now())
	x.mu.Lock()
	defer x.mu.Unlock()
	kind, ok := x.order.Message(m.Header(), m.Payload())
	if !ok {
		return
	}
	var k task
	var err error
	switch kind {
	case tally.KindAnnounce:
		k.window, err = tally.ParseAnnouncement(m.Payload())
	case tally.KindEnd:
		var e tally.Ending
		e, err = tally.ParseEnding(m.Payload())
		k.end = &e
	case tally.KindNote:
		return
	}
	if err != nil {
		x.order.Problem("message of kind %d: %v", kind, err)
		return
	}
	select {
	case x.work <- k:
	default:
		x.order.Problem("more windows are announced than there are")
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
			x.board.Check(k.window)
			x.checked.Store(x.board.Bytes)
			if err := x.giveBack(keepWindows); err != nil {
				return err
			}
		case <-poll.C:
			x.board.Sweep()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (x *receiver) giveBack(keep int) error {
	for _, w := range x.board.GiveBack(keep) {
		q := x.ep.PostAM(tally.IDRelease, nil, tally.Release(w))
		if done, err := q.Test(); done && err != nil {
			return err
		}
		q.Release()
	}
	return nil
}

// finish looks for what comes late, then says what it found, and stays until it may go.
func (x *receiver) finish(ctx context.Context, e tally.Ending) error {
	ended := now()
	for now() < ended+lateTime {
		if err := pause(ctx, pollEvery); err != nil {
			return err
		}
		x.board.Sweep()
	}
	x.board.GiveBack(0)
	r := checkResult{Ended: ended, Digest: x.board.Digest(), Lanes: x.lanes()}
	x.mu.Lock()
	r.Counts = tally.Conclude(x.board, x.order, e.Totals)
	x.mu.Unlock()
	for _, at := range e.Cuts {
		r.Gaps = append(r.Gaps, x.gaps.Longest(at, at+time.Second))
		r.Before = append(r.Before, x.gaps.Longest(at-time.Second, at))
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
