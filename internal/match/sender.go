package match

// senders are those of whom something waits, or from whom alone something is wanted, and the one that was asked for last.
type senders[P, A any] struct {
	all   map[any]*sender[P, A]
	last  *sender[P, A]
	spare []*sender[P, A]
	ids   uint64
}

type sender[P, A any] struct {
	from   any
	id     uint64  // never used again
	uses   int     // arrivals that wait, and wants for this one alone
	posted list[P] // wants for this one alone, of more than one tag
	waits  list[A]
}

// key is that of one tag of this sender.
func (s *sender[P, A]) key(tag uint64) uint64 { return tag ^ s.id*0xd6e8feb86659fd93 }

// of finds a sender, nil if there is nothing of it.
func (s *senders[P, A]) of(from any) *sender[P, A] {
	if s.last != nil && s.last.from == from {
		return s.last
	}
	l := s.all[from]
	if l != nil {
		s.ask(l)
	}
	return l
}

// use is of for one use more.
func (s *senders[P, A]) use(from any) *sender[P, A] {
	l := s.of(from)
	if l == nil {
		l = s.enter(from)
	}
	l.uses++
	return l
}

// enter takes a sender in.
func (s *senders[P, A]) enter(from any) *sender[P, A] {
	var l *sender[P, A]
	if n := len(s.spare); n > 0 {
		l, s.spare = s.spare[n-1], s.spare[:n-1]
	} else {
		l = &sender[P, A]{}
	}
	if s.all == nil {
		s.all = map[any]*sender[P, A]{}
	}
	s.ids++
	l.from, l.id = from, s.ids
	s.all[from] = l
	s.ask(l)
	return l
}

// ask notes who was asked for last. It stays although nothing of it is left: one whose messages come and go is not taken in for each.
func (s *senders[P, A]) ask(l *sender[P, A]) {
	before := s.last
	s.last = l
	s.forget(before)
}

// done is one use less.
func (s *senders[P, A]) done(l *sender[P, A]) {
	l.uses--
	s.forget(l)
}

func (s *senders[P, A]) forget(l *sender[P, A]) {
	if l != nil && l != s.last && l.uses == 0 {
		delete(s.all, l.from)
		*l = sender[P, A]{}
		s.spare = append(s.spare, l)
	}
}
