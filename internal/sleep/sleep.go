//go:build unix

package sleep

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Sleeper is a set of descriptors and a bell.
type Sleeper struct {
	poll []unix.PollFd // the bell first
	bell [2]int        // read end, write end
	rung atomic.Bool
}

// New makes a sleeper on the given descriptors, which stay the caller's.
func New(fds []int) (*Sleeper, error) {
	s := &Sleeper{}
	if err := unix.Pipe(s.bell[:]); err != nil {
		return nil, err
	}
	for _, fd := range s.bell {
		unix.CloseOnExec(fd)
		if err := unix.SetNonblock(fd, true); err != nil {
			s.Close()
			return nil, err
		}
	}
	for _, fd := range append([]int{s.bell[0]}, fds...) {
		s.poll = append(s.poll, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	return s, nil
}

// Wait sleeps until something of the picture happens. A negative timeout is none.
func (s *Sleeper) Wait(timeout time.Duration) {
	ms := -1
	if timeout >= 0 {
		ms = int((timeout + time.Millisecond - 1) / time.Millisecond)
	}
	n, err := unix.Poll(s.poll, ms)
	if err != nil || n == 0 || s.poll[0].Revents == 0 {
		return
	}
	var b [16]byte
	unix.Read(s.bell[0], b[:])
	s.rung.Store(false) // after the read: a bell rung in between belongs to this Wait, which returns now
}

// Wake makes the present or the next Wait return.
func (s *Sleeper) Wake() {
	if s.rung.Swap(true) {
		return
	}
	unix.Write(s.bell[1], []byte{1})
}

// Close gives the bell back. No Wait or Wake may be under way.
func (s *Sleeper) Close() {
	unix.Close(s.bell[0])
	unix.Close(s.bell[1])
}
