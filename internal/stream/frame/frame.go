package frame

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Kind is what a frame says.
type Kind uint8

const (
	Open   Kind = 1 + iota // there is a new stream; its opener takes Total bytes
	Accept                 // it may be used; who was asked takes Total bytes
	Refuse                 // it may not, and why
	Data                   // the next bytes
	Window                 // Total bytes of the stream may have been sent, from its beginning on
	Fin                    // no Data follows
	Close                  // no Data follows, and none is wanted
	Reset                  // it is over, and why: what is under way is worth nothing
	last   = Reset
)

func (k Kind) String() string {
	if k < Open || k > last {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return [...]string{"open", "accept", "refuse", "data", "window", "fin", "close", "reset"}[k-Open]
}

const (
	headSize = 9               // of every frame
	MaxText  = 256             // bytes of a reason
	MaxSize  = 9 + MaxText     // of a frame
	maxTotal = 1<<63 - 1       // bytes of a stream
	Theirs   = Stream(1)       // set: opened by who gets the frame
	MaxID    = Stream(1) << 62 // no stream has a number as large
)

// Stream is the number of a stream, as in a frame: that of its opener, counted from 0, shifted by one; and who the opener is.
type Stream uint64

// Turned is the number as the other side says it.
func (s Stream) Turned() Stream { return s ^ Theirs }

func (s Stream) String() string {
	if s&Theirs != 0 {
		return fmt.Sprintf("their stream %d", s>>1)
	}
	return fmt.Sprintf("stream %d", s>>1)
}

// Frame is one of them.
type Frame struct {
	Kind   Kind
	Stream Stream
	Total  uint64 // Open, Accept, Window
	Text   string // Refuse, Reset
}

// ErrFrame is in every error of Parse.
var ErrFrame = errors.New("no frame of a stream")

// shape is what follows the number.
func (k Kind) shape() (total, text bool) {
	switch k {
	case Open, Accept, Window:
		return true, false
	case Refuse, Reset:
		return false, true
	case Data, Fin, Close:
	}
	return false, false
}

// AppendTo appends the frame to b. A text that is too long or not fit to be printed is made so.
func (f Frame) AppendTo(b []byte) []byte {
	b = append(b, byte(f.Kind))
	b = binary.LittleEndian.AppendUint64(b, uint64(f.Stream))
	total, text := f.Kind.shape()
	if total {
		b = binary.LittleEndian.AppendUint64(b, f.Total)
	}
	if text {
		b = append(b, Printable(f.Text)...)
	}
	return b
}

// Parse reads a frame.
func Parse(b []byte) (Frame, error) {
	if len(b) < headSize {
		return Frame{}, fmt.Errorf("%w: %d bytes, at least %d", ErrFrame, len(b), headSize)
	}
	f := Frame{Kind: Kind(b[0]), Stream: Stream(binary.LittleEndian.Uint64(b[1:]))}
	if f.Kind < Open || f.Kind > last {
		return Frame{}, fmt.Errorf("%w: %v", ErrFrame, f.Kind)
	}
	if f.Stream >= MaxID<<1 {
		return Frame{}, fmt.Errorf("%w: %v %d", ErrFrame, f.Kind, uint64(f.Stream))
	}
	rest := b[headSize:]
	switch total, text := f.Kind.shape(); {
	case total:
		if len(rest) != 8 {
			return Frame{}, fmt.Errorf("%w: %v of %d bytes", ErrFrame, f.Kind, len(b))
		}
		if f.Total = binary.LittleEndian.Uint64(rest); f.Total > maxTotal {
			return Frame{}, fmt.Errorf("%w: %v of %d bytes of data", ErrFrame, f.Kind, f.Total)
		}
	case text:
		if f.Text = string(rest); f.Text != Printable(f.Text) {
			return Frame{}, fmt.Errorf("%w: %v with a text that can't be printed", ErrFrame, f.Kind)
		}
	case len(rest) != 0:
		return Frame{}, fmt.Errorf("%w: %v of %d bytes", ErrFrame, f.Kind, len(b))
	}
	return f, nil
}

// Printable is what of s may be sent, and shown to people: printable characters, at most MaxText bytes.
func Printable(s string) string {
	ok := len(s) <= MaxText
	for i := 0; ok && i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		ok = r != utf8.RuneError && unicode.IsPrint(r)
		i += n
	}
	if ok {
		return s
	}
	var out []byte
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			r = '?'
		}
		if len(out)+utf8.RuneLen(r) > MaxText {
			break
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}
