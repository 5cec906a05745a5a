package gather

import (
	"errors"
	"fmt"
	"strings"

	"github.com/openbraid/braid/internal/perf/pattern"
	"github.com/openbraid/braid/iov"
)

// Layout says which side has a list. The zero value is none.
//
// Source: ucx_perftest -D and -s.
type Layout struct {
	Sizes       []int // of the buffers, in bytes
	Here, There bool  // the client has a list, and the server
}

// MostPieces is how many buffers a list may have.
const MostPieces = 1024

// ErrLayout: no such layout, or not of these sizes.
var ErrLayout = errors.New("no such layout of buffers")

// Used says whether there is a list at all.
func (l *Layout) Used() bool { return l.Here || l.There }

// Len is the bytes of all buffers.
func (l *Layout) Len() (n int) {
	for _, s := range l.Sizes {
		n += s
	}
	return n
}

// Parse reads a layout as "iov", which is the client's, or "iov,iov" of both sides; contig is one buffer.
//
// Errors: ErrLayout.
func Parse(text string, sizes []int) (Layout, error) {
	here, there, two := strings.Cut(text, ",")
	if !two {
		there = "contig"
	}
	for _, w := range []string{here, there} {
		if w != "contig" && w != "iov" {
			return Layout{}, fmt.Errorf("-D %s: %w: %q; there are contig and iov, of this side, or of this one and the server's, as contig,iov", text, ErrLayout, w)
		}
	}
	l := Layout{Here: here == "iov", There: there == "iov"}
	switch {
	case l.Used():
		l.Sizes = sizes
	case len(sizes) > 1:
		return Layout{}, fmt.Errorf("-s with %d sizes: %w: with -D contig a payload is one buffer, and has one size; with -D iov they are those of a list. For several tests one after the other write a batch file (-b)", len(sizes), ErrLayout)
	}
	return l, l.Check()
}

// Check says what can't be of the sizes.
//
// Errors: ErrLayout.
func (l *Layout) Check() error {
	if len(l.Sizes) > MostPieces {
		return fmt.Errorf("-s with %d sizes: %w: a list has at most %d buffers", len(l.Sizes), ErrLayout, MostPieces)
	}
	for _, s := range l.Sizes {
		if s < 0 {
			return fmt.Errorf("-s %d: %w: a buffer has 0 bytes or more", s, ErrLayout)
		}
	}
	return nil
}

// Buffers are the pieces of one operation.
type Buffers struct {
	list  iov.List
	whole []byte
}

// apart is what stands between two pieces.
const apart = 64

// New makes pieces of these sizes.
func New(sizes []int) *Buffers {
	l := Layout{Sizes: sizes}
	all := make([]byte, l.Len()+len(sizes)*apart)
	b := &Buffers{whole: make([]byte, l.Len())}
	for _, s := range sizes {
		b.list = append(b.list, all[:s:s])
		all = all[s+apart:]
	}
	return b
}

// List is the pieces.
func (b *Buffers) List() iov.List { return b.list }

// Fill fills the pieces as if they were one payload.
func (b *Buffers) Fill(base uint64) {
	pattern.Fill(b.whole, base)
	_ = b.list.Unpack(b.whole) // never fails of a List
}

// Whole is what stands in the pieces, one behind the other. It is good until the next call.
func (b *Buffers) Whole() []byte {
	b.list.Pack(b.whole)
	return b.whole
}

// Clear leaves nothing in the pieces.
func (b *Buffers) Clear() {
	for _, p := range b.list {
		clear(p)
	}
}
