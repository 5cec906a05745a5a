package solo

import (
	"context"
	"testing"
	"time"
)

// TestRun: each test ends, and takes some time; one that there isn't says so.
func TestRun(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := New(ctx, 8)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, test := range []string{"am_lat", "tag_lat", "put_lat"} {
		if us, err := s.Run(test, 500); err != nil || us <= 0 {
			t.Errorf("%s: %v us, %v", test, us, err)
		}
	}
	if _, err := s.Run("stream_lat", 1); err == nil {
		t.Error("there is no such test")
	}
}

// BenchmarkOnce8 is one operation of 8 bytes to itself, whole.
func BenchmarkOnce8(b *testing.B) {
	for _, test := range []string{"am", "tag", "put"} {
		b.Run(test, func(b *testing.B) {
			s, err := New(b.Context(), 8)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			b.ReportAllocs()
			if _, err := s.Run(test+"_lat", b.N); err != nil {
				b.Fatal(err)
			}
		})
	}
}
