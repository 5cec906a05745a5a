package braid_test

import (
	"errors"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// TestG4_SignalBehindData: puts with signals over two lanes: each counts once, and when all have counted all of their bytes are there.
func TestG4_SignalBehindData(t *testing.T) {
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{Rails: []string{"127.0.0.1", "127.0.0.2"}})
	const size, rounds = 300_000, 20
	mem, err := p.bn.Alloc(4 * size)
	if err != nil {
		t.Fatal(err)
	}
	words, err := p.bn.Alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	key, word := mem.Key(braid.Write), words.Key(braid.Write)
	sizes := []int{0, 8, 5000, size}
	for i := range uint64(rounds) {
		for k, n := range sizes {
			src := make([]byte, n)
			for j := range src {
				src[j] = byte(i) + byte(k)
			}
			p.a.PostPutSignal(src, key, uint64(k*size), braid.Signal{Key: word, Offset: 8, Value: 3, Add: true}).Release()
		}
		if err := p.a.PutSignal(ctx, nil, key, 0, braid.Signal{Key: word, Offset: 16, Value: i}); err != nil {
			t.Fatal(err)
		}
		for words.Load64(8) < 3*(i+1)*uint64(len(sizes)) {
			if ctx.Err() != nil {
				t.Fatalf("round %d: the counter is %d", i, words.Load64(8))
			}
			time.Sleep(10 * time.Microsecond)
		}
		for k, n := range sizes {
			for j, b := range mem.Bytes()[k*size:][:n] {
				if b != byte(i)+byte(k) {
					t.Fatalf("round %d: byte %d of %d is not there, and its signal is", i, j, n)
				}
			}
		}
		p.bw.Progress() // the race detector does not see that it was read before it is written again
	}
	if err := p.a.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if n, v := words.Load64(8), words.Load64(16); n != 3*rounds*uint64(len(sizes)) || v != rounds-1 {
		t.Fatalf("counter %d, flag %d", n, v)
	}
	for name, s := range map[string]braid.Signal{
		"not a multiple of 8":   {Key: word, Offset: 4},
		"outside of the memory": {Key: word, Offset: 64},
		"a key to read":         {Key: words.Key(braid.Read)},
		"no key":                {},
	} {
		if err := p.a.PutSignal(ctx, nil, key, 0, s); !errors.Is(err, braid.ErrAccess) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Only the peer can tell that the memory is not there any more: then nobody is told that the bytes are.
	if err := mem.Deregister(); err != nil {
		t.Fatal(err)
	}
	if err := p.a.PutSignal(ctx, make([]byte, size), key, 0, braid.Signal{Key: word, Offset: 24, Value: 1}); err != nil && !errors.Is(err, braid.ErrAccess) {
		t.Fatal(err)
	}
	if err := p.a.Flush(ctx); !errors.Is(err, braid.ErrAccess) {
		t.Fatal("a put to memory that is gone:", err)
	}
	if words.Load64(24) != 0 {
		t.Fatal("the signal of a put that was refused is there")
	}
}
