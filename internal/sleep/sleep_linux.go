package sleep

import (
	"time"

	"golang.org/x/sys/unix"
)

// Sleeper is a set of descriptors, a bell and an alarm clock.
type Sleeper struct {
	bell
	set   int // epoll of the descriptors, the bell and the alarm
	alarm int // timerfd
	armed bool
	one   [1]unix.EpollEvent
}

// New makes a sleeper on the given descriptors, which stay the caller's.
func New(fds []int) (*Sleeper, error) {
	s := &Sleeper{set: -1, alarm: -1}
	if err := s.open(); err != nil {
		return nil, err
	}
	var err error
	if s.set, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err == nil {
		s.alarm, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	}
	for _, fd := range append([]int{s.r, s.alarm}, fds...) {
		if err == nil {
			err = unix.EpollCtl(s.set, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
		}
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Wait sleeps until something of the picture happens. A negative timeout is none. An alarm that Arm set is off then: one
// that has gone off would wake each Wait. Whom the caller has woken runs first.
func (s *Sleeper) Wait(timeout time.Duration) {
	s.setAlarm(-1)
	unix.EpollWait(s.set, s.one[:], handOver(timeout))
	s.answer()
}

// FD is one descriptor that is readable when Wait would not sleep, once Arm has said true.
func (s *Sleeper) FD() int { return s.set }

// Arm prepares FD: it will also become readable after a time; negative: never. False means that there is a reason already, and
// that somebody's Wake is answered by that.
func (s *Sleeper) Arm(after time.Duration) bool {
	if s.answer() {
		return false
	}
	s.setAlarm(after)
	n, _ := unix.EpollWait(s.set, s.one[:], 0)
	return n <= 0
}

func (s *Sleeper) setAlarm(after time.Duration) {
	if after < 0 && !s.armed {
		return
	}
	var t unix.ItimerSpec
	if after >= 0 {
		t.Value = unix.NsecToTimespec(max(1, after.Nanoseconds()))
	}
	s.armed = after >= 0
	unix.TimerfdSettime(s.alarm, 0, &t, nil)
}

// Wake makes the present or the next Wait return.
func (s *Sleeper) Wake() { s.ring() }

// Close gives everything back. No Wait or Wake may be under way.
func (s *Sleeper) Close() {
	s.close()
	for _, fd := range []int{s.set, s.alarm} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

// Yield lets others have the processor, on this thread and without the scheduler of the language: 10 µs less on a locked thread.
func Yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
