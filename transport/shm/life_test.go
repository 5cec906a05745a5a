//go:build linux

package shm

import (
	"os"
	"strings"
	"testing"
)

// TestLife compares every state with every event to the golden table; BRAID_UPDATE=1 writes it anew.
func TestLife(t *testing.T) {
	const file = "testdata/life.txt"
	got := life.Matrix()
	if os.Getenv("BRAID_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != got {
		t.Errorf("the table is\n%s\n%s says\n%s(%v)", got, file, want, err)
	}
}

func TestLifeNever(t *testing.T) {
	defer func() {
		if r, _ := recover().(string); !strings.Contains(r, "endpoint is up, can't be: stands") {
			t.Errorf("panic %q", r)
		}
	}()
	ep := &endpoint{state: up}
	ep.note(evStands)
}
