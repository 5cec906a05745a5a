package shell

import (
	"strings"
	"testing"
)

func TestByteCount(t *testing.T) {
	for text, want := range map[string]ByteCount{"1": 1, "500M": 500e6, "2g": 2e9, "64MiB": 64 << 20, "1.5k": 1500, "10KB": 10e3} {
		var b ByteCount
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%s is %d, %v, want %d", text, b, err, want)
		}
	}
	for text, says := range map[string]string{
		"": "64MiB", "x": "64MiB", "-1": "64MiB", "0": "64MiB", "0.5": "64MiB", "1Q": "64MiB", "1MM": "64MiB", "M": "64MiB", "nan": "64MiB", "-inf": "64MiB",
		"1e30": "too many", "1e400": "too many", "inf": "too many", "2000000T": "too many", "1152921504606846977": "too many",
	} {
		var b ByteCount
		if err := b.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q is %d, %v, not %q", text, b, err, says)
		}
	}
}
