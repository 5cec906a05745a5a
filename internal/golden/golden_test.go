package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// witness is a test that may fail.
type witness struct {
	testing.TB
	said []string
}

func (w *witness) Helper() {}

func (w *witness) Errorf(format string, args ...any) {
	w.said = append(w.said, fmt.Sprintf(format, args...))
}

func (w *witness) Fatalf(format string, args ...any) { w.Errorf(format, args...); runtime.Goexit() }

func (w *witness) Fatal(args ...any) { w.Fatalf("%v", args) }

// same is what Same says.
func same(t *testing.T, file, got string) string {
	w, over := &witness{TB: t}, make(chan struct{})
	go func() { defer close(over); Same(w, file, got) }()
	<-over
	return strings.Join(w.said, "; ")
}

func TestSame(t *testing.T) {
	t.Setenv("BRAID_UPDATE", "")
	file := filepath.Join(t.TempDir(), "testdata", "x.txt")
	if said := same(t, file, "a\nb\n"); !strings.Contains(said, "BRAID_UPDATE=1") || !strings.Contains(said, "x.txt") {
		t.Errorf("no file: %q", said)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("it was written, and nobody asked")
	}
	t.Setenv("BRAID_UPDATE", "1")
	if said := same(t, file, "a\nb\n"); said != "" {
		t.Error(said)
	}
	t.Setenv("BRAID_UPDATE", "")
	if said := same(t, file, "a\nb\n"); said != "" {
		t.Error(said)
	}
	if said := same(t, file, "a\nc\n"); !strings.Contains(said, "x.txt") || !strings.Contains(said, "BRAID_UPDATE=1") {
		t.Errorf("another text: %q", said)
	}
	if b, _ := os.ReadFile(file); string(b) != "a\nb\n" {
		t.Errorf("the file is %q", b)
	}
}
