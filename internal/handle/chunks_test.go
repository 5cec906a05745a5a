package handle

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
)

// pieces is a source whose pieces come when they are asked for, or when the last one is; bad ends with an error.
type pieces struct {
	d      *Desk
	e      *toy
	src    []byte
	late   bool
	bad    int // number of a piece; -1: none
	n      int
	closed []bool
	left   []func()
}

func (p *pieces) source() source {
	return source{size: uint64(len(p.src)), piece: func(dst []byte, at uint64) (*request.Request, error) {
		r := p.e.post()
		if p.n++; p.n-1 == p.bad {
			p.e.Report(r, outcome.ErrPeerFailed)
			return r, nil
		}
		come := func() {
			copy(dst, p.src[at:])
			p.e.Report(r, nil)
		}
		if !p.late {
			come()
			return r, nil
		}
		if p.left = append(p.left, come); len(p.left) == 3 || int(at)+len(dst) == len(p.src) {
			for _, f := range slices.Backward(p.left) {
				f()
			}
			p.left = nil
		}
		return r, nil
	}, close: func(whole bool) { p.closed = append(p.closed, whole) }}
}

// Whatever the sizes, and in whatever order pieces come, the loop has the bytes in order, and closes the source once; so it does if it ends early, or a piece does not come. Nothing is left then.
func TestChunks(t *testing.T) {
	d, e := newDesk(t, true)
	for size := range 30 {
		for room := 1; room < 12; room++ {
			for stop := -1; stop < 4; stop++ {
				for bad := -1; bad < 4; bad++ {
					p := &pieces{d: d, e: e, src: make([]byte, size), late: bad < 0 && stop < 0 && room > 2, bad: bad}
					for i := range p.src {
						p.src[i] = byte(i + 1)
					}
					var got []byte
					var last error
					k := 0
					for b, err := range d.chunks(context.Background(), make([]byte, room), p.source()) {
						if last = err; err != nil {
							continue
						}
						if got = append(got, b...); k == stop {
							break
						}
						k++
					}
					whole := len(got) == size
					if !bytes.Equal(got, p.src[:len(got)]) || len(p.closed) != 1 || p.closed[0] != whole || e.pool.Live() != 0 {
						t.Fatalf("%d bytes through %d: %d came, closed %v, %d requests are left", size, room, len(got), p.closed, e.pool.Live())
					}
					if broke := k == stop; !whole && !broke && last == nil || last != nil && (whole || !errors.Is(last, outcome.ErrPeerFailed)) {
						t.Fatalf("%d bytes through %d, the loop ends at piece %d, number %d fails: %v", size, room, stop, bad, last)
					}
				}
			}
		}
	}
	for _, err := range d.chunks(context.Background(), nil, (&pieces{d: d, e: e, src: make([]byte, 3), bad: -1}).source()) {
		if err == nil {
			t.Error("a piece of nothing")
		}
	}
}
