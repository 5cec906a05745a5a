package transporttest

import (
	"bytes"
	"encoding/binary"

	"github.com/openbraid/braid/transport"
)

// side is one endpoint with its sink, and everything that was seen of it.
type side struct {
	w     *world
	name  string
	iface transport.Iface
	ep    transport.Endpoint
	peer  *side
	book  *book

	seen
	hooks
	decision transport.Decision
	waiting  []shape          // found no room yet
	last     transport.Counts // of the last check

	quiesced bool
	dead     bool // closed: no callback is legal any more
	letGo    bool // admitted without retention
	loose    bool // the books are not in step: purged, canceled
}

// seen is what a sink was told.
type seen struct {
	connected int
	rooms     int
	got       uint64 // data frames taken
	gotBytes  uint64
	controls  [][]byte // payloads of control frames
	placed    int
	errs      []error
}

// hooks are what a case does inside a callback.
type hooks struct {
	accepted func()                             // inside Accepted, ep is set
	onFrame  func(in *transport.Incoming)       // after the checks
	onPlace  func(head []byte, size int) []byte // nil: no memory
	onError  func(err error)                    // before the decision
	onRoom   func()
}

func (w *world) newSide(name string, i transport.Iface) *side {
	s := &side{w: w, name: name, iface: i, decision: transport.Hold}
	s.book = &book{s: s}
	w.sides = append(w.sides, s)
	return s
}

func (s *side) admit(retain bool) {
	s.letGo = !retain
	s.ep.Admit(s.iface.Attr().MaxFrame, retain)
}

func (s *side) called(what string) {
	s.w.called(s.name + "." + what)
	if s.dead {
		s.w.Errorf("%s.%s was called after Close", s.name, what)
	}
}

// Connected implements transport.Sink.
func (s *side) Connected() {
	s.called("Connected")
	if s.connected++; s.connected > 1 || s.name == "server" {
		s.w.Errorf("%s.Connected: %d calls (an accepted connection gets none)", s.name, s.connected)
	}
}

// Place implements transport.Sink.
func (s *side) Place(id uint8, head []byte, size int) []byte {
	s.called("Place")
	if s.quiesced {
		s.w.Errorf("%s.Place after Quiesce", s.name)
	}
	if s.onPlace == nil {
		return nil
	}
	return s.onPlace(head, size)
}

// Frame implements transport.Sink: data frames must come in order, complete, once.
func (s *side) Frame(in *transport.Incoming) {
	s.called("Frame")
	if in.Class == transport.Control {
		s.controls = append(s.controls, bytes.Clone(in.Payload))
	} else {
		s.takeData(in)
	}
	if s.onFrame != nil {
		s.onFrame(in)
	}
}

func (s *side) takeData(in *transport.Incoming) {
	if s.quiesced {
		s.w.Errorf("%s: data frame after Quiesce", s.name)
	}
	if len(in.Head) < headLen {
		s.w.Fatalf("%s: data frame %d: head of %d bytes", s.name, s.got, len(in.Head))
	}
	if tag := binary.LittleEndian.Uint64(in.Head); tag != s.got || in.ID != idOf(tag) {
		s.w.Fatalf("%s: data frame %d: got tag %d, id %d: not the declared order", s.name, s.got, tag, in.ID)
	}
	if i := badByte(s.got, in.Payload); i >= 0 {
		s.w.Errorf("%s: data frame %d of %d bytes: byte %d is wrong (placed=%v)", s.name, s.got, len(in.Payload), i, in.Placed)
	}
	if in.Placed {
		s.placed++
	}
	s.got++
	s.gotBytes += uint64(len(in.Head) + len(in.Payload))
}

// Room implements transport.Sink.
func (s *side) Room() {
	s.called("Room")
	s.rooms++
	s.sendWaiting()
	if s.onRoom != nil {
		s.onRoom()
	}
}

// OnError implements transport.Sink.
func (s *side) OnError(err error) transport.Decision {
	s.called("OnError")
	s.errs = append(s.errs, err)
	if len(s.errs) > 1 {
		s.w.Errorf("%s.OnError: called again: %v", s.name, s.errs)
	}
	if err == nil {
		s.w.Errorf("%s.OnError(nil)", s.name)
	}
	if s.quiesced {
		s.w.Errorf("%s.OnError(%v) after Quiesce", s.name, err)
	}
	if s.onError != nil {
		s.onError(err)
	}
	return s.decision
}

// quiesce is Endpoint.Quiesce with the checks that go with it.
func (s *side) quiesce() {
	s.ep.Quiesce()
	s.quiesced = true
	if p := s.ep.Position(); p != s.got {
		s.w.Errorf("%s: Position() = %d after Quiesce, but %d data frames were taken", s.name, p, s.got)
	}
}

// close is Endpoint.Close; afterwards every callback is an error.
func (s *side) close() {
	was := s.w.inside
	s.w.inside, s.loose = true, true
	s.ep.Close()
	s.w.inside = was
	s.dead = true
}

// cancel is Endpoint.Cancel.
func (s *side) cancel(err error) {
	s.loose = true
	was := s.w.inside
	s.w.inside = true
	s.ep.Cancel(err)
	s.w.inside = was
}

// check compares this side's counts with the last ones, with the peer's, and with what was seen.
func (s *side) check() {
	if s.ep == nil || s.dead || s.loose {
		return
	}
	s.w.Helper()
	c, was := s.ep.Counts(), s.last
	s.last = c
	switch {
	case c.Acked > c.Posted || c.AckedBytes > c.PostedBytes:
		s.w.Errorf("%s: acknowledged more than posted: %+v", s.name, c)
	case c.Acked < was.Acked || c.Posted < was.Posted || c.Accepted < was.Accepted || c.RoundTrips < was.RoundTrips:
		s.w.Errorf("%s: counts went back: %+v, then %+v", s.name, was, c)
	case c.Posted != s.book.posted || c.PostedBytes != s.book.postedBytes:
		s.w.Errorf("%s: %d frames of %d bytes were posted, counted is %+v", s.name, s.book.posted, s.book.postedBytes, c)
	case c.Acked != s.book.executed:
		s.w.Errorf("%s: %d frames were reported executed, counted is %+v", s.name, s.book.executed, c)
	case c.Accepted != s.got || c.AcceptedBytes != s.gotBytes:
		s.w.Errorf("%s: %d frames of %d bytes were taken, counted is %+v", s.name, s.got, s.gotBytes, c)
	case (c.RoundTrips != was.RoundTrips) != (c.Acked != was.Acked) || c.RoundTrips-was.RoundTrips > c.Acked-was.Acked:
		s.w.Errorf("%s: round trips must grow with each acknowledgement that moved Acked: %+v, then %+v", s.name, was, c)
	}
	if p := s.peer; p != nil && c.Acked > p.got {
		s.w.Errorf("%s: %d frames are acknowledged, the peer took %d", s.name, c.Acked, p.got)
	}
}
