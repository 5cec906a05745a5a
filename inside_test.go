package braid_test

import (
	"bytes"
	"testing"

	"github.com/openbraid/braid"
)

// TestF11_MessageAndGetInsideHandler: a handler reads the sender's memory and answers with what it read. A Shared worker's may block
// for it; an Owned one's posts, and a callback goes on.
func TestF11_MessageAndGetInsideHandler(t *testing.T) {
	t.Run("shared", insideShared)
	t.Run("owned", insideOwned)
}

const insideSize, insideRounds = 100 << 10, 50

func insideShared(t *testing.T) {
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	mem, err := p.an.Alloc(insideSize)
	if err != nil {
		t.Fatal(err)
	}
	key := mem.Key(braid.Read)
	returned := make(chan struct{}, insideRounds)
	p.bw.HandleAM(1, func(m *braid.Message) {
		defer func() { returned <- struct{}{} }()
		buf := make([]byte, insideSize)
		if err := m.Endpoint().Get(ctx, buf, key, 0); err != nil {
			t.Error("get in a handler:", err)
		}
		if err := m.Endpoint().SendAM(ctx, 2, m.Payload(), buf); err != nil {
			t.Error("message in a handler:", err)
		}
	})
	answers := make(chan []byte, 1)
	p.aw.HandleAM(2, func(m *braid.Message) { answers <- bytes.Clone(m.Payload()) })
	for i := range byte(insideRounds) {
		want := bytes.Repeat([]byte{i}, insideSize)
		copy(mem.Bytes(), want)
		if err := p.a.SendAM(ctx, 1, nil, []byte{i}); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-answers:
			if !bytes.Equal(got, want) {
				t.Fatalf("answer %d differs", i)
			}
		case <-ctx.Done():
			t.Fatalf("no answer %d", i)
		}
		<-returned // the answer may be here before its sender knows that it is sent
	}
}

func insideOwned(t *testing.T) {
	o := connectPolled(t, braid.Options{Owned: true})
	key := o.mem.Key(braid.Read)
	buf := make([]byte, insideSize)
	o.aw.HandleAM(1, func(m *braid.Message) { // the one that has no memory asks the one that has
		ep := m.Endpoint()
		ep.PostGet(buf, key, 0).Then(func(err error) {
			if err != nil {
				t.Error("get posted in a handler:", err)
			}
			ep.PostAM(2, nil, buf).Then(func(error) {})
		})
	})
	var got []byte
	o.bw.HandleAM(2, func(m *braid.Message) { got = bytes.Clone(m.Payload()) })
	for i := range byte(insideRounds) {
		want := bytes.Repeat([]byte{i}, insideSize)
		copy(o.mem.Bytes(), want)
		got = nil
		o.b.PostAM(1, nil, []byte{i}).Release()
		if !eventually(func() bool {
			for range 100 {
				o.turn()
			}
			return got != nil
		}) {
			t.Fatalf("no answer %d", i)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("answer %d differs", i)
		}
	}
}
