package fault

import (
	"sync"
	"syscall"

	"github.com/openbraid/braid/transport"
)

// swallow is what a silent stream still takes: as much as the system's buffers would.
const swallow = 256 << 10

// stream is a stream to which something may be done.
type stream struct {
	conn

	mu     sync.Mutex // against rules of other goroutines; taken after inj.mu
	under  transport.Stream
	by     *active // the rule that cut it
	closed bool
	taken  int    // bytes swallowed
	knew   uint64 // what had reached the peer when a cut silenced him
	works  bool
	gates  gates
	out    line // what is sent, and waits
	in     line // what is received, and waits
	shut   bool // our direction ends when out is empty
}

// begun implements member.
func (s *stream) begun(a *active) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.Action == Cut {
		return s.severed(a)
	}
	s.gates.add(a)
	return true
}

// ended implements member. A cut stream stays cut.
func (s *stream) ended(a *active) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gates.remove(a)
}

// severed cuts the stream, unless it is cut or closed already.
func (s *stream) severed(a *active) bool {
	if s.by != nil || s.closed {
		return false
	}
	s.by = a
	s.knew = s.under.Reached()
	if a.Kind == Reset {
		_ = s.under.Reset() // wakes up whoever waits for it
	}
	return true
}

func (s *stream) isCut() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.by != nil
}

// deaf and dumb say whether a cut is about what is received, and sent.
func (s *stream) deaf() bool { return s.by != nil && s.by.Dir.Received() }
func (s *stream) dumb() bool { return s.by != nil && s.by.Dir.Sent() }

// Read implements transport.Stream.
func (s *stream) Read(p []byte) (int, error) {
	s.mu.Lock()
	n, err := s.read(p)
	first := n > 0 && !s.works
	s.works = s.works || first
	s.mu.Unlock()
	if first {
		s.inj.stands(&s.conn)
	}
	return n, err
}

func (s *stream) read(p []byte) (int, error) {
	switch {
	case s.by != nil && s.by.Kind == Reset:
		return 0, syscall.ECONNRESET
	case s.deaf():
		return 0, transport.ErrAgain
	case !s.gates.any() && !s.out.some() && !s.in.some():
		return s.under.Read(p)
	}
	s.drain()
	return s.gatedRead(p)
}

// Writev implements transport.Stream.
func (s *stream) Writev(p [][]byte) (int, error) {
	var by *active
	if s.inj.waiting.Load() > 0 {
		by = s.inj.triggered(s)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if by != nil && s.by == nil {
		return s.inFlight(by, p)
	}
	switch {
	case s.by != nil && s.by.Kind == Reset:
		return 0, syscall.ECONNRESET
	case s.dumb():
		return s.vanish(total(p))
	case !s.gates.any() && !s.out.some():
		return s.under.Writev(p)
	}
	s.drain()
	return s.gatedWrite(p)
}

// inFlight lets half of a write through and cuts.
func (s *stream) inFlight(by *active, p [][]byte) (int, error) {
	all := total(p)
	n, _ := s.under.Writev(head(p, all/2))
	n = max(n, 0)
	s.severed(by)
	switch {
	case by.Kind == Reset:
		return n, syscall.ECONNRESET
	case !s.dumb():
		return n, nil
	}
	k, _ := s.vanish(all - n)
	return n + k, nil
}

// vanish takes bytes that go nowhere.
func (s *stream) vanish(n int) (int, error) {
	if n = min(n, swallow-s.taken); n <= 0 {
		return 0, transport.ErrAgain
	}
	s.taken += n
	return n, nil
}

// Connected implements transport.Stream.
func (s *stream) Connected() error {
	s.mu.Lock()
	by := s.by
	var err error
	switch {
	case by == nil:
		err = s.under.Connected()
	case by.Kind == Reset:
		err = syscall.ECONNREFUSED
	default:
		err = transport.ErrAgain
	}
	first := err == nil && !s.works
	s.works = s.works || first
	s.mu.Unlock()
	if first {
		s.inj.stands(&s.conn)
	}
	return err
}

// Shutdown implements transport.Stream.
func (s *stream) Shutdown() error {
	s.inj.mu.Lock()
	s.inj.givenUp(&s.conn)
	s.inj.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.by != nil && s.by.Kind == Reset:
		return syscall.ECONNRESET
	case s.dumb():
		return nil
	case s.out.some():
		s.shut = true
		return nil
	}
	return s.under.Shutdown()
}

// Reset implements transport.Stream.
func (s *stream) Reset() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by != nil {
		return nil
	}
	return s.under.Reset()
}

// Close implements transport.Stream.
func (s *stream) Close(reset bool) error {
	s.mu.Lock()
	was, by := s.closed, s.by
	s.closed = true // from here on no rule touches it
	if !was && by == nil {
		s.spill()
	}
	s.mu.Unlock()
	if was || s.inj.forget(s, by) {
		return nil
	}
	return s.under.Close(reset)
}

// Reached implements transport.Stream: of what a cut swallows nothing reaches anybody, and where nothing is heard of the peer, nothing is heard
// of his system either: it acknowledges what it had for as long as 40 ms more.
func (s *stream) Reached() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return 0
	case s.by != nil: // one way, too: what is sent reaches nobody, and what comes says nothing of that
		return s.knew
	}
	return s.under.Reached()
}

// FD implements transport.Stream.
func (s *stream) FD() int { return s.under.FD() }

func total(p [][]byte) (n int) {
	for _, b := range p {
		n += len(b)
	}
	return n
}

// head is the first n bytes of p.
func head(p [][]byte, n int) [][]byte {
	var out [][]byte
	for _, b := range p {
		if len(b) > n {
			return append(out, b[:n])
		}
		out = append(out, b)
		n -= len(b)
	}
	return out
}
