package poll

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Poller is an epoll instance, level-triggered.
type Poller struct {
	fd     int
	events [most]unix.EpollEvent
	fired  [most]Ready
}

// Open makes the zero value usable.
func (p *Poller) Open() (err error) {
	p.fd, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	return err
}

// FD is the poller's own descriptor.
func (p *Poller) FD() int { return p.fd }

// Close gives it back.
func (p *Poller) Close() error { return unix.Close(p.fd) }

// Set changes what fd is watched for.
func (p *Poller) Set(fd int, was, want Interest) error {
	op := unix.EPOLL_CTL_MOD
	if was == None {
		op = unix.EPOLL_CTL_ADD
	} else if want == None {
		op = unix.EPOLL_CTL_DEL
	}
	ev := unix.EpollEvent{Fd: int32(fd)}
	if want&Readable != 0 {
		ev.Events |= unix.EPOLLIN
	}
	if want&Writable != 0 {
		ev.Events |= unix.EPOLLOUT
	}
	return unix.EpollCtl(p.fd, op, fd, &ev)
}

// Poll asks without waiting.
func (p *Poller) Poll() []Ready {
	n, _, e := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd), uintptr(unsafe.Pointer(&p.events[0])), most, 0, 0, 0)
	if e != 0 {
		return nil
	}
	for i := range p.events[:n] {
		ev := &p.events[i]
		f := Ready{FD: int(ev.Fd)}
		if ev.Events&(unix.EPOLLIN|unix.EPOLLERR|unix.EPOLLHUP) != 0 {
			f.What |= Readable
		}
		if ev.Events&(unix.EPOLLOUT|unix.EPOLLERR|unix.EPOLLHUP) != 0 {
			f.What |= Writable
		}
		p.fired[i] = f
	}
	return p.fired[:n]
}
