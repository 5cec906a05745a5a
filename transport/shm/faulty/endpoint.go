package faulty

import (
	"slices"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/transport"
)

// endpoint stands in front of one of shm, and in front of its sink.
type endpoint struct {
	transport.Endpoint
	f    *iface
	pipe *fault.Pipe
	sink transport.Sink

	knew   uint64 // how far the peer had come
	works  bool   // it was seen to
	over   bool   // nothing may be posted any more
	closed bool   // by its owner
}

func (e *endpoint) ends() ends { return ends{e.Local(), e.Remote()} }

// Post implements transport.Endpoint.
func (e *endpoint) Post(f *transport.Frame) transport.Status {
	if f.Class == transport.Data && !e.over && !e.pipe.May() {
		if !slices.Contains(e.f.starved, e) {
			e.f.starved = append(e.f.starved, e)
		}
		return transport.NoResource
	}
	size := f.Len()
	s := e.Endpoint.Post(f)
	if s == transport.Done || s == transport.Pending {
		e.pipe.Passed(true, size)
		e.pipe.Wrote()
	}
	return s
}

// Borrow implements transport.Borrower.
func (e *endpoint) Borrow(key transport.MemKey) *transport.Window {
	if b, ok := e.Endpoint.(transport.Borrower); ok && !e.over {
		return b.Borrow(key)
	}
	return nil
}

// room tells of it, if somebody still waits.
func (e *endpoint) room() int {
	if e.over {
		return 0
	}
	e.sink.Room()
	return 1
}

// Reached implements transport.Endpoint: who hears nothing of the peer does not see either how far he reads.
func (e *endpoint) Reached() uint64 {
	if e.pipe.Held(false).Rx {
		return e.knew
	}
	e.knew = e.Endpoint.Reached()
	return e.knew
}

// Quiesce implements transport.Endpoint.
func (e *endpoint) Quiesce() {
	e.over = true
	e.Endpoint.Quiesce()
	e.pipe.Given()
}

// Cancel implements transport.Endpoint.
func (e *endpoint) Cancel(err error) {
	e.over = true
	e.Endpoint.Cancel(err)
}

// Close implements transport.Endpoint.
func (e *endpoint) Close() {
	if e.closed {
		return
	}
	e.over, e.closed = true, true
	if !e.pipe.Buried() {
		e.exhume()
		return
	}
	e.Endpoint.Quiesce()
	e.Endpoint.Cancel(transport.ErrClosed)
	e.pipe.Close()
	e.f.graves = append(e.f.graves, e)
}

// exhume closes what is below.
func (e *endpoint) exhume() {
	e.forget()
	e.Endpoint.Close()
}

// forget takes it off the books.
func (e *endpoint) forget() {
	e.pipe.Close()
	delete(e.f.eps, e.ends())
}

// stands notes that the connection works.
func (e *endpoint) stands() {
	if !e.works {
		e.works = true
		e.pipe.Stands()
	}
}

// Connected implements transport.Sink.
func (e *endpoint) Connected() {
	e.stands()
	e.sink.Connected()
}

// Place implements transport.Sink.
func (e *endpoint) Place(id uint8, head []byte, size int) []byte {
	return e.sink.Place(id, head, size)
}

// Frame implements transport.Sink.
func (e *endpoint) Frame(in *transport.Incoming) {
	if e.closed {
		return
	}
	e.stands()
	e.pipe.Passed(false, len(in.Head)+len(in.Payload))
	e.sink.Frame(in)
}

// Room implements transport.Sink.
func (e *endpoint) Room() {
	if !e.closed {
		e.sink.Room()
	}
}

// OnError implements transport.Sink.
func (e *endpoint) OnError(err error) transport.Decision {
	e.over = true
	if e.closed {
		return transport.Complete
	}
	return e.sink.OnError(err)
}
