package golden

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Same fails the test unless file, seen from the test's folder, holds got.
func Same(t testing.TB, file, got string) {
	t.Helper()
	if os.Getenv("BRAID_UPDATE") != "" {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (BRAID_UPDATE=1 writes it)", err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got; BRAID_UPDATE=1 writes it anew):\n%s", file, d)
	}
}
