package transfer

import (
	"fmt"
	"io"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/internal/files"
	"github.com/openbraid/braid/internal/live"
)

// show is what people see of a transfer while it runs.
type show struct {
	w      io.Writer   // for people
	lines  chan string // of events, on their way to w: an event must not wait for who reads
	screen *live.Screen
	quiet  bool
	begun  time.Time
	last   files.Status
	lastAt time.Duration
}

func newShow(w shell.World, c *Send) *show {
	s := &show{w: w.ErrOut, quiet: c.Quiet, begun: time.Now(), lines: make(chan string, 100)}
	if !c.Plain && !c.Quiet {
		if s.screen = live.New(w.ErrOut.File); s.screen != nil {
			s.w = s.screen
		}
	}
	return s
}

// looksLong is how long a look at what is to be sent may take until people are told that it goes on.
const looksLong = time.Second

// looks says so once if the look takes that long. done ends it.
func (s *show) looks(long time.Duration) (done func() bool) {
	if s.quiet {
		return func() bool { return false }
	}
	return time.AfterFunc(long, func() {
		fmt.Fprintf(s.w, "%6.2f s   looking at what is to be sent; it begins when all of it is listed\n", time.Since(s.begun).Seconds())
	}).Stop
}

// showSkipped is how many things that are not sent are named.
const showSkipped = 10

func (s *show) skipped(x *files.Sender) {
	for i, k := range x.Skipped() {
		if i == showSkipped {
			fmt.Fprintf(s.w, "braid: warning: and %d more are not sent\n", len(x.Skipped())-i)
			return
		}
		fmt.Fprintf(s.w, "braid: warning: %s is %s, and not sent\n", files.Printable(k.Path), k.Why)
	}
}

// event is told of lanes. It prints those that people want to know of.
func (s *show) event(e braid.Event) {
	text := ""
	switch e.Kind {
	case braid.LaneDown:
		text = fmt.Sprintf("DOWN %s: %v", e.Lane, e.Err)
	case braid.HandedOver:
		text = fmt.Sprintf("OVER %s: what it still had is there, %s were posted again", e.Lane, live.Size(e.Replayed))
	case braid.LaneUp:
		text = "UP   " + e.Lane
	case braid.LaneGivenUp:
		text = fmt.Sprintf("GONE %s: not dialed any more, as the setting redial-for says: %v", e.Lane, e.Err)
	case braid.Suspended:
		text = "WAIT no lane is left: waiting for one to come back, as long as the setting suspended says"
	case braid.Resumed:
		text = "ON   a lane is back: going on where it was"
	case braid.Failed, braid.TurnedAway: // the error says it; and nobody dials a sender
	}
	if text != "" && !s.quiet {
		select {
		case s.lines <- fmt.Sprintf("%6.2f s   %s\n", time.Since(s.begun).Seconds(), text):
		default: // nobody reads
		}
	}
}

const (
	pictureEvery = 100 * time.Millisecond
	lineEvery    = time.Second
)

// follow shows how far it is until stop is called, which takes the picture away.
func (s *show) follow(x *files.Sender) (stop func()) {
	if s.quiet {
		return func() {}
	}
	every := lineEvery
	if s.screen != nil {
		every = pictureEvery
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-end:
				for len(s.lines) > 0 {
					fmt.Fprint(s.w, <-s.lines)
				}
				return
			case line := <-s.lines:
				fmt.Fprint(s.w, line)
			case <-t.C:
				s.look(x.Status(), time.Since(s.begun))
			}
		}
	}()
	return func() {
		close(end)
		<-ended
		if s.screen != nil {
			s.screen.Close()
		}
	}
}

func (s *show) look(st files.Status, at time.Duration) {
	if s.screen != nil {
		f := live.Frame{At: at, Done: st.Bytes, Total: st.Total, Unit: "arrived", Note: st.Now}
		for _, l := range st.Lanes {
			f.Lanes = append(f.Lanes, live.Lane{Name: l.Name, State: l.State, Bytes: l.Bytes})
		}
		s.screen.Show(f)
		return
	}
	d := (at - s.lastAt).Seconds()
	text := fmt.Sprintf("%6.2f s   %s", at.Seconds(), live.Size(st.Bytes))
	if st.Total > 0 {
		text += fmt.Sprintf(" of %s, %d %%", live.Size(st.Total), st.Bytes*100/st.Total)
	}
	for _, l := range st.Lanes {
		was := uint64(0)
		for _, k := range s.last.Lanes {
			if k.Name == l.Name {
				was = k.Bytes
			}
		}
		rate := live.Rate(float64(l.Bytes-min(was, l.Bytes)) / d / 1e6)
		if l.State != "up" {
			rate = l.State
		}
		text += fmt.Sprintf("   %s %s", l.Name, rate)
	}
	fmt.Fprintln(s.w, text)
	s.last, s.lastAt = st, at
}
