package control

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/openbraid/braid/fault"
)

// errAbandoned is why rules were withdrawn whose giver has gone.
var errAbandoned = errors.New("who gave the rules over the control socket went before they were over")

// fault has a plan carried out for as long as the connection stands.
func (s *Server) fault(c net.Conn, text string) {
	plan, err := fault.ParsePlan(text)
	switch {
	case err != nil:
		_ = s.say(c, Reply{Error: err.Error()})
		return
	case s.h.Faults == nil:
		_ = s.say(c, Reply{Error: "nothing stands in front of this process's connections: its program made its transports itself, without Options.Faults"})
		return
	}
	inj := s.h.Faults
	if err := inj.Fits(plan); err != nil {
		_ = s.say(c, Reply{Error: err.Error()})
		return
	}
	b := inj.Apply(plan...)
	gone := make(chan struct{})
	s.all.Add(1)
	go func() { // the other side says nothing more: when it can be read it has gone
		defer s.all.Done()
		_, _ = io.Copy(io.Discard, c)
		close(gone)
	}()
	why := s.carry(c, b, gone)
	inj.Withdraw(b, why)
	r := s.report(b, true)
	for i, st := range inj.Given(b) {
		if st.Hits == 0 && st.Err == nil {
			r.Rules[i].Error = missed(st, inj.Lanes())
		}
	}
	_ = s.say(c, r)
}

// mostNamed is how many connections are named to who hit none of them.
const mostNamed = 16

// missed is why a rule hit nothing, and what there is that it could have hit.
func missed(st fault.Status, lanes []fault.Hit) string {
	switch {
	case len(st.Strokes) == 0:
		return "it never came into force"
	case slices.ContainsFunc(st.Strokes, func(k fault.Stroke) bool { return len(k.Hit) > 0 }):
		return "nothing went over what it was in force for"
	case len(lanes) == 0:
		return "it found no connection: there is none"
	}
	var names []string
	for _, h := range lanes[:min(len(lanes), mostNamed)] {
		names = append(names, h.String())
	}
	if n := len(lanes) - len(names); n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	return "it found none of what there is: " + strings.Join(names, ", ")
}

// carry has the rules do what is due, tells how far they are, and returns why they did not come to their end.
func (s *Server) carry(c net.Conn, b fault.Batch, gone <-chan struct{}) error {
	due := time.NewTimer(0)
	defer due.Stop()
	tell := time.NewTicker(tellEvery)
	defer tell.Stop()
	for !s.h.Faults.Ended(b) {
		select {
		case <-due.C:
			s.h.Faults.Advance()
			due.Reset(time.Millisecond)
		case <-tell.C:
			if s.say(c, s.report(b, false)) != nil {
				return errAbandoned
			}
		case <-gone:
			return errAbandoned
		case <-s.quit:
			return nil
		}
	}
	return nil
}

func (s *Server) report(b fault.Batch, over bool) Reply {
	r := Reply{Over: over}
	for _, st := range s.h.Faults.Given(b) {
		r.Rules = append(r.Rules, ruleOf(st))
	}
	return r
}
