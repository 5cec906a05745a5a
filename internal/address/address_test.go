package address

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var sample = Address{Process: 0x0102030405060708, Worker: 0x8000000000000011, Ways: []string{"10.0.0.5:7777", "[fd00::5]:7777"}}

// TestGolden: addresses are kept in files and data bases: their bytes stay as they are.
func TestGolden(t *testing.T) {
	const want = "braid1.AQgHBgUEAwIBEQAAAAAAAIACDTEwLjAuMC41Ojc3NzcOW2ZkMDA6OjVdOjc3NzezZNI8"
	if got := sample.Text(); got != want {
		t.Errorf("got %s", got)
	}
	if a, err := Parse(" " + want + "\n"); err != nil || !a.Equal(sample) {
		t.Error(a, err)
	}
}

func TestRoundTrip(t *testing.T) {
	way := rapid.StringMatching(`[!-~]{1,255}`)
	rapid.Check(t, func(t *rapid.T) {
		a := Address{rapid.Uint64Min(1).Draw(t, "process"), rapid.Uint64Min(1).Draw(t, "worker"), rapid.SliceOfN(way, 0, MaxWays).Draw(t, "ways")}
		if got, err := Decode(a.Append(nil)); err != nil || !got.Equal(a) {
			t.Fatalf("%+v became %+v, %v", a, got, err)
		}
		if got, err := Parse(a.Text()); err != nil || !got.Equal(a) {
			t.Fatalf("%+v became %+v, %v", a, got, err)
		}
	})
}

// TestBad: a byte that is changed, one that is missing, a text of something else: an error that says so, and never another address.
func TestBad(t *testing.T) {
	good := sample.Append(nil)
	for i := range good {
		b := bytes.Clone(good)
		b[i] ^= 0x40
		if a, err := Decode(b); !errors.Is(err, ErrAddress) || !a.IsZero() {
			t.Errorf("byte %d changed: %+v, %v", i, a, err)
		}
		if a, err := Decode(good[:i]); !errors.Is(err, ErrAddress) || !a.IsZero() {
			t.Errorf("cut at %d: %+v, %v", i, a, err)
		}
	}
	for _, text := range []string{"", "10.0.0.5:7777", "braid1.", "braid1.?", "braid2.AQ", sample.Text() + "=", sample.Text()[:40]} {
		if a, err := Parse(text); !errors.Is(err, ErrAddress) || !a.IsZero() {
			t.Errorf("%q: %+v, %v", text, a, err)
		}
	}
	for _, c := range []struct {
		why  string
		body []byte
	}{
		{"names nobody", append([]byte{version}, make([]byte, 17)...)},
		{"list of ways", append(bytes.Clone(good[:17]), 1)},
		{"list of ways", append(bytes.Clone(good[:17]), 1, 0)},
		{"list of ways", append(bytes.Clone(good[:17]), 1, 3, 'a', 'b')},
		{"list of ways", append(bytes.Clone(good[:17]), 1, 1, '\n')},
		{"list of ways", append(bytes.Clone(good[:17]), append([]byte{MaxWays + 1}, bytes.Repeat([]byte("\x01a"), MaxWays+1)...)...)},
	} {
		_, err := Decode(sealed(c.body))
		if !errors.Is(err, ErrAddress) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("got %v, want %q", err, c.why)
		}
	}
}

// sealed is a body with the checksum that it should have.
func sealed(body []byte) []byte {
	return binary.LittleEndian.AppendUint32(bytes.Clone(body), crc32.Checksum(body, castagnoli))
}

// TestLater: what a later version adds is skipped.
func TestLater(t *testing.T) {
	b := sample.Append(nil)
	if a, err := Decode(sealed(append(b[:len(b)-sumBytes], "more"...))); err != nil || !a.Equal(sample) {
		t.Error(a, err)
	}
}

// TestLongestWay: each length that a way may have is read as it was written, also where the next byte of a length would be 0.
func TestLongestWay(t *testing.T) {
	for n := 1; n <= maxWay; n++ {
		a := Address{Process: 1, Worker: 1, Ways: []string{strings.Repeat("a", n), "b:1"}}
		if got, err := Decode(a.Append(nil)); err != nil || !got.Equal(a) {
			t.Errorf("a way of %d bytes: %v", n, err)
		}
	}
}

// TestLeftOut: ways that have no room are left out, not cut.
func TestLeftOut(t *testing.T) {
	a := Address{Process: 1, Worker: 1, Ways: append(slices.Repeat([]string{"a:1"}, MaxWays-1), "", strings.Repeat("b", 256), "c:1", "d:1")}
	got, err := Decode(a.Append(nil))
	if err != nil || len(got.Ways) != MaxWays || got.Ways[MaxWays-1] != "c:1" {
		t.Error(len(got.Ways), err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(sample.Append(nil))
	f.Add(Address{Process: 1, Worker: 1, Ways: []string{strings.Repeat("a", maxWay)}}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = Decode(sealed(b)) // whose checksum no luck would meet
		a, err := Decode(b)
		if err != nil {
			return
		}
		if again, err := Decode(a.Append(nil)); err != nil || !again.Equal(a) {
			t.Fatal(again, err)
		}
	})
}
