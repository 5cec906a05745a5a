package perf

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/cpu"
	"github.com/openbraid/braid/internal/perf/ends"
	"github.com/openbraid/braid/internal/perf/inbox"
	"github.com/openbraid/braid/internal/perf/note"
	"github.com/openbraid/braid/internal/perf/streams"
)

// ServerParams say where and how to serve.
type ServerParams struct {
	Listen string // "host:port"; "": loopback, the default port
	// Threads are how many serve, on Listen's port and those after it, or on whichever are free if that is 0; 0: one.
	Threads int
	Once    bool // end after the first client that ran its tests; an error if that one broke off
	Setup        // ErrorMode and Lanes are the client's to choose
	// Listening is told the address that is bound, of several threads each in their order; nil for nobody.
	Listening func(addr string)
	// Log is told what happens, a line each; nil for nobody.
	Log func(format string, args ...any)
}

// server answers one client process at a time. Its handlers answer by themselves; what has to wait, or
// touches the list of sessions, is done by its loop.
type server struct {
	ctx context.Context
	p   ServerParams

	node *braid.Node
	w    *braid.Worker
	ln   *braid.Listener

	notes    inbox.Of[note.Note]
	gone     inbox.Of[*braid.Endpoint]
	sessions atomic.Pointer[[]*session] // read by handlers, replaced by the loop
	client   string                     // who is served
	open     []*braid.Endpoint          // of that client
	ran      bool                       // a test of that client came to its end
	broken   error                      // or why it didn't
}

// Serve answers clients until ctx is over, or with Once until the first has left.
func Serve(ctx context.Context, p ServerParams) error {
	if p.Listen == "" {
		p.Listen = withPort("127.0.0.1")
	}
	if p.Log == nil {
		p.Log = func(string, ...any) {}
	}
	if err := p.Setup.Validate(); err != nil {
		return err
	}
	switch {
	case p.Threads < 0 || p.Threads > MostThreads:
		return fmt.Errorf("-T %d: 1 to %d threads", p.Threads, MostThreads)
	case p.Threads > 1 && p.CPUs != "":
		return errors.New("-T with -c: one processor is no place for several threads")
	case p.Threads > 1:
		return serveThreads(ctx, p)
	}
	_, err := cpu.OnThread(p.CPUs, func() (struct{}, error) { return struct{}{}, serve(ctx, p) })
	return err
}

func serve(ctx context.Context, p ServerParams) (err error) {
	s := &server{ctx: ctx, p: p}
	s.sessions.Store(&[]*session{})
	s.node, s.w, err = ends.Open(p.Setup, func(e braid.Event) {
		switch e.Kind {
		case braid.Failed:
			s.gone.Put(e.Endpoint)
		case braid.TurnedAway:
			p.Log("%s was turned away: %v", e.Lane, e.Err)
		case braid.LaneUp, braid.LaneDown, braid.HandedOver, braid.Suspended, braid.Resumed, braid.LaneGivenUp:
		}
	}, nil)
	if err != nil {
		return err
	}
	defer s.node.Close()
	defer context.AfterFunc(ctx, s.w.Wake)()
	s.w.HandleAM(note.ID, s.note)
	s.w.HandleOffer(note.Data, s.data)
	if p.Shared {
		m, err := streams.Serve(s.w, s.taker)
		if err != nil {
			return err
		}
		defer m.Close()
	}
	if s.ln, err = s.w.Listen(p.Listen); err != nil {
		return err
	}
	if p.Listening != nil {
		p.Listening(s.ln.Addr())
	}
	for {
		ep, err := s.ln.Accept(ctx)
		if err != nil {
			return context.Cause(ctx) // nil only if it is the listener that failed
		}
		s.open, s.ran, s.broken = append(s.open, ep), false, nil
		p.Log("client %s", ep.Addr())
		if err := s.attend(); err != nil {
			return err
		}
		switch {
		case p.Once && s.broken != nil:
			return s.broken
		case p.Once && s.ran:
			return nil
		}
		p.Log("waiting for a client")
	}
}

// attend serves until every endpoint of the client is gone.
func (s *server) attend() error {
	for i := 0; len(s.open) > 0; i++ {
		busy := 0
		if !s.flows() {
			busy = s.w.Progress()
		}
		for n, ok := s.notes.Take(); ok; n, ok = s.notes.Take() {
			s.take(n)
		}
		for ep, ok := s.gone.Take(); ok; ep, ok = s.gone.Take() {
			s.drop(ep)
		}
		sessions := *s.sessions.Load()
		for _, ses := range sessions {
			if ses.echo != nil && ses.answerPut(s) || ses.takeTags(s) {
				busy++
			}
			ses.board.Look()
		}
		if busy == 0 {
			s.rest(sessions)
		}
		if (i%lookEvery == 0 || busy == 0) && s.ctx.Err() != nil {
			return context.Cause(s.ctx)
		}
	}
	return nil
}

// rest is what the loop does when there is nothing to do: with a test under way it polls, unless the client wants it to sleep.
func (s *server) rest(sessions []*session) {
	switch {
	case len(sessions) == 0 || sessions[0].taker != nil:
		time.Sleep(200 * time.Microsecond) // nothing to measure: don't burn what others measure on
	case sessions[0].sleep:
		_ = s.w.Sleep(context.Background()) // fails of a shared worker, which no such client is let to
	}
}

// note is the handler of the dialogue.
func (s *server) note(m *braid.Message) {
	n, err := note.Parse(m.Payload())
	if err != nil {
		s.reply(m.Endpoint(), note.Note{Kind: note.Refused, Text: err.Error()})
		return
	}
	n.From = m.Endpoint()
	s.notes.Put(n)
}

// reply posts a note: it may be called from handlers.
func (s *server) reply(to *braid.Endpoint, n note.Note) { to.PostAM(note.ID, nil, n.Bytes()).Release() }

// take deals with one note of a client.
func (s *server) take(n note.Note) {
	ses := s.session(n.From)
	switch {
	case n.Kind == note.Start && ses == nil:
		s.start(n)
	case n.Kind == note.Check && ses != nil && ses.taker != nil:
		ses.taker.When(n.Count, func() { s.reply(n.From, note.Note{Kind: note.Checked}) })
	case n.Kind == note.Check && ses != nil:
		ses.check(n.First, n.Count)
		s.reply(n.From, note.Note{Kind: note.Checked})
	case n.Kind == note.Stop && ses != nil:
		ses.trim(n.Total)
		s.settle(ses)
		s.ran = !n.More
		s.reply(n.From, note.Note{Kind: note.Report, Tally: ses.final()})
		s.end(n.From)
	default:
		s.reply(n.From, note.Note{Kind: note.Refused, Text: fmt.Sprintf("%q is not what comes next", n.Kind)})
	}
}

// settle waits a little for what should not come any more.
func (s *server) settle(ses *session) {
	for ses.takeTags(s) { // what has come, and was not looked at yet
	}
	if !ses.verify {
		return
	}
	for begun := time.Now(); time.Since(begun) < 20*time.Millisecond; {
		s.w.Progress()
		ses.takeTags(s)
	}
}

// start begins a session, or says why not.
func (s *server) start(n note.Note) {
	var ses *session
	err := s.admits(n)
	if err == nil {
		ses, err = newSession(s.node, n, s.p.CPUs)
	}
	if err != nil {
		s.p.Log("refused %s: %v", n.From.Addr(), err)
		s.reply(n.From, note.Note{Kind: note.Refused, Text: err.Error()})
		return
	}
	s.client = n.Client
	if !s.isOpen(n.From) {
		s.open = append(s.open, n.From)
	}
	next := append([]*session{ses}, *s.sessions.Load()...)
	s.sessions.Store(&next)
	answer := note.Note{Kind: note.Ready}
	if ses.mem != nil {
		answer.Key = ses.mem.Key(ses.rights()).Bytes()
	}
	s.p.Log("%s, %d bytes, for %s", n.Test, n.Size, n.From.Addr())
	s.reply(n.From, answer)
}

// maxSessions is how many tests one client has at a time: two couples of endpoints, one of which is about to leave.
const maxSessions = 4

// admits says why not, before anything is made for who asks.
func (s *server) admits(n note.Note) error {
	switch {
	case n.Client == "" || s.client != "" && s.client != n.Client && s.serving():
		return errors.New("another client is being served; try again when it has left")
	case n.Shared != s.p.Shared:
		return s.p.Differs()
	case len(*s.sessions.Load()) >= maxSessions:
		return fmt.Errorf("a client has %d tests at a time at most", maxSessions)
	}
	return nil
}

func (s *server) serving() bool { return len(*s.sessions.Load()) > 0 }

func (s *server) isOpen(ep *braid.Endpoint) bool {
	for _, o := range s.open {
		if o == ep {
			return true
		}
	}
	return false
}

// session finds that of an endpoint. There are few, and the one in use stands near the front.
func (s *server) session(ep *braid.Endpoint) *session {
	for _, ses := range *s.sessions.Load() {
		if ses.ep == ep {
			return ses
		}
	}
	return nil
}

// taker is who takes the stream of an endpoint's test.
func (s *server) taker(ep *braid.Endpoint) *streams.Taker {
	if ses := s.session(ep); ses != nil {
		return ses.taker
	}
	return nil
}

// flows says whether streams are measured: then it is their readers who poll, and the loop would only be in their way.
func (s *server) flows() bool {
	l := *s.sessions.Load()
	return len(l) > 0 && l[0].taker != nil
}

// end takes a session away.
func (s *server) end(ep *braid.Endpoint) {
	var rest []*session
	for _, ses := range *s.sessions.Load() {
		if ses.ep != ep {
			rest = append(rest, ses)
			continue
		}
		if ses.taker != nil {
			ses.taker.Close()
		}
		if ses.dropTags(); ses.mem != nil {
			_ = ses.mem.Deregister() // busy only if the peer broke off in the middle of a put
		}
	}
	s.sessions.Store(&rest)
}

// drop forgets an endpoint that is over.
func (s *server) drop(ep *braid.Endpoint) {
	if ses := s.session(ep); ses != nil {
		s.broken = fmt.Errorf("client %s broke off in the middle of %s: %w", ep.Addr(), ses.test.Name, ep.Err())
		if !s.p.Once { // then Serve ends with it
			s.p.Log("%v", s.broken)
		}
	} else {
		s.p.Log("client %s has left", ep.Addr())
	}
	s.end(ep)
	for i, o := range s.open {
		if o == ep {
			s.open = append(s.open[:i], s.open[i+1:]...)
			break
		}
	}
	if len(s.open) == 0 {
		s.client = ""
	}
	ep.Abort()
}
