package rc

import "golang.org/x/sys/unix"

// sleeper is one descriptor for those of all devices, which come and go.
type sleeper struct {
	epoll int
	is    bool
}

func (s *sleeper) open() (err error) {
	s.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	s.is = err == nil
	return err
}

func (s *sleeper) fd() int {
	if !s.is {
		return -1
	}
	return s.epoll
}

func (s *sleeper) add(fd int) {
	if s.is && fd >= 0 {
		_ = unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
	}
}

func (s *sleeper) remove(fd int) {
	if s.is && fd >= 0 {
		_ = unix.EpollCtl(s.epoll, unix.EPOLL_CTL_DEL, fd, nil)
	}
}

func (s *sleeper) close() error {
	if !s.is {
		return nil
	}
	s.is = false
	return unix.Close(s.epoll)
}
