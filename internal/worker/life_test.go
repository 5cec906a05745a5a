package worker_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/life"
)

// The lives as whole tables: state, event, next state. BRAID_UPDATE=1 writes them anew.
func TestLives(t *testing.T) {
	for file, got := range map[string]string{
		"testdata/endpoint.life": life.Table.Matrix(),
		"testdata/lane.life":     lane.Life.Matrix(),
	} {
		if os.Getenv("BRAID_UPDATE") != "" {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s: %s", file, d)
		}
	}
}
