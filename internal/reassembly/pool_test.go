package reassembly

import (
	"bytes"
	"testing"
)

// one puts a message of two fragments together.
func one(t *testing.T, tab *Table, id uint64, header []byte, fill byte) *Message {
	t.Helper()
	const size = 10_000
	if _, err := tab.Begin(id, 1, header, size); err != nil {
		t.Fatal(err)
	}
	for _, at := range []uint64{size / 2, 0} {
		room, err := tab.Room(id, at, size/2)
		if err != nil {
			t.Fatal(err)
		}
		for i := range room {
			room[i] = fill
		}
		m, err := tab.Filled(id, at, size/2)
		if err != nil || (m != nil) != (at == 0) {
			t.Fatal(m, err)
		}
		if m != nil {
			return m
		}
	}
	panic("unreachable")
}

// TestUsedAgain: a message is not used again before the last reference is gone, and then with nothing of the one before.
func TestUsedAgain(t *testing.T) {
	tab := Table{Pool: NewPool(64, 1<<20, 1<<20), Limit: 1 << 20}
	kept := one(t, &tab, 1, []byte("header of the first"), 1)
	header, data, buf := kept.Header, kept.Data, kept.Buf
	buf.Retain() // as a handler does that retains the message
	kept.Release()
	for id := uint64(2); id < 10; id++ {
		m := one(t, &tab, id, bytes.Repeat([]byte("x"), int(id)), byte(id))
		if len(m.Header) != int(id) || m.ID != id || m.holds != 0 || m.due != 0 || m.parts || len(m.Buf.Bytes) < len(m.Data) {
			t.Fatalf("%+v", m)
		}
		m.Release()
	}
	if string(header) != "header of the first" || bytes.Count(data, []byte{1}) != len(data) {
		t.Fatal("a retained message has changed")
	}
	buf.Release()
	if m := one(t, &tab, 20, nil, 20); m != kept || len(m.Header) != 0 {
		t.Error("what came back is not the next one to go, or has a header of before")
	}
}

// TestDroppedWhileWritten: of messages that are dropped with their endpoint the next one gets the memory, but not of one that a lane still writes into.
func TestDroppedWhileWritten(t *testing.T) {
	for _, written := range []bool{false, true} {
		tab := Table{Pool: NewPool(64, 1<<20, 1<<20), Limit: 1 << 20}
		if _, err := tab.Begin(1, 1, nil, 10_000); err != nil {
			t.Fatal(err)
		}
		room, m, err := tab.Place(1, 0, 5000)
		if err != nil {
			t.Fatal(err)
		}
		if !written {
			m.Unplace()
		}
		tab.Drop()
		next, err := tab.Begin(2, 1, nil, 10_000)
		if err != nil || tab.Held() != 10_000 {
			t.Fatal(err, tab.Held())
		}
		if same := &next.Data[0] == &room[0]; same == written {
			t.Errorf("written into meanwhile: %v; the next message has the same memory: %v", written, same)
		}
	}
}

// TestNoAllocations: neither of a message of frames in order nor of one that came in parts.
func TestNoAllocations(t *testing.T) {
	tab := Table{Pool: NewPool(64, 1<<20, 1<<20), Limit: 1 << 20}
	header := make([]byte, 64)
	id := uint64(0)
	parts := func() {
		id++
		for _, at := range []uint64{50, 0} {
			if err := tab.Part(id, 100); err != nil {
				t.Fatal(err)
			}
			if _, err := tab.Filled(id, at, 50); err != nil {
				t.Fatal(err)
			}
		}
		m, err := tab.Close(id, 1, header, 100)
		if err != nil {
			t.Fatal(err)
		}
		m.Release()
	}
	frames := func() { id++; one(t, &tab, id, header, 0).Release() }
	for name, f := range map[string]func(){"frames": frames, "parts": parts} {
		f()
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// TestSpareIsBounded: neither many messages nor large ones stay.
func TestSpareIsBounded(t *testing.T) {
	p := NewPool(64, 1024, 1024)
	var all []*Message
	for range 2 * keepMessages {
		all = append(all, p.get(1))
	}
	all[0].have = make([]span, 0, keepSpans+1)
	all[1].Header = make([]byte, 0, keepHeader+1)
	for _, m := range all[:3] {
		m.Release()
	}
	if n := len(p.spare); n != 1 {
		t.Errorf("%d are kept, 1 is small enough", n)
	}
	for _, m := range all[3:] {
		m.Release()
	}
	if n := len(p.spare); n != keepMessages {
		t.Errorf("%d are kept, %d may be", n, keepMessages)
	}
}
