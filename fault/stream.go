package fault

import (
	"sync"
	"syscall"

	"github.com/openbraid/braid/transport"
)

// swallow is what a silent stream still takes: as much as the system's buffers would.
const swallow = 256 << 10

// stream is a stream that may be cut.
type stream struct {
	inj           *Injector
	local, remote string
	index         int // in inj.streams, under inj.mu

	mu     sync.Mutex // against rules of other goroutines; taken after inj.mu
	under  transport.Stream
	by     *active // the rule that cut it
	closed bool
	taken  int // bytes swallowed
}

// sever cuts the stream, unless it is cut or closed already.
func (s *stream) sever(a *active) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.severed(a)
}

// severed is sever for who has the lock.
func (s *stream) severed(a *active) bool {
	if s.by != nil || s.closed {
		return false
	}
	s.by = a
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

// Read implements transport.Stream.
func (s *stream) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.by == nil:
		return s.under.Read(p)
	case s.by.Kind == Reset:
		return 0, syscall.ECONNRESET
	}
	return 0, transport.ErrAgain
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
	case s.by == nil:
		return s.under.Writev(p)
	case s.by.Kind == Reset:
		return 0, syscall.ECONNRESET
	}
	return s.vanish(total(p))
}

// inFlight lets half of a write through and cuts.
func (s *stream) inFlight(by *active, p [][]byte) (int, error) {
	all := total(p)
	n, _ := s.under.Writev(head(p, all/2))
	n = max(n, 0)
	s.severed(by)
	if by.Kind == Reset {
		return n, syscall.ECONNRESET
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
	defer s.mu.Unlock()
	switch {
	case s.by == nil:
		return s.under.Connected()
	case s.by.Kind == Reset:
		return syscall.ECONNREFUSED
	}
	return transport.ErrAgain
}

// Shutdown implements transport.Stream.
func (s *stream) Shutdown() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.by == nil:
		return s.under.Shutdown()
	case s.by.Kind == Reset:
		return syscall.ECONNRESET
	}
	return nil
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
	s.mu.Unlock()
	if was || s.inj.forget(s, by) {
		return nil
	}
	return s.under.Close(reset)
}

// Reached implements transport.Stream: of what a cut swallows nothing reaches anybody.
func (s *stream) Reached() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0
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
