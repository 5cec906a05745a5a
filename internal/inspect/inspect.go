package inspect

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// Process is one process.
type Process struct {
	PID     int      `json:"pid"`
	Name    string   `json:"name,omitempty"`
	Uptime  float64  `json:"uptime_s"`
	Workers []Worker `json:"workers"`
}

// New is this process, without its workers.
func New(name string, uptime time.Duration) *Process {
	return &Process{PID: os.Getpid(), Name: name, Uptime: uptime.Seconds(), Workers: []Worker{}}
}

// Worker is one worker of it.
type Worker struct {
	Mode string `json:"mode"` // "shared" or "owned"
	// Silent: nobody could look at it for a second, as its owner has made no progress, or somebody has kept its lock.
	Silent    bool       `json:"silent,omitempty"`
	Listeners []Listener `json:"listeners,omitempty"`
	HalfOpen  int        `json:"half_open,omitempty"` // connections that have not said who they are
	Endpoints []Endpoint `json:"endpoints"`
}

// Listener is where it listens.
type Listener struct {
	Addrs []string `json:"addrs"`
}

// Endpoint is one peer.
type Endpoint struct {
	ID       uint64   `json:"id"`
	Side     string   `json:"side"`
	Peer     string   `json:"peer"` // its address
	Name     string   `json:"name,omitempty"`
	State    string   `json:"state"`
	Mode     string   `json:"error_mode"`
	Error    string   `json:"error,omitempty"`
	Lanes    []Lane   `json:"lanes"`
	Exchange []string `json:"exchange,omitempty"` // about lost lanes: who waits for what
	Paths    []Path   `json:"paths,omitempty"`    // of the side that dialed
	Unused   []Unused `json:"unused,omitempty"`   // the same
	Work     Work     `json:"work"`
	Timers   []Timer  `json:"timers,omitempty"`
	Counts   Counts   `json:"counts"`
}

// Lane is one life of a lane.
type Lane struct {
	Path     int     `json:"path"` // of the dialing side; -1 on the other
	Slot     int     `json:"slot"` // the N of a fault's lane=N; -1 where nobody can break it
	Name     string  `json:"name"`
	Instance string  `json:"instance"`
	State    string  `json:"state"`
	Seconds  float64 `json:"since_s"`
	Suspect  bool    `json:"suspect,omitempty"` // silent, and asked
	Order    bool    `json:"order,omitempty"`   // frames with an order promise are on it
	Rate     float64 `json:"rate_bytes_s"`      // that it is thought to carry
	Reason   string  `json:"reason,omitempty"`  // why it is lost
	Fault    string  `json:"fault,omitempty"`   // and whose that looks like: "local port", "remote port", "path", "peer"

	Posted        uint64 `json:"posted"` // frames, ours
	Acked         uint64 `json:"acked"`
	Accepted      uint64 `json:"accepted"` // the peer's: our position
	PostedBytes   uint64 `json:"posted_bytes"`
	AckedBytes    uint64 `json:"acked_bytes"`
	AcceptedBytes uint64 `json:"accepted_bytes"`
}

// Unused is a way to the peer, or a rail, without a lane.
type Unused struct {
	Rail string `json:"rail,omitempty"`
	Path string `json:"path,omitempty"`
	Why  string `json:"why"`
}

// Path is where a lane runs, or should.
type Path struct {
	Path   string  `json:"path"`
	State  string  `json:"state"` // "has a lane, or is tried", "waits to be dialed again", ...
	NextS  float64 `json:"next_s,omitempty"`
	Reason string  `json:"reason,omitempty"`
}

// Work is what is not done yet.
type Work struct {
	Epoch        uint64 `json:"epoch"`  // of fences
	Fenced       uint64 `json:"fenced"` // something waits for the fence of this epoch; 0: nothing does
	Unexecuted   uint64 `json:"unexecuted"`
	Uncovered    uint64 `json:"uncovered"` // issued since the last flush that succeeded
	Replays      int    `json:"replays"`   // frames of lost lanes that are to be posted again
	Ordered      int    `json:"ordered"`   // operations that wait, with an order promise
	Unordered    int    `json:"unordered"`
	WaitingBytes uint64 `json:"waiting_bytes"`
	Flushes      int    `json:"flushes"`
	Gets         int    `json:"gets"`    // asked for, or to be
	Answers      int    `json:"answers"` // to the peer's gets, that wait for room
	Credits      int    `json:"reply_credits"`
	CreditBytes  int64  `json:"message_credit_bytes"` // that may still be sent before the peer has handled some
}

// Timer is something that will happen by itself.
type Timer struct {
	What string  `json:"what"`
	InS  float64 `json:"in_s"`
}

// Timers are what the timers of an endpoint do.
var Timers = [...]string{"the endpoint without a lane ends", "the close is given up", "the dial waits for no more lanes", "lanes are judged"}

// Text is an error's, "" if there is none.
func Text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Counts are an endpoint's counters.
type Counts struct {
	Puts          uint64 `json:"puts"`
	Gets          uint64 `json:"gets"`
	Messages      uint64 `json:"messages"`
	Handovers     uint64 `json:"handovers"`
	LanesUp       uint64 `json:"lanes_up"`
	LanesLost     uint64 `json:"lanes_lost"`
	ReplayedBytes uint64 `json:"replayed_bytes"`
	BadFrames     uint64 `json:"bad_frames"`
}

// Print writes it for people.
func (p *Process) Print(out io.Writer) {
	name := ""
	if p.Name != "" {
		name = " " + p.Name
	}
	fmt.Fprintf(out, "process %d%s, %d workers, up for %.1f s\n", p.PID, name, len(p.Workers), p.Uptime)
	for i := range p.Workers {
		fmt.Fprintf(out, "\nworker %d: ", i)
		p.Workers[i].Print(out)
	}
}

// Print writes it for people.
func (w *Worker) Print(out io.Writer) {
	if w.Silent {
		fmt.Fprintf(out, "%s; it has made no progress for a second, so nothing is known\n", w.Mode)
		return
	}
	fmt.Fprintf(out, "%s, %d endpoints, %d connections half open\n", w.Mode, len(w.Endpoints), w.HalfOpen)
	for _, l := range w.Listeners {
		fmt.Fprintf(out, "  listens on %s\n", strings.Join(l.Addrs, ", "))
	}
	for i := range w.Endpoints {
		w.Endpoints[i].Print(out)
	}
}

// Print writes it for people.
func (e *Endpoint) Print(out io.Writer) {
	name := ""
	if e.Name != "" {
		name = " (" + e.Name + ")"
	}
	fmt.Fprintf(out, "  endpoint %d, %s, to %s%s: %s, error mode %s\n", e.ID, e.Side, e.Peer, name, e.State, e.Mode)
	if e.Error != "" {
		fmt.Fprintf(out, "    error: %s\n", e.Error)
	}
	for _, l := range e.Lanes {
		l.print(out)
	}
	for _, line := range e.Exchange {
		fmt.Fprintf(out, "    exchange: %s\n", line)
	}
	for _, p := range e.Paths {
		fmt.Fprintf(out, "    path %s %s", p.Path, p.State)
		if p.NextS > 0 {
			fmt.Fprintf(out, " for %.3f s", p.NextS)
		}
		if p.Reason != "" {
			fmt.Fprintf(out, ": %s", p.Reason)
		}
		fmt.Fprintln(out)
	}
	for _, u := range e.Unused {
		if slices.ContainsFunc(e.Paths, func(p Path) bool { return u.Rail == "" && p.Path == u.Path && p.Reason == u.Why }) {
			continue // said above
		}
		fmt.Fprintf(out, "    no lane on %s: %s\n", strings.TrimSpace(u.Rail+" "+u.Path), u.Why)
	}
	w := &e.Work
	fmt.Fprintf(out, "    work: %d not executed, %d since the last flush; waiting: %d with an order, %d without, %d bytes; %d replays, %d flushes, %d gets, %d answers\n",
		w.Unexecuted, w.Uncovered, w.Ordered, w.Unordered, w.WaitingBytes, w.Replays, w.Flushes, w.Gets, w.Answers)
	fmt.Fprintf(out, "    epoch %d", w.Epoch)
	if w.Fenced > 0 {
		fmt.Fprintf(out, ", something waits for the fence of %d", w.Fenced)
	}
	fmt.Fprintf(out, "; credits: %d answers, %d bytes of messages\n", w.Credits, w.CreditBytes)
	for _, t := range e.Timers {
		fmt.Fprintf(out, "    timer: %s in %.3f s\n", t.What, t.InS)
	}
	c := &e.Counts
	fmt.Fprintf(out, "    since its beginning: %d puts, %d gets, %d messages; %d lanes up, %d lost, %d handed over, %d bytes replayed, %d bad frames\n",
		c.Puts, c.Gets, c.Messages, c.LanesUp, c.LanesLost, c.Handovers, c.ReplayedBytes, c.BadFrames)
}

func (l *Lane) print(out io.Writer) {
	notes := ""
	if l.Order {
		notes += ", order lane"
	}
	if l.Suspect {
		notes += ", silent and asked"
	}
	if l.Reason != "" {
		notes += ": " + l.Reason
		if l.Fault != "" {
			notes += " (looks like: " + l.Fault + ")"
		}
	}
	slot := "by the peer"
	if l.Path >= 0 {
		slot = fmt.Sprintf("path %d", l.Path)
	}
	if l.Slot >= 0 {
		slot += fmt.Sprintf(", slot %d", l.Slot)
	}
	fmt.Fprintf(out, "    lane %s %s (%s) %s for %.3f s: posted %d, acknowledged %d, accepted %d frames (%d, %d, %d bytes); carries %.0f MB/s%s\n",
		l.Instance, l.Name, slot, l.State, l.Seconds, l.Posted, l.Acked, l.Accepted, l.PostedBytes, l.AckedBytes, l.AcceptedBytes, l.Rate/1e6, notes)
}

// String is Print as text.
func (e Endpoint) String() string {
	var b strings.Builder
	e.Print(&b)
	return b.String()
}
