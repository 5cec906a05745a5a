package window

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLife(t *testing.T) {
	const file = "testdata/life.txt"
	got := life.Matrix()
	if os.Getenv("BRAID_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (BRAID_UPDATE=1 writes it anew):\n%s", file, d)
	}
}
