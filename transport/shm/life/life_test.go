//go:build linux

package shm

import (
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/golden"
)

// TestLife: every state with every event.
func TestLife(t *testing.T) { golden.Same(t, "testdata/life.txt", life.Matrix()) }

func TestLifeNever(t *testing.T) {
	defer func() {
		if r, _ := recover().(string); !strings.Contains(r, "endpoint is up, can't be: stands") {
			t.Errorf("panic %q", r)
		}
	}()
	ep := &endpoint{state: up}
	ep.note(evStands)
}
