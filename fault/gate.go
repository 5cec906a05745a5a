package fault

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/transport"
)

// gates are the rules in force that let a stream's bytes through, but not as they come.
type gates []*gate

// gate is one of them, and its two buckets.
type gate struct {
	*active
	tx, rx bucket
	lively bool // of a pipe: it was in use when the rule came
}

func (g gates) any() bool { return len(g) > 0 }

func (g *gates) add(a *active) { *g = append(*g, &gate{active: a}) }

func (g *gates) remove(a *active) {
	*g = slices.DeleteFunc(*g, func(x *gate) bool { return x.active == a })
}

// bucket is what a rate lets through now.
type bucket struct {
	bytes  float64
	filled time.Duration
	begun  bool
}

// depth is how long a bucket collects: bursts are no longer.
const depth = 5 * time.Millisecond

// level fills the bucket and says how many bytes may go.
func (b *bucket) level(now time.Duration, bits int64) int {
	most := max(float64(bits)/8*depth.Seconds(), 4096)
	if b.begun {
		b.bytes = min(most, b.bytes+float64(bits)/8*(now-b.filled).Seconds())
	} else {
		b.begun, b.bytes = true, most
	}
	b.filled = now
	return int(b.bytes)
}

// goes says whether the rule is about what is sent, or received.
func (g *gate) goes(sent bool) bool { return sent && g.Dir.Sent() || !sent && g.Dir.Received() }

// room is how many of n bytes may go that way now, and which rule lets no more through; nil if all may go.
func (g gates) room(now time.Duration, sent bool, n int) (_ int, by *gate) {
	for _, x := range g {
		if !x.goes(sent) {
			continue
		}
		k := n
		switch x.Action {
		case Pause:
			k = 0
		case Throttle:
			k = min(n, x.bucket(sent).level(now, x.Rate))
		case Cut, Drop, Duplicate, Corrupt, Delay, Kill, Iface:
		}
		if k < n {
			n, by = k, x
		}
	}
	return n, by
}

func (g *gate) bucket(sent bool) *bucket {
	if sent {
		return &g.tx
	}
	return &g.rx
}

// passed takes what went from the buckets.
func (g gates) passed(sent bool, n int) {
	for _, x := range g {
		if x.Action == Throttle && n > 0 {
			x.bucket(sent).bytes -= float64(n)
		}
	}
}

// delay is how long what goes now is to take, and whether there is such a rule.
func (s *stream) delay(sent bool) (d time.Duration, some bool) {
	for _, x := range s.gates {
		if x.Action == Delay && x.goes(sent) {
			d, some = d+s.inj.dice.around(x.Delay, x.Jitter), true
		}
	}
	return d, some
}

// delayed counts what comes later.
func (g gates) delayed(sent bool) {
	for _, x := range g {
		if x.Action == Delay && x.goes(sent) {
			x.hits.Add(1)
		}
	}
}

// pending says whether a read would find something.
func (s *stream) pending() bool {
	if s.in.some() {
		return true
	}
	fds := []unix.PollFd{{Fd: int32(s.under.FD()), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return n > 0 && err == nil
}

// lineMost is what a line holds: with it the delay of a fast lane is a limit of its rate, too.
const lineMost = 4 << 20

// line is bytes that go on later, in order.
type line struct {
	parts []part
	bytes int
	end   error // of what is received, when it is empty
	last  time.Duration
}

type part struct {
	due   time.Duration
	bytes []byte
}

func (l *line) some() bool { return len(l.parts) > 0 || l.end != nil }

func (l *line) add(due time.Duration, b []byte) {
	l.last = max(l.last, due)
	l.parts = append(l.parts, part{l.last, b})
	l.bytes += len(b)
}

// took takes n bytes from the first part.
func (l *line) took(n int) {
	l.bytes -= n
	if l.parts[0].bytes = l.parts[0].bytes[n:]; len(l.parts[0].bytes) == 0 {
		l.parts = l.parts[1:]
	}
}

// gatedWrite is Writev with rules in force.
func (s *stream) gatedWrite(p [][]byte) (int, error) {
	now := s.inj.now()
	n, by := s.gates.room(now, true, total(p))
	if by != nil {
		by.hits.Add(1)
	}
	if n == 0 && total(p) > 0 {
		return 0, transport.ErrAgain
	}
	d, late := s.delay(true)
	s.gates.delayed(true)
	if !late && !s.out.some() {
		n, err := s.under.Writev(head(p, n))
		s.gates.passed(true, n)
		return n, err
	}
	if n = min(n, lineMost-s.out.bytes); n <= 0 {
		return 0, transport.ErrAgain
	}
	all := make([]byte, 0, n)
	for _, b := range head(p, n) {
		all = append(all, b...)
	}
	s.out.add(now+d, all)
	s.gates.passed(true, n)
	return n, nil
}

// drain sends what is due.
func (s *stream) drain() {
	if !s.out.some() || s.dumb() {
		return
	}
	now := s.inj.now()
	for len(s.out.parts) > 0 && s.out.parts[0].due <= now {
		n, err := s.under.Writev([][]byte{s.out.parts[0].bytes})
		if n > 0 {
			s.out.took(n)
		}
		if err != nil {
			return // room comes, or the next read says what is wrong
		}
	}
	if s.shut && len(s.out.parts) == 0 {
		s.shut = false
		_ = s.under.Shutdown()
	}
}

// spill sends what is left, before a close.
func (s *stream) spill() {
	for _, p := range s.out.parts {
		if n, err := s.under.Writev([][]byte{p.bytes}); n < len(p.bytes) || err != nil {
			break
		}
	}
	s.out, s.in = line{}, line{}
}

// gatedRead is Read with rules in force. That somebody asks, and there is nothing, is no hit of a rule: it would look as if it had done something.
func (s *stream) gatedRead(p []byte) (int, error) {
	now := s.inj.now()
	n, by := s.gates.room(now, false, len(p))
	if n == 0 && len(p) > 0 {
		if s.pending() {
			by.hits.Add(1)
		}
		return 0, transport.ErrAgain
	}
	if d, late := s.delay(false); late || s.in.some() {
		if s.fetch(now+d, n) {
			s.gates.delayed(false)
		}
		return s.deliver(now, p[:n])
	}
	got, err := s.under.Read(p[:n])
	if by != nil && got == n {
		by.hits.Add(1)
	}
	s.gates.passed(false, got)
	return got, err
}

// fetch reads what is there, for later, and says whether there was something.
func (s *stream) fetch(due time.Duration, n int) bool {
	if s.in.end != nil || s.in.bytes >= lineMost || n == 0 {
		return false
	}
	b := make([]byte, n)
	switch k, err := s.under.Read(b); {
	case k > 0:
		s.in.add(due, b[:k])
		return true
	case err != nil && err != transport.ErrAgain:
		s.in.end = err
	}
	return false
}

// deliver hands out what is due.
func (s *stream) deliver(now time.Duration, p []byte) (n int, err error) {
	for n < len(p) && len(s.in.parts) > 0 && s.in.parts[0].due <= now {
		k := copy(p[n:], s.in.parts[0].bytes)
		s.in.took(k)
		n += k
	}
	s.gates.passed(false, n)
	switch {
	case n > 0:
		return n, nil
	case len(s.in.parts) == 0 && s.in.end != nil:
		return 0, s.in.end
	}
	return 0, transport.ErrAgain
}
