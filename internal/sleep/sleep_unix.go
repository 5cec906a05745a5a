//go:build unix && !linux

package sleep

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Sleeper is a set of descriptors and a bell.
type Sleeper struct {
	bell
	poll []unix.PollFd // the bell first
}

// New makes a sleeper on the given descriptors, which stay the caller's.
func New(fds []int) (*Sleeper, error) {
	s := &Sleeper{}
	if err := s.open(); err != nil {
		return nil, err
	}
	for _, fd := range append([]int{s.r}, fds...) {
		s.poll = append(s.poll, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	return s, nil
}

// Wait sleeps until something of the picture happens. A negative timeout is none. Whom the caller has woken runs first.
func (s *Sleeper) Wait(timeout time.Duration) {
	unix.Poll(s.poll, handOver(timeout))
	s.answer()
}

// FD is -1: there is no one descriptor for all here.
func (s *Sleeper) FD() int { return -1 }

// Arm is for FD.
func (s *Sleeper) Arm(time.Duration) bool { return false }

// Wake makes the present or the next Wait return.
func (s *Sleeper) Wake() { s.ring() }

// Close gives the bell back. No Wait or Wake may be under way.
func (s *Sleeper) Close() { s.close() }

// Yield lets others have the processor.
func Yield() { runtime.Gosched() }
