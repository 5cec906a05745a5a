package files

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/files/dialogue"
	"github.com/openbraid/braid/internal/files/tree"
)

// ReceiveOptions are where things arrive, and how much.
type ReceiveOptions struct {
	Dir       string // made if only its last element is missing
	Listen    string // "host:port"
	Once      bool   // one transfer: the first that is offered
	Overwrite bool
	Sync      bool
	MaxBytes  uint64        // of a transfer; 0: no limit
	MaxFiles  int           // and directories, of a transfer; 0: no limit
	Clients   int           // at a time; 0: 8
	Stall     time.Duration // a transfer of which nothing comes for so long ends; 0: 10 min, below: never
	Node      braid.Options

	placing   func() // a test's: names are about to be given
	strangers int    // peers that are connected and have offered nothing yet, at a time: who comes then takes the place of the first; 0: 64

	// Listening is told the addresses that are bound.
	Listening func(addrs []string)
	// Report is told of transfers that begin and end, one call at a time, TurnedAway included. One that takes long stops no transfer.
	Report func(Report)
	// TurnedAway is told of a peer, by its lane, that did not get in: it has not the secret, say. If many calls wait, some are left out.
	TurnedAway func(lane string, err error)
}

// Report is that a transfer began or ended.
type Report struct {
	Peer  string   // address
	Names []string // at the top
	Summary
	Ended bool
	Err   error // of one that ended
	Left  error // of one that ended: what of it could not be removed
}

// PartlyError is a transfer that ended while names were given: some stay.
type PartlyError = tree.PartlyError

const (
	defaultClients   = 8
	defaultStrangers = 64
	defaultStall     = 10 * time.Minute
	// window is how many pieces a transfer has places for.
	window = 32
)

// busyError: not now.
type busyError struct{ text string }

func (e *busyError) Error() string { return e.text }

// server is a receiver that listens.
type server struct {
	o      ReceiveOptions
	target *tree.Target
	node   *braid.Node

	ctx context.Context
	end context.CancelCauseFunc

	mu        sync.Mutex
	sessions  map[*braid.Endpoint]*session
	strangers []*session // those that have offered nothing, as they came
	clients   int        // that have offered something
	begun     bool       // one has
	undone    bool       // one was interrupted
	once      *onceError // with Once: how the transfer ended
	running   sync.WaitGroup
	tells     chan func() // what is to be told to who runs it, in order
}

// Receive listens, and takes what is sent until the context is over. With Once, its error is that of the transfer.
//
// Errors: what can't be opened or bound. ErrInterrupted if the context was over while something arrived that was undone then. What has its
// names, or gets them at that moment, has arrived.
func Receive(ctx context.Context, o ReceiveOptions) error {
	if err := tree.MakeDir(o.Dir); err != nil {
		return err
	}
	target, err := tree.OpenTarget(o.Dir, tree.TargetOptions{Overwrite: o.Overwrite, Sync: o.Sync})
	if err != nil {
		return err
	}
	defer target.Close()
	if err := target.Try(o.Dir); err != nil {
		return err
	}
	if o.Clients == 0 {
		o.Clients = defaultClients
	}
	if o.Stall == 0 {
		o.Stall = defaultStall
	}
	if o.strangers == 0 {
		o.strangers = defaultStrangers
	}
	s := &server{o: o, target: target, sessions: map[*braid.Endpoint]*session{}, tells: make(chan func(), 1000)}
	s.ctx, s.end = context.WithCancelCause(ctx)
	defer s.end(nil)
	n := o.Node
	n.OnEvent, n.Wait = s.event, braid.WaitSleep
	if s.node, err = braid.Open(n); err != nil {
		return err
	}
	defer s.node.Close()
	w, err := s.node.NewWorker()
	if err != nil {
		return err
	}
	w.HandleAM(idNote, s.note)
	ln, err := w.Listen(o.Listen)
	if err != nil {
		return err
	}
	if o.Listening != nil {
		o.Listening(ln.Addrs())
	}
	quit := make(chan struct{})
	defer close(quit)
	go s.teller(quit)
	return s.serve(ln)
}

func (s *server) serve(ln *braid.Listener) error {
	for {
		ep, err := ln.Accept(s.ctx)
		if err != nil {
			ln.Close()
			return s.over(err)
		}
		x := s.admit(ep)
		s.running.Add(1)
		go func() {
			defer s.running.Done()
			x.run()
		}()
	}
}

// over is the end of the server: err is why nobody can be accepted any more.
func (s *server) over(err error) error {
	broken := s.ctx.Err() == nil
	if broken { // it is the listener itself
		s.end(err)
	}
	s.running.Wait()
	s.told()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.once != nil: // also of one that was placed while somebody stopped the server
		return s.once.err
	case broken:
		return err
	case s.undone || s.o.Once:
		return ErrInterrupted
	}
	return nil
}

// onceError ends a server that was to take one transfer, and carries how that ended.
type onceError struct{ err error }

func (e *onceError) Error() string { return "the one transfer is over" }

// admit makes the session of a peer that has connected.
func (s *server) admit(ep *braid.Endpoint) *session {
	x := newSession(s, ep)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.strangers) >= s.o.strangers { // who has just come offers something at once if it is honest; who stands there longest does not
		s.strangers[0].end(&busyError{"too many peers are connected and offer nothing, and it was the first of them; try again"})
		s.strangers = s.strangers[1:]
	}
	s.strangers = append(s.strangers, x)
	s.sessions[ep] = x
	if err := ep.Err(); err != nil { // it failed before it was in the map
		x.lost(err)
	}
	return x
}

// claim lets a session have what a transfer costs.
func (s *server) claim() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.o.Once && s.begun:
		return &busyError{"it takes one transfer, and has one"}
	case s.clients >= s.o.Clients:
		others := "another one is"
		if s.clients > 1 {
			others = fmt.Sprintf("%d others are", s.clients)
		}
		return &busyError{others + " sending already, which is all that it takes at a time; try again later, or raise --clients there"}
	}
	s.begun = true
	s.clients++
	return nil
}

// known says that a session is no stranger any more. Under the lock.
func (s *server) known(x *session) {
	s.strangers = slices.DeleteFunc(s.strangers, func(y *session) bool { return y == x })
}

// unclaim gives back what claim gave.
func (s *server) unclaim(x *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.holds {
		x.holds = false
		s.clients--
	}
}

// forget is the end of a session.
func (s *server) forget(x *session, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, x.ep)
	s.known(x)
	s.undone = s.undone || x.claimed && errors.Is(err, ErrInterrupted)
	if x.claimed && s.o.Once {
		s.once = &onceError{err}
		s.end(s.once)
	}
}

// has says whether a session has made an offer.
func (s *server) has(x *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return x.claimed
}

func (s *server) find(ep *braid.Endpoint) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[ep]
}

// event is told what happens to endpoints.
func (s *server) event(e braid.Event) {
	if e.Kind == braid.TurnedAway && s.o.TurnedAway != nil {
		select {
		case s.tells <- func() { s.o.TurnedAway(e.Lane, e.Err) }:
		default: // who makes many of these must not stop the others
		}
		return
	}
	if x := s.find(e.Endpoint); x != nil && e.Kind == braid.Failed {
		x.lost(e.Err)
	}
}

// note is the handler. What a peer says before it was greeted, or after its end, is nothing.
func (s *server) note(m *braid.Message) {
	if x := s.find(m.Endpoint()); x != nil {
		x.note(m.Payload())
	}
}

func (s *server) tell(r Report) {
	if s.o.Report != nil {
		s.tells <- func() { s.o.Report(r) }
	}
}

// teller tells, until quit is closed.
func (s *server) teller(quit <-chan struct{}) {
	for {
		select {
		case f := <-s.tells:
			f()
		case <-quit:
			return
		}
	}
}

// told waits until what was to be told is.
func (s *server) told() {
	done := make(chan struct{})
	s.tells <- func() { close(done) }
	<-done
}

// writers is how many goroutines hash and write for one transfer.
func writers() int { return max(2, min(window, 2*runtime.GOMAXPROCS(0))) }

// limits are the dialogue's.
func (o *ReceiveOptions) limits() dialogue.Limits {
	return dialogue.Limits{Bytes: o.MaxBytes, Files: uint32(min(max(o.MaxFiles, 0), 1<<31-1))}
}
