package tcp

import "golang.org/x/sys/unix"

// poller is a kqueue, level-triggered: its descriptor is the interface's EventFD.
type poller struct {
	fd     int
	events [maxFired]unix.Kevent_t
	fired  [maxFired]fired
}

func (p *poller) open() (err error) {
	if p.fd, err = unix.Kqueue(); err == nil {
		unix.CloseOnExec(p.fd)
	}
	return err
}

func (p *poller) close() error { return unix.Close(p.fd) }

// set changes what fd is watched for: a kqueue has one filter for each direction.
func (p *poller) set(fd int, was, want interest) error {
	var changes [2]unix.Kevent_t
	n := 0
	for _, f := range [...]struct {
		bit    interest
		filter int
	}{{readable, unix.EVFILT_READ}, {writable, unix.EVFILT_WRITE}} {
		if was&f.bit == want&f.bit {
			continue
		}
		flags := unix.EV_ADD
		if want&f.bit == 0 {
			flags = unix.EV_DELETE
		}
		unix.SetKevent(&changes[n], fd, f.filter, flags)
		n++
	}
	if n == 0 {
		return nil
	}
	_, err := unix.Kevent(p.fd, changes[:n], nil, nil)
	return err
}

// poll asks without waiting.
func (p *poller) poll() []fired {
	n, err := unix.Kevent(p.fd, nil, p.events[:], &unix.Timespec{})
	if err != nil {
		return nil
	}
	for i := range p.events[:n] {
		ev := &p.events[i]
		f := fired{fd: int(ev.Ident), what: readable}
		if ev.Filter == unix.EVFILT_WRITE {
			f.what = writable
		}
		if ev.Flags&unix.EV_EOF != 0 {
			f.what = readable | writable
		}
		p.fired[i] = f
	}
	return p.fired[:n]
}
