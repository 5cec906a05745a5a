package request_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
)

// TestLanded: whatever a peer puts, in whatever order and with whatever end, a receive is over when what was asked for, or what was said to have been put, is here; nothing
// goes beside its memory; and what can't be is an error that changes nothing.
func TestLanded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "asked")
		dst := make([]byte, n)
		var r request.Request
		r.Expect(dst)
		here, end, ended := 0, n, false
		for r.Left > 0 {
			h := wire.TagPut{At: rapid.Uint64Range(0, 45).Draw(t, "at")}
			k := rapid.IntRange(0, 12).Draw(t, "size")
			if rapid.IntRange(0, 9).Draw(t, "end") == 0 {
				h.Code = wire.RefusedKey
			}
			was := r
			back, err := r.Landed(h, uint64(k))
			wrong := k == 0 || here+k > end || int(h.At)+k > end
			if h.Code != 0 {
				wrong = k > 0 || ended || int(h.At) >= n || int(h.At) < here
			}
			if wrong != (err != nil) || err != nil && (r.Left != was.Left || r.Asked != was.Asked || r.Closing != was.Closing) {
				t.Fatalf("%+v of %d bytes, with %d of %d here: %v", h, k, here, end, err)
			}
			switch {
			case err != nil:
				if k > 1 || here < end { // something may go on
					k = rapid.IntRange(1, end-here).Draw(t, "rest")
					if _, err := r.Landed(wire.TagPut{At: uint64(end - k)}, uint64(k)); err != nil {
						t.Fatal(err)
					}
					here += k
				}
			case back:
				end, ended = int(h.At), true
			default:
				if len(r.Into(h.At, k)) != k {
					t.Fatalf("%d bytes at %d of %d are nowhere", k, h.At, n)
				}
				here += k
			}
		}
		if here != end {
			t.Fatalf("over with %d of %d", here, end)
		}
	})
}

// TestInto: no byte beside the memory.
func TestInto(t *testing.T) {
	r := request.Request{}
	r.Expect(make([]byte, 10))
	for _, c := range []struct {
		at   uint64
		size int
		ok   bool
	}{{0, 10, true}, {9, 1, true}, {0, 11, false}, {10, 1, false}, {1 << 63, 1, false}, {1<<64 - 1, 2, false}} {
		if b := r.Into(c.at, c.size); (b != nil) != c.ok || c.ok && (len(b) != c.size || cap(b) != c.size) {
			t.Errorf("%+v: %d, %d", c, len(b), cap(b))
		}
	}
}
