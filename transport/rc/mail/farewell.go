package mail

import (
	"slices"
	"time"

	"github.com/openbraid/braid/internal/timer"
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport/rc/wire"
)

const (
	// SayAgain is when a datagram that has no answer is sent again first; it doubles.
	SayAgain = 10 * time.Millisecond
	// farewellTimes: who does not hear of an end finds out when he sends.
	farewellTimes = 4
)

// Farewells tell peers that connections have ended, each until its peer says that it knows, or has been told often enough.
type Farewells struct {
	Timers *timer.Set
	Now    func() time.Duration
	Tell   func(to rdma.AHAttr, m *wire.Message)
	list   []*farewell
}

type farewell struct {
	all   *Farewells
	to    rdma.AHAttr
	msg   wire.Message
	times int
	timer *timer.Timer
}

// Say begins one.
func (f *Farewells) Say(to rdma.AHAttr, m wire.Message) {
	w := &farewell{all: f, to: to, msg: m}
	w.timer = timer.New(w.again)
	f.list = append(f.list, w)
	w.again()
}

// again is the timer.
func (w *farewell) again() {
	f := w.all
	if w.times == farewellTimes {
		f.end(func(o *farewell) bool { return o == w })
		return
	}
	f.Timers.Set(w.timer, f.Now()+SayAgain<<w.times)
	w.times++
	f.Tell(w.to, &w.msg)
}

// Heard ends the one that a message answers.
func (f *Farewells) Heard(m *wire.Message, from rdma.AHAttr) {
	f.end(func(w *farewell) bool { return w.msg.Conn == m.Conn && w.msg.Dialer != m.Dialer && w.to == from })
}

// Len is how many are not answered yet.
func (f *Farewells) Len() int { return len(f.list) }

// Stop ends all: nothing is said any more.
func (f *Farewells) Stop() { f.end(func(*farewell) bool { return true }) }

func (f *Farewells) end(which func(*farewell) bool) {
	f.list = slices.DeleteFunc(f.list, func(w *farewell) bool {
		if which(w) {
			f.Timers.Stop(w.timer)
			return true
		}
		return false
	})
}
