package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/files/dialogue"
	"github.com/openbraid/braid/internal/files/tree"
)

// SendOptions are what is sent, and where to.
type SendOptions struct {
	Addr  string
	Paths []string
	// Stdin is sent as a file called Name, instead of Paths.
	Stdin io.Reader
	Name  string
	Node  braid.Options // OnEvent and Wait are the sender's
	// Event is told of what happens to lanes. It must not block.
	Event func(braid.Event)
}

// Summary is what was sent, or has arrived.
type Summary struct {
	Files, Dirs int
	Bytes       uint64
	Time        time.Duration
	Skipped     []tree.Skipped // sender: not sent
	Changed     []string       // sender: written to while they were sent
	Lanes       []LaneTotal
	LanesLost   int
}

// movers is how many goroutines take pieces through their steps.
const movers = 16

// Sender sends once.
type Sender struct {
	o     SendOptions
	src   *tree.Source
	offer dialogue.Offer
	meter Meter
	begun time.Time

	*peer
	key  braid.RKey
	bufs [][]byte // by number of the piece, modulo their count

	outer context.Context // the caller's
	ctx   context.Context
	end   context.CancelCauseFunc

	steps
	way
}

// steps are what a sender waits for.
type steps struct {
	greeted  chan struct{}        // after Greet
	accepted chan dialogue.Accept // after Begin
	again    chan struct{}        // a place is free
	done     chan struct{}        // after Ended
	gone     chan struct{}        // the endpoint has failed
	turn     chan struct{}        // who has it takes the next piece
}

// way is how far it is.
type way struct {
	feed *feed
	cut  *dialogue.Cutter // of who has the turn

	mu      sync.Mutex // of the two below
	out     *dialogue.Outgo
	lengths []int // of the pieces under way

	finished bool // the receiver was told that all is there, and may give names. Of the goroutine that runs the transfer

	moved   atomic.Uint64 // bytes that are written there
	reading atomic.Int64  // the last file that was begun, and one
}

// CheckName says whether Name can be the name of a file there.
func CheckName(name string) error { return tree.CheckName(name) }

// NewSender looks at what is to be sent.
//
// Errors: what can't be found, read or sent. ErrInterrupted if the context was over meanwhile.
func NewSender(ctx context.Context, o SendOptions) (*Sender, error) {
	var stream *tree.Stream
	if o.Stdin != nil {
		stream = &tree.Stream{Name: o.Name, Mode: 0o644, Time: time.Now().UnixNano()}
	}
	src, err := tree.Scan(ctx, o.Paths, stream)
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("%w: %w", ErrInterrupted, context.Cause(ctx))
	}
	if err != nil {
		return nil, err
	}
	s := &Sender{
		o: o, src: src, offer: dialogue.Totals(src.List, src.Open()),
		steps: steps{
			accepted: make(chan dialogue.Accept, 1), greeted: make(chan struct{}), again: make(chan struct{}, 1),
			done: make(chan struct{}), gone: make(chan struct{}), turn: make(chan struct{}, 1),
		},
	}
	s.feed, s.out, s.cut = newFeed(src, o.Stdin), dialogue.NewOutgo(s.offer), dialogue.NewCutter(src.List, src.Open())
	return s, nil
}

// Skipped is what is not sent.
func (s *Sender) Skipped() []tree.Skipped { return s.src.Skipped }

// Close lets go of what NewSender opened. Run must have returned.
func (s *Sender) Close() { s.src.Close() }

// Run sends. Nil: everything is there, verified, under its name.
func (s *Sender) Run(ctx context.Context) (*Summary, error) {
	s.begun = time.Now()
	s.outer = ctx
	s.ctx, s.end = context.WithCancelCause(ctx)
	defer s.end(nil)
	o := s.o.Node
	o.OnEvent, o.Wait = s.event, braid.WaitSleep // others need the processors more: hashing, and who writes
	n, err := braid.Open(o)
	if err != nil {
		return nil, err
	}
	defer n.Close()
	s.peer = newPeer(n)
	w, err := n.NewWorker()
	if err != nil {
		return nil, err
	}
	w.HandleAM(idNote, s.note)
	ep, err := w.Dial(s.ctx, s.o.Addr)
	if err != nil {
		return nil, s.why(err)
	}
	s.ep = ep
	s.hears()
	s.meter.Attach(ep)
	go s.keep(s.ctx, s.end)
	if err := s.transfer(); err != nil {
		err = s.unsure(s.why(err))
		s.leave(err, s.gone)
		return nil, err
	}
	sum := s.summary()
	s.part()
	return sum, nil
}

// why is the reason of an error: what ended the transfer, if something did, and not what that broke. What the other side said may be under way yet.
func (s *Sender) why(err error) error {
	var op *braid.OpError
	if s.ctx.Err() == nil && errors.As(err, &op) {
		select {
		case <-s.ctx.Done():
		case <-time.After(lookEvery):
		}
	}
	cause := context.Cause(s.ctx)
	switch {
	case s.outer.Err() != nil && errors.Is(cause, context.Cause(s.outer)):
		return fmt.Errorf("%w: %w", ErrInterrupted, cause)
	case cause != nil:
		return cause
	}
	return err
}

// event notes what happens to the endpoint.
func (s *Sender) event(e braid.Event) {
	s.meter.Note(e)
	if e.Kind == braid.Failed {
		close(s.gone)
		if errors.Is(e.Err, braid.ErrPeerClosed) {
			s.end(errors.New("the receiver ended the connection"))
		} else {
			s.end(&LostError{e.Err})
		}
	}
	if s.o.Event != nil {
		s.o.Event(e)
	}
}

// note is the handler.
func (s *Sender) note(m *braid.Message) {
	n, err := dialogue.Parse(m.Payload())
	if err != nil {
		s.end(err)
		return
	}
	s.hears()
	s.mu.Lock()
	step, err := s.out.Heard(n)
	if f, ok := n.(dialogue.Free); ok && err == nil && step.Do == dialogue.Again {
		s.moved.Add(uint64(s.lengths[f.N%uint64(len(s.lengths))]))
	}
	if step.Do == dialogue.Begin {
		s.lengths = make([]int, step.Accept.Window)
	}
	s.mu.Unlock()
	if err != nil {
		s.end(err)
		return
	}
	switch step.Do {
	case dialogue.Greet:
		close(s.greeted)
	case dialogue.Begin:
		s.accepted <- step.Accept
	case dialogue.Again:
		select {
		case s.again <- struct{}{}:
		default:
		}
	case dialogue.Ended:
		close(s.done)
	case dialogue.Stop:
		s.end(told("receiver", step.Abort))
	case dialogue.Nothing, dialogue.Check, dialogue.Take, dialogue.Place: // the receiver's
	}
}

// transfer is the whole dialogue.
func (s *Sender) transfer() error {
	select {
	case <-s.greeted:
	case <-time.After(helloTime):
		return fmt.Errorf("%s is connected and does not answer as a receiver of files: is it braid recv, and not busy?", s.o.Addr)
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
	if err := s.say(s.ctx, s.offer); err != nil {
		return err
	}
	for _, l := range dialogue.Parts(s.src.List) {
		if err := s.say(s.ctx, l); err != nil {
			return err
		}
	}
	var a dialogue.Accept
	select {
	case a = <-s.accepted:
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
	if err := s.begin(a); err != nil {
		return err
	}
	if err := s.pieces(); err != nil {
		return err
	}
	s.mu.Lock()
	f := s.out.Finished()
	s.mu.Unlock()
	s.finished = true
	if err := s.say(s.ctx, f); err != nil && s.ctx.Err() == nil {
		return err
	}
	select {
	case <-s.done:
	case <-s.ctx.Done():
		select {
		case <-s.done: // it was heard first
		default:
			return context.Cause(s.ctx)
		}
	}
	return nil
}

// UnsureError: everything was sent, and whether it has its name there is not known.
type UnsureError struct{ Err error }

func (e *UnsureError) Error() string {
	return fmt.Sprintf("%v; everything was sent, and whether it stands under its name there is not known: look there", e.Err)
}

func (e *UnsureError) Unwrap() error { return e.Err }

// unsure says of an error that the receiver may have finished nevertheless. If it said why it has not, it hasn't.
func (s *Sender) unsure(err error) error {
	var told *PeerError
	if !s.finished || errors.As(err, &told) {
		return err
	}
	return &UnsureError{err}
}

// begin makes the buffers, one for each place there.
func (s *Sender) begin(a dialogue.Accept) error {
	var err error
	if s.key, err = braid.ParseRKey(a.Key[:]); err != nil {
		return err
	}
	if s.key.Size() < uint64(a.Window)*dialogue.PieceBytes {
		return fmt.Errorf("%w: a key of %d bytes for %d pieces", dialogue.ErrViolated, s.key.Size(), a.Window)
	}
	s.bufs = make([][]byte, a.Window)
	s.turn <- struct{}{}
	return nil
}

// part ends the endpoint in agreement. All is done, so what goes wrong now is no matter.
func (s *Sender) part() {
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	_ = s.ep.Close(ctx)
}

func (s *Sender) summary() *Summary {
	lanes, lost := s.meter.Totals()
	sum := &Summary{
		Files: int(s.offer.Files), Dirs: int(s.offer.Dirs), Bytes: s.moved.Load(), Time: time.Since(s.begun),
		Skipped: s.src.Skipped, Lanes: lanes, LanesLost: lost,
	}
	for _, i := range s.feed.changed {
		sum.Changed = append(sum.Changed, s.src.Name(i))
	}
	return sum
}

// Status is how far a sender is.
type Status struct {
	Bytes uint64 // written there
	Total uint64 // of all files; 0 if that is not known
	Files int
	Now   string // the file that is read, as it is called here
	Lanes []LaneTotal
}

// Status may be called from any goroutine, at any time.
func (s *Sender) Status() Status {
	lanes, _ := s.meter.Totals()
	st := Status{Bytes: s.moved.Load(), Total: s.offer.Bytes, Files: int(s.offer.Files), Lanes: lanes}
	if s.offer.Open {
		st.Total = 0
	}
	if i := int(s.reading.Load()); i > 0 {
		st.Now = Printable(s.src.Name(i - 1))
	}
	return st
}
