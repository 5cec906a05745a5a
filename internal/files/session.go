package files

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/files/dialogue"
	"github.com/openbraid/braid/internal/files/tree"
)

// session is one peer of a receiver. The handler takes its notes; what takes time is done by run and its writers.
type session struct {
	srv *server
	*peer
	ctx  context.Context
	end  context.CancelCauseFunc
	gone chan struct{} // the endpoint has failed
	once sync.Once     // of gone

	offered chan struct{}       // after the offer
	check   chan struct{}       // after the list
	work    chan dialogue.Piece // a place for each: never full
	placed  chan struct{}       // all pieces are written, and no more will come

	mu sync.Mutex
	in *dialogue.Intake

	claimed bool // it has offered something. Under srv's lock, as holds
	holds   bool // it is one of srv's clients
	begun   time.Time
	moved   atomic.Int64 // when a piece came or was written, nanoseconds since epoch
	mem     *braid.Memory
	stage   *tree.Stage
	left    error // what of it could not be removed
}

func newSession(s *server, ep *braid.Endpoint) *session {
	x := &session{
		srv: s, peer: newPeer(s.node), gone: make(chan struct{}), in: dialogue.NewIntake(s.o.limits()),
		offered: make(chan struct{}), check: make(chan struct{}), work: make(chan dialogue.Piece, window), placed: make(chan struct{}),
	}
	x.ep = ep
	x.ctx, x.end = context.WithCancelCause(s.ctx)
	return x
}

// lost: the endpoint has failed.
func (x *session) lost(err error) {
	x.once.Do(func() { close(x.gone) })
	if errors.Is(err, braid.ErrPeerClosed) {
		x.end(errors.New("the sender left"))
	} else {
		x.end(&LostError{err})
	}
}

// note takes a note.
func (x *session) note(b []byte) {
	x.hears()
	n, err := dialogue.Parse(b)
	if err == nil {
		err = x.step(n)
	}
	if err != nil {
		x.end(err)
	}
}

func (x *session) step(n dialogue.Note) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := n.(dialogue.Offer); ok && x.in.State() == dialogue.Waiting {
		if err := x.claim(); err != nil {
			return err
		}
		close(x.offered)
	}
	step, err := x.in.Heard(n)
	if err != nil {
		return err
	}
	switch step.Do {
	case dialogue.Check:
		close(x.check)
	case dialogue.Take:
		x.moves()
		x.work <- step.Piece
	case dialogue.Place:
		x.finish()
	case dialogue.Stop:
		x.end(told("sender", step.Abort))
	case dialogue.Nothing, dialogue.Greet, dialogue.Begin, dialogue.Again, dialogue.Ended: // the sender's
	}
	return nil
}

func (x *session) claim() error {
	err := x.srv.claim()
	if err == nil {
		x.srv.mu.Lock()
		x.claimed, x.holds = true, true
		x.srv.known(x)
		x.srv.mu.Unlock()
	}
	return err
}

// finish lets run go on when all is written. Under the lock.
func (x *session) finish() {
	if x.in.Complete() {
		close(x.placed)
	}
}

// run is the life of a session.
func (x *session) run() {
	defer x.end(nil)
	go x.keep(x.ctx, x.end)
	x.begun = time.Now()
	err := x.receive()
	if err != nil && x.ctx.Err() != nil {
		err = x.why(err)
	}
	x.mu.Lock()
	x.in.Abort() // nothing, if it is over
	x.mu.Unlock()
	x.release()
	if x.srv.has(x) {
		x.srv.tell(x.report(true, err))
	}
	if err != nil {
		x.leave(x.told(err), x.gone)
		x.revoke()
	} else {
		x.part()
	}
	x.srv.forget(x, err)
}

// told is an error as the sender is told it: what became of the files that had arrived is not to be guessed.
func (x *session) told(err error) error {
	switch {
	case errors.As(err, new(*PartlyError)), errors.As(err, new(*tree.LeftError)): // it says it
		return err
	case x.left != nil:
		return fmt.Errorf("%w; %w", err, x.left)
	case codeOf(err) == dialogue.Failed:
		return fmt.Errorf("%w; nothing of it was kept", err)
	}
	return err
}

// release gives back what a transfer holds: before the sender is told that it is over, so that it can send again at once.
func (x *session) release() {
	if x.stage != nil {
		x.left = x.stage.Discard()
		x.stage = nil
	}
	x.srv.unclaim(x)
}

// revoke makes the key void. A sender that is to be told why it ends is told before, or its puts would tell it less.
func (x *session) revoke() {
	if x.mem != nil {
		_ = x.mem.Deregister() // what still writes writes into memory that nobody reads
		x.mem = nil
	}
}

// why is what ended the session: of the server's own end, that somebody stopped it.
func (x *session) why(err error) error {
	cause := context.Cause(x.ctx)
	var partly *PartlyError
	switch {
	case errors.As(err, &partly): // it is the reason, and says what stays
		return err
	case x.srv.ctx.Err() != nil && errors.Is(cause, context.Cause(x.srv.ctx)):
		return fmt.Errorf("%w: the receiver was stopped", ErrInterrupted)
	case cause != nil:
		return cause
	}
	return err
}

// receive is the whole dialogue. Nil: everything has its name, and the sender was told.
func (x *session) receive() error {
	if err := x.say(x.ctx, dialogue.Ready{}); err != nil {
		return err
	}
	if err := x.await(x.offered, helloTime, "has offered nothing"); err != nil {
		return err
	}
	if err := x.await(x.check, listTime, "has not told all that it offers"); err != nil {
		return err
	}
	if err := x.accept(); err != nil {
		return err
	}
	x.srv.tell(x.report(false, nil))
	if err := x.take(); err != nil {
		return err
	}
	if err := x.stage.Fill(x.ctx); err != nil {
		return err
	}
	if x.srv.o.placing != nil {
		x.srv.o.placing()
	}
	if err := x.stage.Commit(); err != nil {
		return err
	}
	x.release()
	x.revoke()
	x.mu.Lock()
	d := x.in.Placed()
	x.mu.Unlock()
	_ = x.say(x.ctx, d) // if the sender does not hear it, all is there nevertheless
	return nil
}

// await waits for a step of the sender.
func (x *session) await(step <-chan struct{}, limit time.Duration, what string) error {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-step:
		return nil
	case <-t.C:
		return fmt.Errorf("the sender %s for %v", what, limit)
	case <-x.ctx.Done():
		return context.Cause(x.ctx)
	}
}

// StallError: the sender is alive, and sends nothing.
type StallError struct{ For time.Duration }

func (e *StallError) Error() string {
	return fmt.Sprintf("the sender has sent nothing of it for %v, the longest that this receiver waits; raise --stall there if it has to be slow", e.For)
}

func (x *session) moves() { x.moved.Store(int64(time.Since(epoch))) }

// all waits until all pieces are written, as long as some come.
func (x *session) all() error {
	x.moves()
	limit := x.srv.o.Stall
	t := time.NewTimer(max(limit, 0))
	defer t.Stop()
	for {
		late := t.C
		if limit < 0 {
			late = nil
		}
		select {
		case <-x.placed:
			return nil
		case <-x.ctx.Done():
			return context.Cause(x.ctx)
		case <-late:
			rest := limit - (time.Since(epoch) - time.Duration(x.moved.Load()))
			if rest <= 0 {
				return &StallError{limit}
			}
			t.Reset(rest)
		}
	}
}

// accept makes places on the disk and in memory, and says so.
func (x *session) accept() (err error) {
	if x.stage, err = x.srv.target.Stage(x.ctx, x.in.List); err != nil {
		var left *tree.LeftError
		if errors.As(err, &left) {
			x.left = left
		}
		return err
	}
	if x.mem, err = x.srv.node.Alloc(window * dialogue.PieceBytes); err != nil {
		return err
	}
	x.mu.Lock()
	x.in.Accepted(window)
	x.mu.Unlock()
	a := dialogue.Accept{Window: window}
	copy(a.Key[:], x.mem.Key(braid.Write).Bytes())
	return x.say(x.ctx, a)
}

// take has pieces written until all are.
func (x *session) take() error {
	ctx, stop := context.WithCancel(x.ctx)
	defer stop()
	var wg sync.WaitGroup
	for range writers() {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := x.writer(ctx); err != nil {
				x.end(err)
			}
		}()
	}
	err := x.all()
	stop()
	wg.Wait() // nobody may write when the stage is discarded
	return err
}

func (x *session) writer(ctx context.Context) error {
	for {
		select {
		case p := <-x.work:
			if err := x.write(p); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// DigestError: what arrived is not what was sent.
type DigestError struct{ Name string }

func (e *DigestError) Error() string {
	return fmt.Sprintf("%q: its SHA-256 is not the one that the sender has: what arrived is not what was sent", e.Name)
}

// write compares a piece with its digests, writes it, and gives its place back.
func (x *session) write(p dialogue.Piece) error {
	at := int(p.N%window) * dialogue.PieceBytes
	for i, ext := range p.Extents {
		b := x.mem.Bytes()[at : at+ext.Length]
		at += ext.Length
		if sha256.Sum256(b) != p.Sums[i] {
			return &DigestError{dialogue.Path(x.in.List, ext.File)}
		}
		if err := x.stage.Write(ext, b); err != nil {
			return err
		}
	}
	x.mu.Lock()
	x.moves()
	x.in.Written(p.N)
	x.finish()
	x.mu.Unlock()
	return x.say(x.ctx, dialogue.Free{N: p.N})
}

// part waits until the sender, who was told that all is done, has left.
func (x *session) part() {
	select {
	case <-x.gone:
	case <-time.After(agreeTime):
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	_ = x.ep.Close(ctx)
}

func (x *session) report(ended bool, err error) Report {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := Report{Peer: x.ep.Addr(), Ended: ended, Err: err, Left: x.left, Summary: Summary{
		Files: int(x.in.Offer.Files), Dirs: int(x.in.Offer.Dirs), Bytes: x.in.Offer.Bytes, Time: time.Since(x.begun),
	}}
	if ended {
		r.Bytes = x.in.Bytes()
	}
	for i := range x.in.List {
		if e := &x.in.List[i]; e.Parent == dialogue.Top {
			r.Names = append(r.Names, Printable(e.Name))
		}
	}
	return r
}
