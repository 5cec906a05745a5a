package frame

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/golden"
)

func samples() []Frame {
	return []Frame{
		{Kind: Open, Stream: 6, Total: 65536},
		{Kind: Accept, Stream: 7, Total: 65536},
		{Kind: Refuse, Stream: 7, Text: "nobody accepts streams here"},
		{Kind: Data, Stream: 6},
		{Kind: Window, Stream: 7, Total: 1<<32 + 5},
		{Kind: Fin, Stream: 6},
		{Kind: Close, Stream: 6},
		{Kind: Reset, Stream: 1<<63 - 2, Text: "the disk is full: größer"},
		{Kind: Reset, Stream: 1},
	}
}

// TestGolden: the bytes of each kind. BRAID_UPDATE=1 writes them.
func TestGolden(t *testing.T) {
	var b strings.Builder
	kinds := map[Kind]bool{}
	for _, f := range samples() {
		kinds[f.Kind] = true
		fmt.Fprintf(&b, "%-7v %-20d % x\n", f.Kind, uint64(f.Stream), f.AppendTo(nil))
		got, err := Parse(f.AppendTo(nil))
		if err != nil || got != f {
			t.Errorf("%+v is read as %+v, %v", f, got, err)
		}
	}
	if len(kinds) != int(last) {
		t.Errorf("samples of %d kinds, there are %d", len(kinds), last)
	}
	golden.Same(t, "testdata/frames.txt", b.String())
}

// TestBad: what is no frame says so.
func TestBad(t *testing.T) {
	for _, f := range samples() {
		b := f.AppendTo(nil)
		if _, text := f.Kind.shape(); !text {
			bad(t, append(bytes.Clone(b), 0))
			bad(t, b[:len(b)-1])
		}
	}
	bad(t, nil)
	bad(t, make([]byte, headSize))
	bad(t, Frame{Kind: last + 1, Stream: 2}.AppendTo(nil))
	bad(t, Frame{Kind: Fin, Stream: MaxID << 1}.AppendTo(nil))
	bad(t, Frame{Kind: Window, Stream: 2, Total: maxTotal + 1}.AppendTo(nil))
	head := Frame{Kind: Reset}.AppendTo(nil)
	bad(t, append(head[:headSize:headSize], "a\x1b[2J"...))
	bad(t, append(head[:headSize:headSize], 0xff))
	bad(t, append(head[:headSize:headSize], strings.Repeat("a", MaxText+1)...))
}

func bad(t *testing.T, b []byte) {
	t.Helper()
	if f, err := Parse(b); !errors.Is(err, ErrFrame) {
		t.Errorf("% x is taken as %+v, %v", b, f, err)
	}
}

// TestPrintable: a reason of any kind becomes one that can be sent.
func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"fine": "fine", "a\nb": "a?b", "\xff": "?", strings.Repeat("é", 200): strings.Repeat("é", 128), "": "",
	} {
		if got := Printable(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
		if _, err := Parse(Frame{Kind: Reset, Text: in}.AppendTo(nil)); err != nil {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// TestNumbers: both sides mean the same stream.
func TestNumbers(t *testing.T) {
	s := Stream(3 << 1)
	if s.Turned().Turned() != s || s.String() != "stream 3" || s.Turned().String() != "their stream 3" {
		t.Errorf("%v, %v", s, s.Turned())
	}
}

// FuzzParse: what parses is written back byte for byte, and bounded.
func FuzzParse(f *testing.F) {
	for _, s := range samples() {
		f.Add(s.AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		fr, err := Parse(b)
		if err != nil {
			return
		}
		if got := fr.AppendTo(nil); !bytes.Equal(got, b) || len(b) > MaxSize {
			t.Errorf("% x is written back as % x", b, got)
		}
	})
}
