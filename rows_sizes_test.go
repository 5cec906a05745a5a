package braid_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/openbraid/braid"
)

// Sizes and order: what users of other libraries have met.

// TestG3_AnySizeAnyRoom: a tagged message of any size, received into any room, expected or not, small or read from its sender: as much as there is room for
// arrives, the true length is told, and nothing is written behind it.
func TestG3_AnySizeAnyRoom(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{Limits: braid.Limits{Eager: 16 << 10}}, braid.Options{Rails: []string{"127.0.0.1", "127.0.0.2"}})
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.SampledFrom([]int{0, 1, 7, 8, 16<<10 - 1, 16 << 10, 16<<10 + 1, 256 << 10}), rapid.IntRange(0, 40<<10)).Draw(t, "size")
		room := rapid.SampledFrom([]int{0, 1, max(n-1, 0), n, n + 1}).Draw(t, "room")
		expected, sync := rapid.Bool().Draw(t, "expected"), rapid.Bool().Draw(t, "synchronous")
		src, buf := tagBytes(n, byte(n)), bytes.Repeat([]byte{0xa5}, room+64)
		post := p.a.PostTag
		if sync {
			post = p.a.PostTagSync
		}
		var recv braid.TagRecv
		if expected {
			recv = p.bw.PostRecvTag(buf[:room:room], 9, braid.ExactTag)
		}
		send := post(9, src)
		if !expected {
			if info, err := p.bw.WaitTag(ctx, 9, braid.ExactTag); err != nil || info.Len != n {
				t.Fatal(info, err)
			}
			recv = p.bw.PostRecvTag(buf[:room:room], 9, braid.ExactTag)
		}
		info, err := recv.Wait(ctx)
		if (err == nil) != (room >= n) || err != nil && !errors.Is(err, braid.ErrTruncated) || info.Len != n {
			t.Fatalf("%+v, %v", info, err)
		}
		if got := min(n, room); !bytes.Equal(buf[:got], src[:got]) || !bytes.Equal(buf[room:], bytes.Repeat([]byte{0xa5}, 64)) {
			t.Fatal("other bytes arrived, or too many")
		}
		if err := send.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	})
}

// TestG4_NeverBeforeItsData: of a million puts with signals none is seen before its bytes.
func TestG4_NeverBeforeItsData(t *testing.T) {
	puts := uint64(1_000_000)
	if testing.Short() || underRace {
		puts = 20_000
	}
	o := connectPolled(t, braid.Options{Owned: true})
	key, src := o.mem.Key(braid.Write), make([]byte, 8)
	for i, seen := uint64(0), uint64(0); seen < puts; {
		if i < puts && i < seen+64 {
			i++
			binary.NativeEndian.PutUint64(src, i)
			r := o.a.PostPutSignal(src, key, 8, braid.Signal{Key: key, Offset: 0, Value: i})
			done, err := r.Test()
			if err != nil {
				t.Fatal(err)
			}
			for ; !done; done, _ = r.Test() {
				o.aw.Progress()
			}
			r.Release()
		} else {
			o.aw.Progress()
		}
		if i%32 == 0 || i == puts {
			o.bw.Progress()
		}
		signal := o.mem.Load64(0)
		if data := o.mem.Load64(8); data < signal {
			t.Fatalf("signal %d is there, and data %d", signal, data)
		}
		seen = signal
	}
}
