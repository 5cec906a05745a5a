package wire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/wire"
)

// checkRKey makes the checksum right again.
func checkRKey(b []byte) {
	if len(b) == wire.RKeySize {
		sum := crc32.Checksum(b[:wire.RKeySize-4], crc32.MakeTable(crc32.Castagnoli))
		binary.LittleEndian.PutUint32(b[wire.RKeySize-4:], sum)
	}
}

// checkDecoder is what holds for any bytes: a typed error, or a value that says the same bytes.
func checkDecoder(t *testing.T, m message, b []byte) (ok bool) {
	t.Helper()
	before := bytes.Clone(b)
	v, err := m.decode(b)
	if !bytes.Equal(b, before) {
		t.Fatalf("%s: decoding changed its input", m.name)
	}
	if err != nil {
		checkError(t, m, b, err)
		return false
	}
	want := b
	if m.tlv {
		want = withoutUnknown(b)
	}
	got := v.AppendTo(nil)
	if !bytes.Equal(got, want) {
		t.Fatalf("%s: decoded %+v\n from % x\nemitted % x", m.name, v, want, got)
	}
	again, err := m.decode(got)
	if err != nil || !reflect.DeepEqual(v, again) {
		t.Fatalf("%s: second decoding: %+v, %v; first: %+v", m.name, again, err, v)
	}
	return true
}

func checkError(t *testing.T, m message, b []byte, err error) {
	t.Helper()
	var format *wire.FormatError
	switch {
	case errors.As(err, &format):
		if format.Message != m.name || format.Offset < 0 || format.Offset > len(b) {
			t.Fatalf("%s of %d bytes: error points to byte %d of %s: %v", m.name, len(b), format.Offset, format.Message, err)
		}
	case errors.Is(err, wire.ErrRKey):
		if m.name != "RKey" {
			t.Fatalf("%s: %v", m.name, err)
		}
	case errors.Is(err, wire.ErrMagic), errors.Is(err, wire.ErrVersion):
		if m.name != "Preface" {
			t.Fatalf("%s: %v", m.name, err)
		}
	case errors.Is(err, wire.ErrUnsupported):
		if !m.tlv && m.name != "Preface" {
			t.Fatalf("%s: %v", m.name, err)
		}
	default:
		t.Fatalf("%s: error without a type: %v", m.name, err)
	}
}

// withoutUnknown takes the fields out that this version doesn't know. Independent of the decoder on purpose.
func withoutUnknown(b []byte) []byte {
	out := bytes.Clone(b[:8])
	for b = b[8:]; len(b) > 0; {
		n := 4 + int(b[2]) + int(b[3])<<8
		if b[0] <= 11 && b[1]&0x7f == 0 {
			out = append(out, b[:n]...)
		}
		b = b[n:]
	}
	return out
}

func TestTruncated(t *testing.T) {
	for _, m := range samples() {
		full := m.sample.AppendTo(nil)
		for n := range full {
			b := full[:n:n]
			ok := checkDecoder(t, m, b)
			if ok && !m.tlv { // a Hello without its last optional field is one
				t.Errorf("%s: %d of %d bytes are accepted", m.file, n, len(full))
			}
		}
	}
}

func TestTrailing(t *testing.T) {
	for _, m := range samples() {
		b := m.sample.AppendTo(nil)
		for range 40 {
			b = append(b, 0)
			if m.fixup != nil {
				m.fixup(b)
			}
			if _, err := m.decode(b); !errors.Is(err, m.badErr) {
				t.Errorf("%s with trailing bytes: %v", m.file, err)
			}
		}
	}
}

func TestReserved(t *testing.T) {
	for _, m := range samples() {
		off := 0
		for _, f := range m.fields {
			for i := off; i < off+f.size && f.kind == zero; i++ {
				for _, v := range []byte{1, 0x80, 0xff} {
					b := m.sample.AppendTo(nil)
					b[i] = v
					if m.fixup != nil {
						m.fixup(b)
					}
					_, err := m.decode(b)
					var format *wire.FormatError
					if !errors.Is(err, m.badErr) || errors.As(err, &format) && format.Offset != i {
						t.Errorf("%s with byte %d = %#x: %v", m.file, i, v, err)
					}
				}
			}
			off += f.size
		}
	}
}

// TestEachByte sets each byte of each sample to each value.
func TestEachByte(t *testing.T) {
	for _, m := range samples() {
		full := m.sample.AppendTo(nil)
		for i := range full {
			for v := range 256 {
				b := bytes.Clone(full)
				b[i] = byte(v)
				checkDecoder(t, m, b)
				if m.fixup != nil {
					m.fixup(b)
					checkDecoder(t, m, b)
				}
			}
		}
	}
}

func TestBadFixed(t *testing.T) {
	// patched is the named sample with the bytes at off replaced.
	patched := func(file string, off int, with ...byte) (message, []byte) {
		for _, m := range samples() {
			if m.file == file {
				b := m.sample.AppendTo(nil)
				copy(b[off:], with)
				return m, b
			}
		}
		t.Fatalf("no sample %s", file)
		return message{}, nil
	}
	zeros := make([]byte, 8)
	for _, c := range []struct {
		file, why string
		off       int
		with      []byte
	}{
		{"busy", "opener", 0, []byte{2}},
		{"busy", "number is 0", 8, zeros},
		{"gone", "opener", 0, []byte{0xff}},
		{"gone", "number is 0", 8, zeros},
		{"lost", "opener", 0, []byte{2}},
		{"lost", "number is 0", 8, zeros},
		{"lost", "have", 16, []byte{2}},
		{"epclosed", "incarnation is 0", 0, zeros},
		{"reject", "code is 0", 0, zeros[:2]},
		{"reject", "bytes", 2, []byte{22, 0}},
		{"reject", "bytes", 2, []byte{24, 0}},
		{"reject", "may have 200", 2, []byte{201, 0}},
		{"reject", "may have 200", 2, []byte{0xff, 0xff}},
		{"reject", "shown", 24, []byte{'\n'}},
		{"reject", "shown", 24, []byte{0xff}},
		{"close", "code", 0, []byte{2, 0}},
		{"close", "code", 0, []byte{0, 1}},
		{"refused", "code is 0", 8, zeros[:4]},
		{"am", "must have", 2, []byte{3, 0}},
		{"am", "must have", 2, []byte{5, 0}},
		{"am", "must have", 2, []byte{0xff, 0xff}},
		{"amfirst", "must have", 2, []byte{3, 0}},
		{"amfirst", "must have", 2, []byte{0xff, 0xff}},
		{"atomicop", "no such change", 4, []byte{0}},
		{"atomicop", "no such change", 4, []byte{7}},
		{"atomicop", "neither 4 nor 8", 5, []byte{2}},
		{"atomicop", "neither 0 nor 1", 6, []byte{2}},
		{"atomicop", "value has more", 5, []byte{4}},
		{"atomicop", "nothing is compared", 4, []byte{1}},
		{"rkey", "checksum", 8, []byte{0}},
		{"rkey", "version 2", 0, []byte{2}},
	} {
		m, b := patched(c.file, c.off, c.with...)
		if _, err := m.decode(b); !errors.Is(err, m.badErr) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s with % x at %d: %v, want %q", c.file, c.with, c.off, err, c.why)
		}
	}
}

func TestRKeyUnknownRights(t *testing.T) {
	b := wire.RKey{Rights: 8, Size: 1}.AppendTo(nil)
	if _, err := wire.DecodeRKey(b); !errors.Is(err, wire.ErrRKey) || !strings.Contains(err.Error(), "0x8") {
		t.Error(err)
	}
}
