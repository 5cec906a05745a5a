package reassembly

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

func TestAnyOrderOfFragmentsGivesTheMessageOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "message")
		cuts := rapid.SliceOfN(rapid.IntRange(0, len(want)), 0, 8).Draw(t, "cuts")
		at := map[int]bool{0: true, len(want): true}
		for _, c := range cuts {
			at[c] = true
		}
		var parts []span
		from := 0
		for i := 1; i <= len(want); i++ {
			if at[i] {
				parts = append(parts, span{uint64(from), uint64(i)})
				from = i
			}
		}
		tab := Table{Pool: NewPool(64, 1<<20, 1<<20), Limit: 1000}
		if _, err := tab.Begin(5, 1, []byte("h"), uint64(len(want))); err != nil {
			t.Fatal(err)
		}
		order := rapid.Permutation(parts).Draw(t, "order")
		for i, p := range order {
			room, err := tab.Room(5, p.from, p.to-p.from)
			if err != nil {
				t.Fatal(err)
			}
			copy(room, want[p.from:p.to])
			m, err := tab.Filled(5, p.from, p.to-p.from)
			if err != nil {
				t.Fatal(err)
			}
			last := i == len(order)-1
			if (m != nil) != last {
				t.Fatalf("part %d of %d: whole=%v", i+1, len(order), m != nil)
			}
			if last {
				if !bytes.Equal(m.Data, want) || tab.Held() != 0 || tab.Open() != 0 {
					t.Fatal("message differs, or something is still held")
				}
				continue
			}
			if _, err := tab.Filled(5, p.from, p.to-p.from); !errors.Is(err, ErrFragment) {
				t.Fatalf("a fragment that came twice: %v", err)
			}
		}
	})
}

func TestPartsWaitForTheirClose(t *testing.T) {
	tab := Table{Pool: NewPool(64, 1<<20, 1<<20), Limit: 100}
	for _, part := range []uint64{5, 0} {
		if err := tab.Part(9, 10); err != nil {
			t.Fatal(err)
		}
		if _, err := tab.Close(9, 1, nil, 10); !errors.Is(err, ErrFragment) {
			t.Fatal("closed before it is whole:", err)
		}
		room, err := tab.Room(9, part, 5)
		if err != nil {
			t.Fatal(err)
		}
		copy(room, "abcdefghij"[part:])
		if m, err := tab.Filled(9, part, 5); m != nil || err != nil {
			t.Fatal(m, err)
		}
	}
	if err := tab.Part(9, 11); !errors.Is(err, ErrFragment) {
		t.Fatal("another total:", err)
	}
	if _, err := tab.Close(9, 1, nil, 11); !errors.Is(err, ErrFragment) {
		t.Fatal("closed with another total:", err)
	}
	m, err := tab.Close(9, 3, []byte("h"), 10)
	if err != nil || m.AM != 3 || string(m.Header) != "h" || string(m.Data) != "abcdefghij" || tab.Held() != 0 || tab.Open() != 0 {
		t.Fatal(m, err)
	}
	if _, err := tab.Close(9, 3, nil, 10); !errors.Is(err, ErrFragment) {
		t.Fatal("closed twice:", err)
	}
}

func TestBadFragments(t *testing.T) {
	tab := Table{Pool: NewPool(64, 1<<20, 1<<20), Limit: 100}
	if _, err := tab.Begin(1, 1, nil, 101); !errors.Is(err, ErrLimit) {
		t.Fatal(err)
	}
	if _, err := tab.Begin(1, 1, nil, 60); err != nil {
		t.Fatal(err)
	}
	if _, err := tab.Begin(1, 1, nil, 10); !errors.Is(err, ErrFragment) {
		t.Fatal("second message with one id", err)
	}
	if _, err := tab.Begin(2, 1, nil, 41); !errors.Is(err, ErrLimit) {
		t.Fatal("limit counts all messages", err)
	}
	for _, c := range []struct{ id, offset, size uint64 }{{2, 0, 1}, {1, 60, 1}, {1, 59, 2}, {1, 1, ^uint64(0)}, {1, ^uint64(0), 1}, {1, ^uint64(0), 2}} {
		if _, err := tab.Room(c.id, c.offset, c.size); !errors.Is(err, ErrFragment) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestNotDeliveredWhileWritten: somebody who still writes into a message keeps it from being delivered, as an error that
// changes nothing.
func TestNotDeliveredWhileWritten(t *testing.T) {
	tab := Table{Pool: NewPool(64, 1<<20, 1<<20), Limit: 1 << 20}
	if _, err := tab.Begin(1, 3, nil, 10); err != nil {
		t.Fatal(err)
	}
	if err := tab.Part(2, 10); err != nil {
		t.Fatal(err)
	}
	var held []*Message
	for id := uint64(1); id <= 2; id++ {
		room, m, err := tab.Place(id, 2, 8)
		if err != nil || len(room) != 8 || cap(room) != 8 {
			t.Fatal(len(room), cap(room), err)
		}
		held = append(held, m)
		if m, err := tab.Filled(id, 0, 2); m != nil || err != nil {
			t.Fatal(m, err)
		}
	}
	if _, _, err := tab.Place(1, 1, 2); !errors.Is(err, ErrFragment) {
		t.Error("a place for what has arrived:", err)
	}
	if m, err := tab.Filled(1, 2, 8); m != nil || !errors.Is(err, ErrFragment) {
		t.Errorf("delivered while it is written: %v, %v", m, err)
	}
	if m, err := tab.Filled(2, 2, 8); m != nil || err != nil {
		t.Fatal(m, err)
	}
	if m, err := tab.Close(2, 3, nil, 10); m != nil || !errors.Is(err, ErrFragment) {
		t.Errorf("closed while it is written: %v, %v", m, err)
	}
	for _, m := range held {
		m.Unplace()
	}
	if m, err := tab.Filled(1, 2, 8); m != held[0] || err != nil {
		t.Errorf("nobody writes any more: %v, %v", m, err)
	}
	if m, err := tab.Close(2, 3, nil, 10); m != held[1] || err != nil {
		t.Errorf("nobody writes any more: %v, %v", m, err)
	}
}

// TestCostOfAttacks: what a peer has begun, or cut into pieces, costs no more than the limit says, in bytes and in time.
func TestCostOfAttacks(t *testing.T) {
	const limit = 1 << 20
	tab := Table{Pool: NewPool(64, 1<<20, 1<<20), Limit: limit}
	for id := uint64(1); ; id++ {
		if _, err := tab.Begin(id, 1, make([]byte, 1024), id%2); err != nil {
			if !errors.Is(err, ErrLimit) {
				t.Fatal(err)
			}
			break
		}
		if id > limit/least {
			t.Fatalf("%d messages of a byte are open", id)
		}
	}

	tab = Table{Pool: NewPool(64, 1<<20, 1<<20), Limit: limit}
	if _, err := tab.Begin(1, 1, nil, limit); err != nil {
		t.Fatal(err)
	}
	for at := uint64(0); at < 1000; at++ { // empty ones leave no trace, wherever they say that they are
		if m, err := tab.Filled(1, at, 0); m != nil || err != nil || len(tab.open[1].have) != 0 {
			t.Fatal(m, err, tab.open[1].have)
		}
	}
	n := 0
	for at := uint64(limit - 1); ; at -= 2 { // each apart from all others, and in front of them
		if _, err := tab.Filled(1, at, 1); err != nil {
			break
		}
		if n++; n > maxSpans {
			t.Fatalf("%d pieces", n)
		}
	}
}
