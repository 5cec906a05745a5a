package stream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/stream/flow"
	"github.com/openbraid/braid/internal/stream/frame"
)

// session is the streams of one endpoint. Nothing that waits is called under its lock: what is posted there is posted without waiting.
type session struct {
	m             *Mux
	ep            *braid.Endpoint
	local, remote Addr
	most          int // bytes of a message

	mu      sync.Mutex
	err     error // the endpoint is over
	streams map[frame.Stream]*Conn
	opened  [2]frame.Stream // streams opened, ever: here, there
	live    [2]int          // of them, those that are listed
	budget  flow.Budget
	head    []byte        // of the next frame
	posted  braid.Request // the last
	owed    []frame.Frame // for which there was no room, in order; nothing overtakes them
	answers int           // of them, to streams that the peer opens
	retry   *time.Timer
}

func newSession(m *Mux, ep *braid.Endpoint) *session {
	s := &session{m: m, ep: ep, most: most(ep), streams: map[frame.Stream]*Conn{}, budget: flow.Budget{Left: m.o.Memory}, head: make([]byte, 0, frame.MaxSize)}
	s.remote.text = ep.Addr()
	if ls := ep.Lanes(); len(ls) > 0 {
		s.local.text = ls[0].Local
	}
	return s
}

const (
	// roomAgain is when posting is tried again for which there was no room: a program has thousands of operations waiting.
	roomAgain = time.Millisecond
	// owedMost is how many answers may be owed for each stream that there may be. Beyond it the peer floods.
	owedMost = 4
)

var errNoRoom = errors.New("no room for another operation")

// post posts a frame. pending: the payload is lent until the request has ended. Under the lock.
func (s *session) post(f frame.Frame, payload []byte) (q braid.Request, pending bool, err error) {
	if len(s.owed) > 0 {
		return q, false, errNoRoom
	}
	s.head = f.AppendTo(s.head[:0])
	post(s.ep, s.head, payload, &s.posted)
	q = s.posted
	done, err := q.Test()
	if !done {
		s.head = make([]byte, 0, frame.MaxSize) // that one is lent
		return q, true, nil
	}
	if err != nil {
		err = noRoom(err)
	}
	return q, false, err
}

// noRoom is errNoRoom, if that is what err says.
func noRoom(err error) error {
	var e *braid.OpError
	if errors.As(err, &e) && e.Temporary() {
		return errNoRoom
	}
	return err
}

// say posts a frame without a payload, now or as soon as there is room. Under the lock.
func (s *session) say(f frame.Frame) {
	q, pending, err := s.post(f, nil)
	if pending {
		q.Release()
	}
	if err != errNoRoom {
		return // said; or the endpoint is over, which its end tells
	}
	if n := len(s.owed); n > 0 && f.Kind == frame.Window && s.owed[n-1].Kind == frame.Window && s.owed[n-1].Stream == f.Stream {
		s.owed[n-1] = f
		return
	}
	s.owe(f)
	s.comeAgain()
}

// owe has a frame said later. Under the lock.
func (s *session) owe(f frame.Frame) {
	s.owed = append(s.owed, f)
	if f.Kind == frame.Accept || f.Kind == frame.Refuse {
		s.answers++
	}
}

// comeAgain has those look again for whom there was no room. Under the lock.
func (s *session) comeAgain() {
	if s.retry == nil {
		s.retry = time.AfterFunc(roomAgain, s.again)
	}
}

// again says what is owed.
func (s *session) again() {
	s.mu.Lock()
	defer s.mu.Unlock()
	owed := s.owed
	s.owed, s.answers, s.retry = nil, 0, nil
	if s.err != nil {
		return
	}
	for i, f := range owed {
		if s.say(f); len(s.owed) > 0 {
			for _, f := range owed[i+1:] {
				s.owe(f)
			}
			return
		}
	}
	for _, c := range s.streams {
		c.write.changed.signal() // who has waited behind them
	}
}

// heard takes a message of the peer.
func (s *session) heard(msg *braid.Message) {
	f, err := frame.Parse(msg.Header())
	s.mu.Lock()
	if err == nil && s.err == nil {
		f.Stream = f.Stream.Turned()
		err = s.take(f, msg)
	}
	if s.answers > owedMost*s.m.o.Streams {
		err = fmt.Errorf("it asks, and does not take the answers")
	}
	s.mu.Unlock()
	if err != nil {
		s.fail(fmt.Errorf("%w: %w", errRules, err))
		abort(s.ep) // whose end has this session forgotten, once all that came before is dropped
	}
}

func (s *session) take(f frame.Frame, msg *braid.Message) error {
	if f.Kind == frame.Open {
		return s.asked(f)
	}
	c, side := s.streams[f.Stream], f.Stream&frame.Theirs
	switch {
	case c != nil:
		return c.take(f, msg)
	case f.Stream>>1 >= s.opened[side]:
		return fmt.Errorf("%v of a stream that was never opened", f.Kind)
	}
	return nil // late: it is over here
}

// asked: the peer opens a stream.
func (s *session) asked(f frame.Frame) error {
	if f.Stream != s.opened[1]<<1|frame.Theirs {
		return fmt.Errorf("%v opened, where %d is the next", f.Stream, s.opened[1])
	}
	s.opened[1]++
	refusal := ""
	if s.live[1] >= s.m.o.Streams {
		refusal = fmt.Sprintf("%d streams of an endpoint at a time are the most", s.m.o.Streams)
	} else {
		c := newConn(s, f.Stream, flow.Asked())
		if err := c.send.Grant(f.Total); err != nil {
			return err
		}
		refusal = s.m.offer(c)
		if refusal == "" {
			s.list(c)
			s.say(frame.Frame{Kind: frame.Accept, Stream: c.id, Total: c.recv.Granted()})
			return nil
		}
	}
	s.say(frame.Frame{Kind: frame.Refuse, Stream: f.Stream, Text: refusal})
	return nil
}

func (s *session) list(c *Conn) {
	s.streams[c.id] = c
	s.live[c.id&frame.Theirs]++
}

// unlist: what is still said about the stream is late. Idempotent.
func (s *session) unlist(c *Conn) {
	if s.streams[c.id] == c {
		delete(s.streams, c.id)
		s.live[c.id&frame.Theirs]--
	}
}

// open opens a stream.
func (s *session) open(ctx context.Context) (*Conn, error) {
	s.mu.Lock()
	if s.err != nil {
		defer s.mu.Unlock()
		return nil, dialError(s.remote.text, s.err)
	}
	c := newConn(s, s.opened[0]<<1, flow.Life{})
	s.opened[0]++
	s.list(c)
	s.say(frame.Frame{Kind: frame.Open, Stream: c.id, Total: c.recv.Granted()})
	s.mu.Unlock()

	within, stop := context.WithTimeoutCause(ctx, s.m.o.Answer, errSilent)
	defer stop()
	for {
		wait(within, s.m.w, &c.write.changed)
		s.mu.Lock()
		c.write.changed.clear()
		state, err := c.life.State(), c.err
		s.mu.Unlock()
		switch {
		case state == flow.Open, state == flow.ReadEnded, state == flow.BothEnded:
			return c, nil
		case state == flow.Broken:
			return nil, dialError(s.remote.text, err)
		case state == flow.Closed:
			return nil, dialError(s.remote.text, net.ErrClosed)
		case within.Err() != nil:
			c.Reset("who opened it does not wait any more")
			return nil, dialError(s.remote.text, context.Cause(within))
		}
	}
}

// end: the endpoint is over, and why.
func (s *session) end(err error) {
	s.fail(&braid.OpError{Op: "endpoint", Peer: s.ep.Addr(), Fate: braid.Unknown, Err: err})
	s.m.forget(s)
}

// fail ends all streams, once.
func (s *session) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.err = err
	for _, c := range s.streams {
		c.step(flow.Broke)
		c.broke(err)
	}
	s.owed = nil
	if s.retry != nil {
		s.retry.Stop()
	}
}

// resetAll resets what is left.
func (s *session) resetAll(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.streams {
		c.leave(flow.CallReset, reason)
	}
}
