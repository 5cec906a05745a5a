package tcp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// poller is an epoll instance, level-triggered: its descriptor is the interface's EventFD.
type poller struct {
	fd     int
	events [maxFired]unix.EpollEvent
	fired  [maxFired]fired
}

func (p *poller) open() (err error) {
	p.fd, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	return err
}

func (p *poller) close() error { return unix.Close(p.fd) }

// set changes what fd is watched for.
func (p *poller) set(fd int, was, want interest) error {
	op := unix.EPOLL_CTL_MOD
	if was == none {
		op = unix.EPOLL_CTL_ADD
	} else if want == none {
		op = unix.EPOLL_CTL_DEL
	}
	ev := unix.EpollEvent{Fd: int32(fd)}
	if want&readable != 0 {
		ev.Events |= unix.EPOLLIN
	}
	if want&writable != 0 {
		ev.Events |= unix.EPOLLOUT
	}
	return unix.EpollCtl(p.fd, op, fd, &ev)
}

// poll asks without waiting.
func (p *poller) poll() []fired {
	n, _, e := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd), uintptr(unsafe.Pointer(&p.events[0])), maxFired, 0, 0, 0)
	if e != 0 {
		return nil
	}
	for i := range p.events[:n] {
		ev := &p.events[i]
		f := fired{fd: int(ev.Fd)}
		if ev.Events&(unix.EPOLLIN|unix.EPOLLERR|unix.EPOLLHUP) != 0 {
			f.what |= readable
		}
		if ev.Events&(unix.EPOLLOUT|unix.EPOLLERR|unix.EPOLLHUP) != 0 {
			f.what |= writable
		}
		p.fired[i] = f
	}
	return p.fired[:n]
}
