package braid_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/openbraid/braid"
)

// TestSelf: a worker that dials its own listener needs no network, and all else is as with any peer.
func TestSelf(t *testing.T) {
	ctx := testContext(t)
	n, err := braid.Open(braid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	w := newWorker(t, n)
	ln, err := w.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a, err := w.Dial(ctx, ln.Addr())
	if err != nil {
		t.Fatal(err)
	}
	b, err := ln.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if ls := a.Lanes(); len(ls) != 1 || !strings.HasPrefix(ls[0].Remote, "self:") {
		t.Fatalf("lanes %+v", ls)
	}
	mem, err := n.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan []byte, 2)
	w.HandleAM(1, func(m *braid.Message) { got <- append([]byte(nil), m.Payload()...) })
	big := bytes.Repeat([]byte("self"), 200_000)
	if err := a.Put(ctx, big, mem.Key(braid.Write), 0); err != nil {
		t.Fatal(err)
	}
	if err := a.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	back := make([]byte, len(big))
	if err := b.Get(ctx, back, mem.Key(braid.Read), 0); err != nil || !bytes.Equal(back, big) {
		t.Fatal("what was got differs from what was put:", err)
	}
	for _, m := range [][]byte{[]byte("small"), big} {
		if err := a.SendAM(ctx, 1, nil, m); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(<-got, m) {
			t.Fatal("message differs")
		}
	}
	if err := a.Close(ctx); err != nil {
		t.Fatal(err)
	}
}
