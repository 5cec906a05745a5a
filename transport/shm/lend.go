//go:build linux

package shm

import (
	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm/ring"
	"github.com/openbraid/braid/transport/shm/segment"
)

// Export implements transport.Lender.
func (s *shm) Export(size int) (transport.Export, error) {
	x, err := s.desk.Export(size)
	if err != nil {
		return nil, newError(Error{Op: "alloc", Err: err})
	}
	return x, nil
}

// Borrow implements transport.Borrower.
func (ep *endpoint) Borrow(key transport.MemKey) *transport.Window {
	w, known := ep.borrowed.Find(key)
	if known || ep.state != up || !ep.lim.data || !ep.writes() || ep.fault != Sound {
		return w
	}
	if ep.borrowed.Ask(key) {
		ep.f.turn.expected++
		ep.sayOwn(flagAsk, key[:])
	}
	return nil
}

// expects counts what the socket is to bring, after something that may have changed it.
func (ep *endpoint) expects(before int) { ep.f.turn.expected += ep.borrowed.Waiting() - before }

// sayOwn puts a control frame of the transport's own in line.
func (ep *endpoint) sayOwn(flag uint8, body []byte) { ep.say(own(flag, body), nil, body) }

// own is the header of such a frame.
func own(flag uint8, body []byte) ring.Header {
	return ring.Header{Flags: flagControl | flag, Size: uint32(len(body))}
}

// asked answers a peer who wants to borrow. What can't be lent is recalled at once.
func (ep *endpoint) asked(key transport.MemKey) error {
	what, sent := ep.lent.Sent(key)
	if s, ok := ep.sink.(transport.Loaner); ok && !sent {
		what = s.Lend(key)
	}
	ok, err := ep.lent.Ask(ep.f.desk, ep.fd, what, key)
	if err == nil && !ok {
		ep.sayOwn(flagRecall, key[:])
	}
	return err
}

// recalled gives back what the peer wants.
func (ep *endpoint) recalled(key transport.MemKey) error {
	defer ep.expects(ep.borrowed.Waiting())
	return ep.borrowed.Recalled(key)
}

// own takes what the transports say to each other: an acknowledgement, or something about memory that is lent or read.
func (ep *endpoint) own(h ring.Header, body []byte) {
	var key transport.MemKey
	what := key[:copy(key[:], body)]
	ep.done()
	ep.hear(h)
	if ep.state != up {
		return
	}
	var err error
	switch h.Flags & flagsOwn {
	case flagAsk:
		err = ep.asked(key)
	case flagRecall:
		err = ep.recalled(key)
	case flagReads:
		err = ep.reads(what)
	case flagResume:
		err = ep.resumed(what)
	}
	if err != nil {
		ep.broke(ep.wrap("connection", err))
	}
}

// owns says whether a frame of id 0 can be.
func (ep *endpoint) owns(h ring.Header) bool {
	if h.Flags&flagControl == 0 || h.Head != 0 {
		return false
	}
	switch h.Flags & flagsOwn {
	case 0:
		return h.Size == 0
	case flagReads:
		return h.Size == 0 || (h.Size == 8 || h.Size == uint32(len(transport.MemKey{}))) && ep.lim.data
	case flagResume:
		return (h.Size == 0 || h.Size == uint32(len(transport.MemKey{}))) && ep.lim.data
	case flagAsk, flagRecall:
		return h.Size == uint32(len(transport.MemKey{})) && ep.lim.data
	}
	return false
}

// listen takes what the socket says: bells, and memory that was asked for. gone: the peer has ended the connection.
func (ep *endpoint) listen() (gone bool, err error) {
	defer ep.expects(ep.borrowed.Waiting())
	for ep.borrowed.Waiting() > 0 {
		n, fd, cut, err := segment.Receive(ep.fd, ep.f.message[:])
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return false, nil
		case err != nil || n == 0 && fd < 0:
			return true, nil
		case n == 1 && fd < 0: // a bell
		default:
			if cut {
				n = 0
			}
			key, sent, err := ep.borrowed.Here(ep.f.message[:n], fd)
			if err != nil {
				return false, err
			}
			if sent {
				ep.sayOwn(flagResume, key[:])
			}
		}
	}
	return segment.Drain(ep.fd), nil
}

// endLoans ends the use of what was lent and borrowed, before the connection does.
func (ep *endpoint) endLoans() {
	defer ep.expects(ep.borrowed.Waiting())
	ep.lent.Shut(ep.f.desk)
	ep.borrowed.GiveBack()
}

// tidy has peers give back what was revoked, and looks after those that are gone.
func (f *iface) tidy() {
	if news := f.desk.News(); news != f.news {
		f.news = news
		for i := 0; i < len(f.eps); i++ {
			if ep := f.eps[i]; ep.writes() {
				for _, key := range ep.lent.Revoked(f.desk) {
					ep.sayOwn(flagRecall, key[:])
				}
			}
		}
	}
	f.desk.Reap(false)
}
