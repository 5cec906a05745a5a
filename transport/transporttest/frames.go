package transporttest

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"github.com/openbraid/braid/transport"
)

// frameCases: what a frame may be, and that it arrives as it was.
var frameCases = []testCase{
	{"attr", testAttr},
	{"sizes", testSizes},
	{"too long panics", testTooLong},
	{"order over mixed sizes", testOrder},
	{"both directions under load", testLoad},
	{"control", testControl},
	{"zero-copy", testZeroCopy},
	{"zero-copy without retention", testZeroCopyLetGo},
	{"detach", testDetach},
	{"place", testPlace},
	{"unplace", testUnplace},
	{"buffer retain", testBuffer},
	{"post from callbacks", testPostInCallbacks},
}

func testAttr(w *world) {
	for _, i := range []transport.Iface{w.Client, w.Server} {
		a := i.Attr()
		if a.Name == "" || a.MaxHead < headLen || a.MaxFrame < transport.HelloMax || a.MaxHead > a.MaxFrame {
			w.Errorf("%+v: a name, MaxHead of at least %d, MaxFrame of at least HelloMax", a, headLen)
		}
		if a != i.Attr() {
			w.Errorf("Attr changes")
		}
	}
}

func testSizes(w *world) {
	client, server := w.connect(setup{})
	limit := w.Client.Attr().MaxFrame - headLen
	for _, n := range []int{0, 1, 2, 7, 8, 255, 256, 1023, 4096, limit - 1, limit} {
		for _, zero := range []bool{false, true} {
			client.mustPost(shape{size: n, zero: zero})
			server.mustPost(shape{size: n, zero: zero})
			w.until(fmt.Sprintf("a frame of %d bytes, zero-copy %v", n, zero), func() bool { return client.idle() && server.idle() })
		}
	}
}

// panics says whether f panics with ErrFrame.
func panics(f func()) (with any) {
	defer func() { with = recover() }()
	f()
	return nil
}

func (w *world) mustPanic(what string, f func()) {
	w.Helper()
	err, _ := panics(f).(error)
	if !errors.Is(err, transport.ErrFrame) {
		w.Errorf("%s: must panic with ErrFrame, got %v", what, err)
	}
}

func testTooLong(w *world) {
	client, server := w.connect(setup{})
	a := w.Client.Attr()
	post := func(class transport.Class, head, payload int) func() {
		f := &transport.Frame{ID: 1, Class: class, Head: make([]byte, head), Payload: make([]byte, payload)}
		if class == transport.Data {
			f.Done = client.book
		}
		return func() { client.ep.Post(f) }
	}
	w.mustPanic("max+1", post(transport.Data, 1, a.MaxFrame))
	w.mustPanic("control, max+1", post(transport.Control, 1, a.MaxFrame))
	w.mustPanic("head, max+1", post(transport.Data, a.MaxHead+1, 0))
	w.mustPanic("control head, max+1", post(transport.Control, a.MaxHead+1, 0))

	// the endpoint is as it was
	client.mustPost(shape{size: 10})
	w.until("the frame after the panics", func() bool { return client.idle() && server.got == 1 })

	// the limit is what Admit says, not only what the transport can
	client2, server2 := w.connect(setup{noAdmit: true})
	client2.ep.Admit(2000, true)
	server2.ep.Admit(2000, true)
	client = client2
	w.mustPanic("above Admit's limit", post(transport.Data, 8, 1993))
	client2.mustPost(shape{size: 1992})
	w.until("a frame of Admit's limit", client2.idle)
}

func testOrder(w *world) {
	client, _ := w.connect(setup{})
	limit := w.Client.Attr().MaxFrame - headLen
	for i := range 300 {
		n := []int{0, 1, 100, 1000, 5000, 20000}[i*7%6]
		client.mustPost(shape{size: min(n, limit), zero: i%3 == 0, ackNow: i%17 == 0})
		if i%5 == 0 {
			w.turn()
		}
	}
	w.until("everything acknowledged", client.idle)
}

func testLoad(w *world) {
	client, server := w.connect(setup{window: 64 << 10})
	const frames = 1500
	limit := w.Client.Attr().MaxFrame - headLen
	size := func(i uint64) int { return min(int(i*i*37%3000), limit) }
	feed := func(s *side) {
		for s.book.posted < frames {
			i := s.book.posted
			if s.post(shape{size: size(i), zero: i%2 == 0}) == transport.NoResource {
				return
			}
		}
	}
	client.onRoom = func() { feed(client) }
	server.onRoom = func() { feed(server) }
	feed(client)
	feed(server)
	w.until("both directions done", func() bool {
		return client.book.executed == frames && server.book.executed == frames
	})
	if client.got != frames || server.got != frames {
		w.Errorf("taken: %d and %d of %d", client.got, server.got, frames)
	}
}

func testControl(w *world) {
	client, server := w.connect(setup{})
	limit := w.Client.Attr().MaxFrame - 2
	sizes := []int{0, 1, 100, 1000, limit}
	for i, n := range sizes {
		w.until("room for control", func() bool { return client.control(fill(uint64(i), make([]byte, n))) == transport.Done })
		client.mustPost(shape{size: 3})
	}
	w.until("control frames", func() bool { return len(server.controls) == len(sizes) && client.idle() })
	for i, c := range server.controls {
		if len(c) != sizes[i] || badByte(uint64(i), c) >= 0 {
			w.Errorf("control frame %d: %d bytes of %d, or wrong content", i, len(c), sizes[i])
		}
	}
	if c := client.ep.Counts(); c.Posted != uint64(len(sizes)) {
		w.Errorf("control frames must not count: %+v", c)
	}
}

func testZeroCopy(w *world) {
	client, server := w.connect(setup{})
	limit := w.Client.Attr().MaxFrame - headLen
	var pending int
	each := fewer(8, 2)
	client.book.onSent = func(tag uint64) { clear(client.book.frames[tag].payload) } // the poster's again
	for _, n := range []int{1, 64, 4096, limit} {
		for range each {
			client.mustPost(shape{size: n, zero: true})
			if client.book.frames[client.book.posted-1].pending {
				pending++
				if client.book.frames[client.book.posted-1].sent > 0 {
					w.Errorf("Sent before the frame could have been acknowledged")
				}
			}
		}
	}
	w.until("zero-copy frames", func() bool { return client.idle() })
	if t := w.Client.Attr().ZeroCopy; t > 0 && t <= limit && pending == 0 {
		w.Errorf("Attr.ZeroCopy is %d, but no Post said Pending", t)
	}
	if server.got != client.book.posted {
		w.Errorf("%d of %d taken", server.got, client.book.posted)
	}
}

// fewer is how many of what is slow under the race detector: through a small buffer a MiB takes many turns.
func fewer(n, short int) int {
	if testing.Short() {
		return short
	}
	return n
}

func testZeroCopyLetGo(w *world) {
	client, server := w.connect(setup{letGo: true})
	limit := w.Client.Attr().MaxFrame - headLen
	sent := 0
	client.book.onSent = func(tag uint64) { clear(client.book.frames[tag].payload); sent++ }
	pending := 0
	for range 4 { // the system takes a little even while the peer stands still
		client.still(1, shape{size: min(limit, 2000), zero: true})
		if client.book.frames[client.book.posted-1].pending {
			pending++
		}
	}
	w.untilOn("Sent without retention, with the peer standing still", func() bool { return sent == pending },
		func() int { return w.progress(w.Client) })
	for i := range 40 {
		client.mustPost(shape{size: min(limit, 1000*i), zero: i%4 != 0})
	}
	w.until("frames without retention", func() bool { return client.idle() && server.got == 44 })
}

func testDetach(w *world) {
	client, server := w.connect(setup{})
	n := min(20000, w.Client.Attr().MaxFrame-headLen)
	other := &book{s: client}
	for range 10 {
		client.mustPost(shape{size: n, zero: true})
	}
	w.progress(w.Client) // some of it may be on its way
	client.ep.Detach(only(other))
	client.ep.Detach(only(client.book))
	for i := range client.book.frames {
		f := &client.book.frames[i]
		if f.sent == 0 {
			f.detached = true
		}
		clear(f.payload) // the poster has it back
	}
	w.until("detached frames", func() bool { return client.idle() && server.got == 10 })
}

func testPlace(w *world) {
	client, server := w.connect(setup{window: 8 << 20})
	var mem [][]byte
	server.onPlace = func(head []byte, size int) []byte {
		if len(head) != headLen {
			w.Errorf("Place: head of %d bytes", len(head))
		}
		if len(mem)%3 == 2 {
			mem = append(mem, nil)
			return nil // the transport's own, this time
		}
		mem = append(mem, make([]byte, size))
		return mem[len(mem)-1]
	}
	server.onFrame = func(in *transport.Incoming) {
		if !in.Placed {
			return
		}
		last := mem[len(mem)-1]
		if last == nil || unsafe.SliceData(last) != unsafe.SliceData(in.Payload) || len(last) != len(in.Payload) {
			w.Errorf("a placed payload must be the memory that Place returned")
		}
	}
	n, frames := w.Client.Attr().MaxFrame-headLen, fewer(12, 4)
	for i := range frames {
		client.mustPost(shape{size: n - i, zero: i%2 == 0})
	}
	w.until("large frames", func() bool { return client.idle() && server.got == uint64(frames) })
	w.Logf("%d of %d frames were asked for, %d placed", len(mem), frames, server.placed)
}

// testUnplace: memory that the sink takes back is not written any more, and the frame comes all the same.
func testUnplace(w *world) {
	client, server := w.connect(setup{window: 8 << 20})
	var mem []byte
	taken := 0
	server.onPlace = func(_ []byte, size int) []byte {
		mem = make([]byte, size)
		return mem
	}
	server.onFrame = func(in *transport.Incoming) {
		if mem != nil && !in.Placed {
			taken++
			for i, b := range mem {
				if b != 0xEE {
					w.Fatalf("byte %d of memory that was taken back is written", i)
				}
			}
		}
		mem = nil
	}
	server.ep.Unplace() // there is nothing to take back
	n := min(w.Client.Attr().MaxFrame-headLen, 200<<10)
	const frames = 5
	for i := range frames {
		client.mustPost(shape{size: n - i, zero: i%2 == 0})
	}
	w.until("large frames", func() bool {
		if mem != nil {
			server.ep.Unplace()
			for i := range mem {
				mem[i] = 0xEE
			}
		}
		return client.idle() && server.got == frames
	})
	w.Logf("%d of %d frames were taken back", taken, frames)
}

func testBuffer(w *world) {
	client, server := w.connect(setup{})
	type kept struct {
		head, payload []byte
		buf           *transport.Buffer
		tag           uint64
	}
	var keep []kept
	server.onFrame = func(in *transport.Incoming) {
		if in.Buf == nil {
			w.Fatalf("Incoming.Buf is nil")
		}
		in.Buf.Retain()
		keep = append(keep, kept{in.Head, in.Payload, in.Buf, server.got - 1})
	}
	for i := range 50 {
		client.mustPost(shape{size: i * 40})
	}
	w.until("frames to keep", client.idle)
	server.onFrame = nil
	for i := range 200 { // would overwrite what is not really kept
		client.mustPost(shape{size: i * 10})
	}
	w.until("frames after them", client.idle)
	for _, k := range keep {
		if badByte(k.tag, k.payload) >= 0 || k.head[0] != byte(k.tag) {
			w.Errorf("frame %d: its buffer was kept, but its bytes changed", k.tag)
		}
	}
	client.close()
	server.close()
	for _, k := range keep { // after Close too
		if badByte(k.tag, k.payload) >= 0 {
			w.Errorf("frame %d: its buffer was kept, but its bytes changed at Close", k.tag)
		}
		k.buf.Release()
	}
}

func testPostInCallbacks(w *world) {
	client, server := w.connect(setup{})
	const rounds = 100
	var echoed int
	server.onFrame = func(in *transport.Incoming) {
		if in.Class == transport.Data {
			server.send(shape{size: 100, zero: true})
		}
		server.control([]byte("seen"))
	}
	client.onFrame = func(in *transport.Incoming) {
		if in.Class == transport.Data && client.book.posted < rounds {
			client.send(shape{size: 50, zero: true})
		}
		if bytes.Equal(in.Payload, []byte("seen")) {
			echoed++
		}
	}
	var again int
	client.book.onExecuted = func(uint64, error) {
		if again++; again == 10 {
			client.control([]byte("from Executed"))
		}
	}
	client.mustPost(shape{size: 50})
	w.until("the ping-pong", func() bool { return client.got == rounds && client.idle() && server.idle() && echoed >= rounds })
}

// only accepts one completer.
func only(done transport.Completer) func(transport.Completer) bool {
	return func(c transport.Completer) bool { return c == done }
}
