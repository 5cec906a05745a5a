package shell

import (
	"testing"
)

func TestByteCount(t *testing.T) {
	for text, want := range map[string]ByteCount{"1": 1, "500M": 500e6, "2g": 2e9, "64MiB": 64 << 20, "1.5k": 1500, "10KB": 10e3} {
		var b ByteCount
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%s is %d, %v, want %d", text, b, err, want)
		}
	}
	for _, text := range []string{"", "x", "-1", "0", "1Q", "1MM", "M", "1e30", "nan"} {
		var b ByteCount
		if err := b.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is %d", text, b)
		}
	}
}
