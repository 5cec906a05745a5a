package frames_test

import (
	"bytes"
	"testing"

	"github.com/openbraid/braid/internal/ledger"
	"github.com/openbraid/braid/internal/mpool"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm/frames"
)

func pool() *mpool.Pool { return mpool.New(frames.ChunkLen, 2<<20, 16<<20) }

// TestArena: what was handed out stays as it is while it is held, whatever comes after it.
func TestArena(t *testing.T) {
	p := pool()
	defer p.Close()
	var a frames.Arena
	type held struct {
		mem  []byte
		buf  *transport.Buffer
		what byte
	}
	var all []held
	for i := range 2000 {
		n := 1 + i*37%(2*frames.Large)
		mem, buf := a.Memory(p, n)
		if len(mem) != n {
			t.Fatalf("%d bytes, want %d", len(mem), n)
		}
		for k := range mem {
			mem[k] = byte(i)
		}
		all = append(all, held{mem, buf, byte(i)})
		if i%3 == 0 {
			h := all[0]
			all = all[1:]
			if !bytes.Equal(h.mem, bytes.Repeat([]byte{h.what}, len(h.mem))) {
				t.Fatalf("frame %d was changed while it was held", i)
			}
			h.buf.Release()
		}
	}
	for _, h := range all {
		h.buf.Release()
	}
	a.Drop()
}

// TestPartial: pieces stand one behind the other, also in memory that is taken back in the middle, and after a beginning anew.
func TestPartial(t *testing.T) {
	place := make([]byte, 10)
	p := frames.Partial{Place: place, Placed: true, Left: 10}
	if p.More([]byte("abcd")) {
		t.Error("whole after 4 of 10")
	}
	p.Unplace()
	if !p.More([]byte("efghij")) || string(p.Place) != "abcdefghij" || string(place) != "abcd\x00\x00\x00\x00\x00\x00" || p.Placed {
		t.Errorf("%q, and %q was taken back", p.Place, place)
	}
	if p.Again([]byte("xyz")) || !p.More([]byte("0123456")) || string(p.Place) != "xyz0123456" {
		t.Errorf("anew: %q", p.Place)
	}
	p.Drop()
}

// TestKeeper: frames are kept as they were posted until they are acknowledged.
func TestKeeper(t *testing.T) {
	p := pool()
	defer p.Close()
	var k frames.Keeper
	var led ledger.Ledger
	head, payload := make([]byte, 8), make([]byte, 30_000)
	for i := range 100 {
		for j := range payload {
			payload[j] = byte(i)
		}
		f := transport.Frame{ID: 1, Head: head, Payload: payload[:1+i*300]}
		e := led.Push(&f)
		k.Take(p, &led, e, led.Posted()-1)
		if i%7 == 6 {
			for n := led.Acked(); n < led.Posted(); n++ {
				e := led.At(n)
				if len(e.Payload) != 1+int(n)*300 || !bytes.Equal(e.Payload, bytes.Repeat([]byte{byte(n)}, len(e.Payload))) {
					t.Fatalf("frame %d is kept as %d bytes that it was not", n, len(e.Payload))
				}
			}
			if err := led.Ack(led.Posted()); err != nil {
				t.Fatal(err)
			}
			k.Reuse()
		}
	}
	led.Cancel(nil)
	k.Release()
}
