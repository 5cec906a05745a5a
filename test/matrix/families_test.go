package matrix

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/explain"
)

// family is one kind of operation. do carries one of n bytes, whose bytes are src, calls posted when it is under way, and says what is wrong.
type family struct {
	name       string
	op         explain.Op // whose limits its sizes are next to
	do         func(w *world, src []byte, posted func()) error
	unexpected bool                 // the receiver asks only when it has come
	has        func(n int) bool     // nil: every size
	over       func(self bool) bool // nil: every transport
}

func families() []family {
	word := func(n int) bool { return n == 8 } // of an atomic operation: it has no other size
	apart := func(self bool) bool { return !self }
	return []family{
		{name: "am", op: explain.AM, do: message},
		{name: "am offered", op: explain.Offer, do: offered},
		{name: "am offered in pieces", op: explain.Offer, do: inPieces},
		{name: "tag", op: explain.Tag, do: tagged((*braid.Endpoint).PostTag, false)},
		{name: "tag unexpected", op: explain.Tag, do: tagged((*braid.Endpoint).PostTag, true), unexpected: true},
		{name: "tag sync", op: explain.TagSync, do: tagged((*braid.Endpoint).PostTagSync, false)},
		{name: "tag sync unexpected", op: explain.TagSync, do: tagged((*braid.Endpoint).PostTagSync, true), unexpected: true},
		{name: "stream", op: explain.Stream, do: flow, over: apart},
		{name: "put", op: explain.Put, do: put},
		{name: "put signal", op: explain.Put, do: signal},
		{name: "get", op: explain.Get, do: get},
		{name: "atomic", do: atomic, has: word},
	}
}

// same compares.
func same(got, want []byte) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d bytes came of %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			return fmt.Errorf("byte %d of %d is %#x instead of %#x", i, len(want), got[i], want[i])
		}
	}
	return nil
}

func message(w *world, src []byte, posted func()) error {
	r := w.ep.PostAM(1, nil, src)
	posted()
	if err := r.Wait(w.ctx); err != nil {
		return err
	}
	select {
	case got := <-w.messages:
		return same(got, src)
	case <-w.ctx.Done():
		return fmt.Errorf("the message has not come: %w", w.ctx.Err())
	}
}

// offered goes straight into memory of the handler's.
func offered(w *world, src []byte, posted func()) error {
	return w.offered(src, posted, func(m *braid.Message) {
		buf := make([]byte, m.Size())
		m.PostRecv(buf).Then(func(err error) { w.handled <- came{buf, err} })
	})
}

// inPieces is looked at as it arrives.
func inPieces(w *world, src []byte, posted func()) error {
	return w.offered(src, posted, func(m *braid.Message) {
		got := make([]byte, 0, m.Size())
		for piece, err := range m.Chunks(w.ctx, make([]byte, 1<<20)) {
			if err != nil {
				w.handled <- came{nil, err}
				return
			}
			got = append(got, piece...)
		}
		w.handled <- came{got, nil}
	})
}

// came is what a handler has got.
type came struct {
	data []byte
	err  error
}

func (w *world) offered(src []byte, posted func(), fn func(*braid.Message)) error {
	w.to.HandleOffer(2, fn)
	r := w.ep.PostOfferAM(2, nil, src)
	posted()
	if err := r.Wait(w.ctx); err != nil {
		return err
	}
	select {
	case got := <-w.handled:
		if got.err != nil {
			return got.err
		}
		return same(got.data, src)
	case <-w.ctx.Done():
		return fmt.Errorf("the message has not come: %w", w.ctx.Err())
	}
}

func tagged(post func(*braid.Endpoint, uint64, []byte) braid.Request, unexpected bool) func(*world, []byte, func()) error {
	return func(w *world, src []byte, posted func()) error {
		tag := uint64(len(src)) + 1
		buf := make([]byte, len(src)+1) // the length is the message's
		var want braid.TagRecv
		if !unexpected {
			want = w.to.PostRecvTag(buf, tag, braid.ExactTag)
		}
		r := post(w.ep, tag, src)
		posted()
		if unexpected {
			for _, ok := w.to.ProbeTag(tag, braid.ExactTag); !ok; _, ok = w.to.ProbeTag(tag, braid.ExactTag) {
				if w.ctx.Err() != nil {
					return fmt.Errorf("nothing to be probed: %w", w.ctx.Err())
				}
				time.Sleep(50 * time.Microsecond)
			}
			want = w.to.PostRecvTag(buf, tag, braid.ExactTag)
		}
		info, err := want.Wait(w.ctx)
		if err != nil {
			return err
		}
		if err := r.Wait(w.ctx); err != nil {
			return err
		}
		if info.Tag != tag || info.Len != len(src) {
			return fmt.Errorf("%+v for %d bytes", info, len(src))
		}
		return same(buf[:info.Len], src)
	}
}

func flow(w *world, src []byte, posted func()) error {
	if err := w.in.SetDeadline(time.Now().Add(cellWithin)); err != nil {
		return err
	}
	wrote := make(chan error, 1)
	go func() {
		_, err := w.out.Write(src)
		wrote <- err
	}()
	posted()
	got := make([]byte, len(src))
	if _, err := io.ReadFull(w.in, got); err != nil {
		return err
	}
	if err := <-wrote; err != nil {
		return err
	}
	return same(got, src)
}

// seen orders what this goroutine does with the memory, and what the workers do: both take their locks (docs/memory.md is about processes).
func (w *world) seen() {
	w.from.ProbeTag(0, braid.ExactTag)
	w.to.ProbeTag(0, braid.ExactTag)
}

// place is where puts go and gets come from: behind the word.
const place = 8

func put(w *world, src []byte, posted func()) error {
	there := w.mem.Bytes()[place:][:len(src)]
	clear(there)
	w.seen()
	r := w.ep.PostPut(src, w.key, place)
	posted()
	if err := r.Wait(w.ctx); err != nil {
		return err
	}
	if err := w.ep.Flush(w.ctx); err != nil {
		return err
	}
	w.seen()
	return same(there, src)
}

func signal(w *world, src []byte, posted func()) error {
	there := w.mem.Bytes()[place:][:len(src)]
	clear(there)
	before := w.mem.Load64(0)
	w.seen()
	r := w.ep.PostPutSignal(src, w.key, place, braid.Signal{Key: w.key, Value: 1, Add: true})
	posted()
	for w.mem.Load64(0) == before {
		if w.ctx.Err() != nil {
			return fmt.Errorf("no signal: %w", w.ctx.Err())
		}
		time.Sleep(50 * time.Microsecond)
	}
	if err := same(there, src); err != nil { // at once, and before the flush
		return err
	}
	if err := r.Wait(w.ctx); err != nil {
		return err
	}
	if err := w.ep.Flush(w.ctx); err != nil {
		return err
	}
	if is := w.mem.Load64(0); is != before+1 {
		return fmt.Errorf("the counter went from %d to %d", before, is)
	}
	return nil
}

func get(w *world, src []byte, posted func()) error {
	copy(w.mem.Bytes()[place:], src)
	w.seen()
	dst := bytes.Repeat([]byte{0xee}, len(src))
	r := w.ep.PostGet(dst, w.key, place)
	posted()
	if err := r.Wait(w.ctx); err != nil {
		return err
	}
	return same(dst, src)
}

func atomic(w *world, _ []byte, posted func()) error {
	before := w.mem.Load64(0)
	done := make(chan error, 1)
	var was uint64
	go func() {
		var err error
		was, err = w.ep.Word64(w.key, 0).FetchAdd(w.ctx, 3)
		done <- err
	}()
	posted()
	if err := <-done; err != nil {
		return err
	}
	if is := w.mem.Load64(0); was != before || is != before+3 {
		return fmt.Errorf("%d, then %d; fetched %d", before, is, was)
	}
	return nil
}
