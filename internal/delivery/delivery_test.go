package delivery

import (
	"bytes"
	"testing"

	"github.com/openbraid/braid/internal/family"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// TestSmallMessagesCost: messages that wait cost what they are counted, however small they are and however few share a buffer.
func TestSmallMessagesCost(t *testing.T) {
	const size, messages = 256 << 10, 1000
	free, kept := 0, 0
	var q Queue
	var seen int
	h := func(m *Message) {
		if !bytes.Equal(m.Header, []byte("head")) || !bytes.Equal(m.Payload, []byte{byte(seen)}) {
			t.Errorf("message %d is %q, %q", seen, m.Header, m.Payload)
		}
		seen++
	}
	for i := range messages {
		b := transport.NewBuffer(size, func(*transport.Buffer) { free++ })
		n := copy(b.Bytes, "head")
		b.Bytes[n] = byte(i)
		q.Message(h, &Message{Header: b.Bytes[:n], Payload: b.Bytes[n : n+1]}, b)
		b.Release()
		if kept = i + 1 - free; kept*size > holdMost {
			t.Fatalf("%d messages of a byte keep %d buffers", i+1, kept)
		}
		if free > 0 {
			clear(b.Bytes) // another one's by now
		}
	}
	if q.Bytes() < messages*wire.MessageCost(0, 0) {
		t.Errorf("%d messages count %d bytes", messages, q.Bytes())
	}
	for calls := q.Take(nil); len(calls) > 0; calls = q.Take(calls[:0]) {
		for i := range calls {
			q.Run(&calls[i])
		}
		q.Finish(calls)
	}
	if seen != messages || free != messages || q.Bytes() != 0 || q.held != 0 {
		t.Errorf("%d handled, %d buffers given back, %d bytes and %d held are left", seen, free, q.Bytes(), q.held)
	}
}

// TestRetainedTwice: who retains a message twice holds it once: one Release gives its buffer back.
func TestRetainedTwice(t *testing.T) {
	var q Queue
	free := 0
	b := transport.NewBuffer(1000, func(*transport.Buffer) { free++ })
	var kept *Message
	q.Message(func(m *Message) { m.Retain(); m.Retain(); kept = m }, &Message{Payload: b.Bytes}, b)
	b.Release()
	calls := q.Take(nil)
	q.Run(&calls[0])
	q.Finish(calls)
	if free != 0 || len(kept.Payload) != 1000 {
		t.Fatal("a message that is retained is gone")
	}
	if kept.Release(); free != 1 {
		t.Errorf("given back %d times", free)
	}
}

// TestLargeMessagesStay: what fills its buffer isn't copied, and many in one buffer count it once.
func TestLargeMessagesStay(t *testing.T) {
	const size = 256 << 10
	var q Queue
	for range 2 * holdMost / size {
		b := transport.NewBuffer(size, func(*transport.Buffer) {})
		q.Message(func(*Message) {}, &Message{Payload: b.Bytes}, b)
		if m := q.calls[len(q.calls)-1].Message; &m.Payload[0] != &b.Bytes[0] {
			t.Fatal("a large message was copied")
		}
	}
	q = Queue{}
	b := transport.NewBuffer(size, func(*transport.Buffer) {})
	for i := range 1000 {
		q.Message(func(*Message) {}, &Message{Payload: b.Bytes[i : i+1]}, b)
	}
	if q.held != size {
		t.Errorf("1000 messages in one buffer hold %d bytes", q.held)
	}
}

// TestHandlers: a program's ids and the library's own are two tables, and a program can't reach the other.
func TestHandlers(t *testing.T) {
	var hs Handlers
	ran := ""
	hs.Handle(family.First-1, func(*Message) { ran += "program " })
	hs.Own(family.Stream, func(*Message) { ran += "own" })
	for _, id := range []uint16{0, family.First - 2, family.First, family.Stream + 1, 1<<16 - 1} {
		if hs.Of(id) != nil {
			t.Errorf("somebody handles %d", id)
		}
	}
	hs.Of(family.First - 1)(nil)
	hs.Of(family.Stream)(nil)
	if ran != "program own" {
		t.Errorf("%q ran", ran)
	}
	defer func() {
		if recover() == nil {
			t.Error("a program handles an id of the library's own")
		}
	}()
	hs.Handle(family.First, nil)
}
