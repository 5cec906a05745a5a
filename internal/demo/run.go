package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/live"
)

// Options are what the demo is to do.
type Options struct {
	File    string        // to be moved; "": generated data
	Bytes   int64         // of generated data; 0: as many as the time allows
	Time    time.Duration // how long, about
	Rails   []string      // two local addresses
	Over    string        // what lanes run over: tcp, the default, rc or verbs
	Secret  braid.Secret  // not set: one for this run
	Out     io.Writer     // for people, while it runs
	Screen  *live.Screen  // draws what lanes carry, on the terminal that Out is; nil: lines
	Color   bool
	Command []string // this program with its sub-command: to be started again, with --role=...
}

// stall is how long nothing may move until that is an error: longer than the library's own deadlines for a hand-over, and than connectTime.
const stall = 45 * time.Second

// UsageError: it can't be done as asked for.
type UsageError struct{ Text string }

func (e *UsageError) Error() string { return e.Text }

// Run runs the demo. The error says that it could not be carried out; what it showed is in the report.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Time < time.Second {
		return nil, &UsageError{fmt.Sprintf("--seconds: %v is too short to lose two lanes in, want at least 1s", o.Time)}
	}
	if !o.Secret.IsSet() {
		o.Secret = braid.NewSecret()
	}
	s := spec{File: o.File, Bytes: o.Bytes, Time: o.Time, Live: o.Screen != nil, Over: o.Over, Secret: o.Secret.Text()}
	switch {
	case o.File != "":
		size, err := CheckFile(o.File)
		if err != nil {
			return nil, err
		}
		s.Bytes = size
	case o.Bytes == 0:
		s.Bytes = -1
	}
	var note string
	var err error
	if s.Rails, note, err = findRails(o.Rails); err != nil {
		return nil, err
	}
	if err := checkTransport(o.Over, s.Rails); err != nil {
		return nil, err
	}
	r := &run{spec: s, p: newPrinter(o.Out, s.Rails, o.Color), news: make(chan news, 64), book: newBook(s.Rails)}
	if o.Screen != nil {
		r.p.w, r.p.screen = o.Screen, o.Screen
		defer o.Screen.Close()
	}
	r.p.intro(s, note)
	defer r.stop()
	if err := r.start(o.Command); err != nil {
		return nil, err
	}
	if err := r.watch(ctx); err != nil {
		return nil, err
	}
	rep := r.book.report()
	r.p.report(rep)
	return rep, nil
}

// run is a demo that is going on.
type run struct {
	spec             spec
	p                *printer
	news             chan news
	receiver, sender *process
	book             *book
	moved            time.Duration // when something last did
	last             tick
}

func (r *run) start(command []string) (err error) {
	if r.receiver, err = start("receiver", command, r.news); err != nil {
		return err
	}
	if r.sender, err = start("sender", command, r.news); err != nil {
		return err
	}
	return r.receiver.task(r.spec)
}

// stop ends the children, the sender first: then neither sees the other vanish.
func (r *run) stop() {
	go func() { // nobody asks any more, but they must not wait for somebody to listen
		for range r.news {
		}
	}()
	for _, p := range []*process{r.sender, r.receiver} {
		if p != nil {
			p.stop()
		}
	}
}

var errStall = fmt.Errorf("nothing moved for %v: the demo is given up", stall)

// watch follows the children until both have said their last word.
func (r *run) watch(ctx context.Context) error {
	t := time.NewTicker(tickEvery)
	defer t.Stop()
	r.moved = now()
	for !r.book.complete() {
		select {
		case n := <-r.news:
			if err := r.heard(n); err != nil {
				return err
			}
		case <-t.C:
			if now()-r.moved > stall {
				return r.book.explain(errStall)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// heard deals with one line of a child.
func (r *run) heard(n news) error {
	if n.ended != nil {
		return r.book.explain(n.ended)
	}
	l, sender := n.line, n.from == r.sender
	switch {
	case l.Failed != "":
		return r.book.explain(fmt.Errorf("the %s: %w", n.from.role, errors.New(l.Failed)))
	case l.Listening != "":
		s := r.spec
		s.Addr = l.Listening
		return r.sender.task(s)
	case l.Ready:
		r.book.begun = l.At
		r.p.begin(l.At)
		r.moved = now()
	case l.Cut != nil:
		r.book.cut(*l.Cut)
		r.p.cut(*l.Cut)
	case l.Event != nil:
		x := r.book.event(*l.Event, sender)
		if sender {
			r.p.event(x)
		}
	case l.Tick != nil:
		r.tick(*l.Tick, l.At, sender)
	case l.Sent != nil:
		r.book.sent = l.Sent
	case l.Checked != nil:
		r.book.checked = l.Checked
		r.p.checked()
	}
	return nil
}

// tick: the receiver's shows how much came over each lane; each that differs from the one before is proof of life.
func (r *run) tick(t tick, at time.Duration, sender bool) {
	if sender && t.Messages != r.last.Messages || !sender && t.Bytes != r.last.Bytes {
		r.moved = now()
	}
	if sender {
		r.last.Messages = t.Messages
		return
	}
	r.last.Bytes = t.Bytes
	r.p.rates(at, r.book.bytes(t.Lanes), t.Bytes)
}
