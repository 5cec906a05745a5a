package wire_test

import (
	"bytes"
	"encoding/binary"
	stdhex "encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/openbraid/braid/internal/golden"
	"github.com/openbraid/braid/internal/wire"
)

// hexColumn is the width of a golden file's bytes: 16 of them.
const hexColumn = 16*3 - 1

// TestGolden holds each message against testdata/*.golden: the encoder must produce it, the decoder must read it back.
// Goldens of released versions are never changed, only added.
func TestGolden(t *testing.T) {
	for _, m := range samples() {
		t.Run(m.file, func(t *testing.T) {
			b := m.sample.AppendTo([]byte("before"))
			if string(b[:6]) != "before" {
				t.Fatal("AppendTo changed what stood in front")
			}
			b = b[6:]
			path := filepath.Join("testdata", m.file+".golden")
			got := render(t, m, b)
			golden.Same(t, path, got)
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			v, err := m.decode(parse(t, string(want)))
			if err != nil {
				t.Fatalf("decode: %v", err)
			}
			if !equal(v, m.sample) {
				t.Errorf("decoded %+v, want %+v", v, m.sample)
			}
		})
	}
}

// TestGoldensComplete: each known frame has a golden, and each golden is used.
func TestGoldensComplete(t *testing.T) {
	have, files := map[string]bool{}, map[string]bool{}
	for _, m := range samples() {
		have[m.name], files[m.file+".golden"] = true, true
	}
	for id := range 256 {
		if n := wire.Name(uint8(id)); !strings.Contains(n, "(") && !have[n] {
			t.Errorf("%s has no golden", n)
		}
	}
	paths, err := filepath.Glob("testdata/*.golden")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		if !files[filepath.Base(p)] {
			t.Errorf("%s is not used", p)
		}
	}
}

func equal(x, y appender) bool {
	return cmp.Equal(x, y, cmpopts.EquateEmpty())
}

func render(t *testing.T, m message, b []byte) string {
	t.Helper()
	var s strings.Builder
	fmt.Fprintf(&s, "# %s, %d bytes\n", m.name, len(b))
	off := 0
	for _, f := range m.fields {
		if off+f.size > len(b) {
			t.Fatalf("field %q ends at %d of %d bytes", f.name, off+f.size, len(b))
		}
		label := f.name + " = " + f.show(b[off:off+f.size])
		for n := f.size; n > 0; {
			k := min(n, 16)
			fmt.Fprintf(&s, "%04x  %-*s  %s\n", off, hexColumn, fmt.Sprintf("% x", b[off:off+k]), label)
			label, off, n = "...", off+k, n-k
		}
	}
	if off != len(b) {
		t.Fatalf("fields end at %d of %d bytes", off, len(b))
	}
	return s.String()
}

func (f field) show(b []byte) string {
	wide := make([]byte, 8)
	copy(wide, b)
	n := binary.LittleEndian.Uint64(wide)
	switch f.kind {
	case number:
		return fmt.Sprint(n)
	case bits:
		return fmt.Sprintf("%#x", n)
	case text:
		return fmt.Sprintf("%q", b)
	case zero:
		return "0"
	case raw:
		return stdhex.EncodeToString(b)
	}
	return "?"
}

// parse takes the bytes out of a golden file, and checks the offsets.
func parse(t *testing.T, file string) []byte {
	t.Helper()
	var all []byte
	for line := range strings.Lines(file) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var off int
		if _, err := fmt.Sscanf(line, "%x", &off); err != nil || off != len(all) {
			t.Fatalf("offset is not %#x in %q: %v", len(all), line, err)
		}
		b, err := stdhex.DecodeString(strings.ReplaceAll(line[6:6+hexColumn], " ", ""))
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, b...)
	}
	return all
}

func TestRoundTripAtEveryCapacity(t *testing.T) {
	for _, m := range samples() {
		want := m.sample.AppendTo(nil)
		for room := range len(want) + 1 {
			if got := m.sample.AppendTo(make([]byte, 0, room)); !bytes.Equal(got, want) {
				t.Fatalf("%s with room for %d: % x, want % x", m.file, room, got, want)
			}
		}
	}
}
