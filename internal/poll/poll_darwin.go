package poll

import "golang.org/x/sys/unix"

// Poller is a kqueue, level-triggered.
type Poller struct {
	fd     int
	events [most]unix.Kevent_t
	fired  [most]Ready
}

// Open makes the zero value usable.
func (p *Poller) Open() (err error) {
	if p.fd, err = unix.Kqueue(); err == nil {
		unix.CloseOnExec(p.fd)
	}
	return err
}

// FD is the poller's own descriptor.
func (p *Poller) FD() int { return p.fd }

// Close gives it back.
func (p *Poller) Close() error { return unix.Close(p.fd) }

// Set changes what fd is watched for: a kqueue has one filter for each direction.
func (p *Poller) Set(fd int, was, want Interest) error {
	var changes [2]unix.Kevent_t
	n := 0
	for _, f := range [...]struct {
		bit    Interest
		filter int
	}{{Readable, unix.EVFILT_READ}, {Writable, unix.EVFILT_WRITE}} {
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

// Poll asks without waiting.
func (p *Poller) Poll() []Ready {
	n, err := unix.Kevent(p.fd, nil, p.events[:], &unix.Timespec{})
	if err != nil {
		return nil
	}
	for i := range p.events[:n] {
		ev := &p.events[i]
		f := Ready{FD: int(ev.Ident), What: Readable}
		if ev.Filter == unix.EVFILT_WRITE {
			f.What = Writable
		}
		if ev.Flags&unix.EV_EOF != 0 {
			f.What = Readable | Writable
		}
		p.fired[i] = f
	}
	return p.fired[:n]
}
